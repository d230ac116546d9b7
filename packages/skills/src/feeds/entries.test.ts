/** What is read of feeds, and what is refused before it costs anything. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { FeedRefused, textOf } from './document.ts'
import { type Entry, entriesOf } from './entries.ts'

const nothing = { tags: [], likes: 0, comments: 0, shares: 0, impressions: 0 }
const JANUARY = Date.parse('2026-01-01T00:00:00Z')

const rss = (item: string) =>
  `<rss version="2.0" xmlns:slash="http://purl.org/rss/1.0/modules/slash/"><channel>${item}</channel></rss>`
const atom = (entry: string) =>
  `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:thr="http://purl.org/syndication/thread/1.0"
     xmlns:media="http://search.yahoo.com/mrss/">${entry}</feed>`

describe('an entry', () => {
  const rows: readonly (readonly [form: string, text: string, entry: Entry])[] = [
    [
      'RSS with comments',
      rss(`<item><title>Night trains</title><guid>g1</guid><link>https://a.example/1</link>
        <pubDate>Thu, 01 Jan 2026 00:00:00 GMT</pubDate><category>Travel</category>
        <slash:comments>12</slash:comments></item>`),
      {
        ...nothing,
        id: 'g1',
        topic: 'Night trains',
        url: 'https://a.example/1',
        at: JANUARY,
        tags: ['Travel'],
        comments: 12,
      },
    ],
    [
      'Atom with replies, ratings and views',
      atom(`<entry><id>e1</id><title type="html">A &lt;b&gt;bold&lt;/b&gt; &amp;amp; new</title>
        <link rel="self" href="https://a.example/self"/><link href="https://a.example/2"/>
        <published>2026-01-01T00:00:00Z</published><thr:total>5</thr:total>
        <media:group><media:community><media:starRating count="7"/>
        <media:statistics views="100"/></media:community></media:group></entry>`),
      {
        ...nothing,
        id: 'e1',
        topic: 'A bold & new',
        url: 'https://a.example/2',
        at: JANUARY,
        comments: 5,
        likes: 7,
        impressions: 100,
      },
    ],
    [
      'a list of Reddit',
      JSON.stringify({
        kind: 'Listing',
        data: {
          children: [
            {
              kind: 't3',
              data: {
                name: 't3_x',
                title: 'What did you repair?',
                permalink: '/r/fix/1',
                created_utc: JANUARY / 1_000,
                subreddit: 'fix',
                score: 900,
                num_comments: 80,
                num_crossposts: 3,
              },
            },
          ],
        },
      }),
      {
        id: 't3_x',
        topic: 'What did you repair?',
        url: 'https://www.reddit.com/r/fix/1',
        at: JANUARY,
        tags: ['fix'],
        likes: 900,
        comments: 80,
        shares: 3,
        impressions: 0,
      },
    ],
    [
      'a JSON Feed',
      JSON.stringify({
        version: 'https://jsonfeed.org/version/1.1',
        title: 'T',
        items: [{ id: 'j', title: 'Plain', url: 'https://a.example/3', tags: ['x'] }],
      }),
      { ...nothing, id: 'j', topic: 'Plain', url: 'https://a.example/3', tags: ['x'] },
    ],
    [
      'hostile text stays text',
      rss(`<item><title>&lt;script&gt;x&lt;/script&gt; Calm &#x202E;&#7;down</title>
        <link>javascript:alert(1)</link><pubDate>soon</pubDate>
        <slash:comments>-5</slash:comments></item>`),
      { ...nothing, id: 'x Calm down', topic: 'x Calm down' },
    ],
  ]
  for (const [form, text, entry] of rows) {
    test(form, () => assert.deepEqual(entriesOf(text), [entry]))
  }

  test('without a title it is none; two hundred are enough', () => {
    assert.deepEqual(entriesOf(rss('<item><link>https://a.example</link></item>')), [])
    const many = Array.from({ length: 300 }, (_, at) => `<item><title>T ${at}</title></item>`)
    assert.equal(entriesOf(rss(many.join(''))).length, 200)
  })
})

describe('a document that is refused', () => {
  const bomb = Array.from(
    { length: 9 },
    (_, at) => `<!ENTITY a${at + 1} "${`&a${at};`.repeat(10)}">`,
  )
  const rows: readonly (readonly [rule: string, text: string, why: RegExp])[] = [
    [
      'D1 an entity bomb',
      `<!DOCTYPE r [<!ENTITY a0 "x">${bomb.join('')}]><rss>&a9;</rss>`,
      /entity/,
    ],
    [
      'D1 an external entity',
      '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss/>',
      /entity/,
    ],
    ['D1 an external type', '<!DOCTYPE rss SYSTEM "http://127.0.0.1/x.dtd"><rss/>', /type/],
    ['D1 in lower case', '<!doctype rss><rss/>', /type/],
    ['D2 too deep', rss('<a>'.repeat(5_000)), /deep/],
    ['D2 too many elements', rss('<item/>'.repeat(60_000)), /elements/],
    ['cut off', '<rss version="2.0"><channel><item><title', /middle/],
    ['cut off in a comment', '<rss><!-- ', /middle/],
    ['not a feed', '<html><body>Welcome</body></html>', /not a feed/],
    ['no markup at all', 'hello', /not a feed/],
    ['JSON that is no feed', '{"a":1}', /not a feed/],
    ['JSON that is too deep', '['.repeat(100_000), /not a feed/],
    ['a list without entries', '{"kind":"Listing","data":{}}', /not a list/],
  ]
  for (const [rule, text, why] of rows) {
    test(rule, () => {
      assert.throws(
        () => entriesOf(text),
        (error) => error instanceof FeedRefused && why.test(error.message),
      )
    })
  }
})

describe('D3 encodings', () => {
  const utf16 = Buffer.from('\uFEFF<rss/>', 'utf16le')
  const rows: readonly (readonly [rule: string, bytes: Uint8Array, type: string, text: string])[] =
    [
      ['UTF-8 unless said', Buffer.from('<a>é</a>'), '', '<a>é</a>'],
      [
        'by the header',
        Buffer.from('<a>é</a>', 'latin1'),
        'text/xml; charset=iso-8859-1',
        '<a>é</a>',
      ],
      ['by the mark', utf16, '', '<rss/>'],
      [
        'by the declaration',
        Buffer.from('<?xml version="1.0" encoding="windows-1252"?><a>é</a>', 'latin1'),
        '',
        '<?xml version="1.0" encoding="windows-1252"?><a>é</a>',
      ],
    ]
  for (const [rule, bytes, type, text] of rows) {
    test(rule, () => assert.equal(textOf(bytes, type), text))
  }

  test('others are refused, and what is no text', () => {
    assert.throws(() => textOf(Buffer.from('+ADw-'), 'text/xml; charset=utf-7'), FeedRefused)
    assert.throws(() => textOf(Buffer.from('<rss/>', 'utf16le')), FeedRefused)
  })
})
