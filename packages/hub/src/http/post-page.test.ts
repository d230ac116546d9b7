/** The page of a post holds whatever content there is as text, and nothing but text. */
import assert from 'node:assert/strict'
import type { PostSeen } from '@chimera/dialects/chimera'
import type {
  ApprovalId,
  ContentId,
  Digest,
  OwnerId,
  PostId,
  ReviewerId,
} from '@chimera/domain/ids'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { renderPost, text } from './post-page.ts'

const NOW = Date.UTC(2026, 0, 15, 12)

function postOf(shown: Partial<PostSeen['shown']>, more: Partial<PostSeen['post']> = {}): PostSeen {
  return {
    post: {
      id: 'p1' as PostId,
      owner: 'ann' as OwnerId,
      publication: {
        content: 'c1' as ContentId,
        bytes: 'cafe' as Digest,
        platform: 'twitter',
      },
      approval: 'y1' as ApprovalId,
      reviewer: 'Ada' as ReviewerId,
      acceptedAt: NOW,
      ...more,
    },
    shown: { text: 'Hello.', media: [], hashtags: [], ...shown },
  }
}
const shell = renderPost(postOf({ text: '' }), NOW)
/** Every tag of a page, in order. */
const tagsOf = (html: string) => html.match(/<[^>]*>/g) ?? []

describe('hostile content', () => {
  test('whatever is written adds no markup', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (said) => {
        const html = renderPost(postOf({ text: said }), NOW)
        const added = tagsOf(html).filter((tag) => !/^<span class="odd">$|^<\/span>$/.test(tag))
        const plain = tagsOf(shell).filter((tag) => tag !== '</span>')
        assert.deepEqual(added, plain)
      }),
      { examples: [['<script>alert(1)</script>'], ['"><img src=x onerror=y>'], ["'</p>&#60;b"]] },
    )
  })

  test('marks that turn the direction are shown by their number', () => {
    assert.equal(text('a\u202eb'), 'a<span class="odd">U+202E</span>b')
    for (const each of '\u202a\u202b\u202d\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u200b\ufeff') {
      assert.ok(!text(each).includes(each))
    }
    const kept = 'שלום עולם مرحبا 👩‍💻 é\n\tdone'
    assert.equal(text(kept), kept, 'what people write stays')
    assert.equal(text('\ud800'), '<span class="odd">U+D800</span>')
  })

  // biome-ignore format: a table is read by its columns
  const links: [why: string, url: string, linked: string | false][] = [
    ['https',                  'https://cdn.example.org/a.png?x=1&y=2',      'https://cdn.example.org/a.png?x=1&amp;y=2'],
    ['plain http',             'http://cdn.example.org/a.png',               false],
    ['a script',               'javascript:alert(1)',                        false],
    ['data',                   'data:text/html,<script>alert(1)</script>',   false],
    ['a name before the host', 'https://twitter.com@evil.example/a.png',     false],
    ['quotes',                 `https://x.example/"onclick="a()`,            'https://x.example/%22onclick=%22a()'],
    ['an apostrophe',          `https://x.example/'a`,                       'https://x.example/&#39;a'],
    ['a turning mark',         'https://x.example/\u202egpj.exe',            'https://x.example/%E2%80%AEgpj.exe'],
  ]
  for (const [why, url, linked] of links) {
    test(`a link: ${why}`, () => {
      const html = renderPost(postOf({ media: [{ url, type: 'image', alt: '<b>A boat' }] }), NOW)
      const href = /<a href="([^"]*)" rel="noopener noreferrer nofollow ugc">/.exec(html)?.[1]
      assert.equal(href ?? false, linked)
      assert.ok(html.includes('&lt;b&gt;A boat'))
      assert.ok(!/<(img|video|script|iframe|object)/i.test(html))
    })
  }

  test('the reviewer’s name is text too', () => {
    const html = renderPost(postOf({}, { reviewer: '<i>Eve' as ReviewerId }), NOW)
    assert.ok(html.includes('&lt;i&gt;Eve') && !html.includes('<i>'))
  })
})
