/**
 * The page of a post as HTML, made of what somebody else wrote.
 *
 *   W1  Everything from outside passes `text`, which leaves no character that HTML would read and
 *       none that turns the direction of its neighbours: those are shown by their number.
 *   W2  A link leads to an https address, shows its host, and tells it nothing of this page.
 *       Pictures and videos are named, not fetched: whoever looks at a post is not told on.
 *   W3  It says that it is an outbox: nobody may think that the platform has the post.
 */
import type { PostSeen } from '@chimera/dialects/chimera'
import type { ShownMedia } from '@chimera/dialects/skills/posting'
import type { Instant } from '@chimera/domain/ids'
import { outAt } from '@chimera/domain/post'

const PLATFORMS: Readonly<Record<string, string>> = {
  twitter: 'Twitter',
  tiktok: 'TikTok',
  instagram: 'Instagram',
  youtube: 'YouTube',
}

export const PAGE_STYLE = `
:root{color-scheme:light dark;--bg:#f4f5f7;--card:#fff;--ink:#16181d;--soft:#5b6270;--line:#dfe2e8;
--tag:#eef1f6;--accent:#3b5bdb;--wait:#9a5b00;--waitbg:#fff3dc;--ok:#1b6e3c;--okbg:#e3f5ea}
@media (prefers-color-scheme:dark){:root{--bg:#101216;--card:#181b21;--ink:#e8eaee;--soft:#9aa3b2;
--line:#2b303a;--tag:#232833;--accent:#8fa8ff;--wait:#ffc56b;--waitbg:#33260f;--ok:#7ddca0;
--okbg:#12301f}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);line-height:1.55;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:40rem;margin:0 auto;padding:2.5rem 1rem 4rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:1rem;overflow:clip;
box-shadow:0 1px 2px rgb(0 0 0/.05),0 8px 24px rgb(0 0 0/.06)}
header{display:flex;align-items:center;gap:.75rem;padding:1.1rem 1.25rem;
border-bottom:1px solid var(--line)}
.mark{flex:none;width:2.4rem;height:2.4rem;border-radius:.7rem;background:var(--accent);
color:var(--card);display:grid;place-items:center;font-weight:700;font-size:1.1rem}
.mark.twitter{background:#1b95e0;color:#fff}
.mark.tiktok{background:#111;color:#25f4ee}
.mark.instagram{background:#c13584;color:#fff}.mark.youtube{background:#d90429;color:#fff}
.who{min-width:0;flex:1}.who h1{font-size:1rem;margin:0}
.who span{color:var(--soft);font-size:.875rem}
.state{flex:none;border-radius:99px;padding:.2rem .7rem;font-size:.8rem;font-weight:600}
.published{color:var(--ok);background:var(--okbg)}
.scheduled{color:var(--wait);background:var(--waitbg)}
article{padding:1.25rem}
h1,h2{font-size:1.25rem;line-height:1.3;margin:0 0 .6rem;overflow-wrap:anywhere;
unicode-bidi:isolate}
.said{font-size:1.0625rem;white-space:pre-wrap;overflow-wrap:anywhere;overflow:clip;
unicode-bidi:isolate;margin:0}
.odd{font:600 .7em/1 ui-monospace,monospace;color:var(--wait);background:var(--waitbg);
border-radius:.25rem;padding:.1em .3em;unicode-bidi:isolate}
ul{list-style:none;margin:1.1rem 0 0;padding:0}
.tags{display:flex;flex-wrap:wrap;gap:.4rem}
.tags li{background:var(--tag);border-radius:99px;padding:.15rem .65rem;font-size:.875rem;
color:var(--accent);overflow-wrap:anywhere}
.media li{border:1px solid var(--line);border-radius:.7rem;padding:.7rem .9rem;margin-top:.5rem;
overflow-wrap:anywhere;unicode-bidi:isolate}
.media b{display:block;font-weight:600}
.kind{display:block;color:var(--soft);font-size:.8rem;text-transform:uppercase;letter-spacing:.04em}
a{color:var(--accent)}
a:focus-visible,summary:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.note{margin:0;padding:.9rem 1.25rem;background:var(--tag);border-top:1px solid var(--line);
color:var(--soft);font-size:.9rem}
details{border-top:1px solid var(--line);padding:.9rem 1.25rem}
summary{cursor:pointer;font-weight:600}
dl{display:grid;grid-template-columns:minmax(6rem,auto) 1fr;gap:.35rem 1rem;margin:.9rem 0 .2rem;
font-size:.875rem}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere;unicode-bidi:isolate}
code{font:.85em/1.5 ui-monospace,SFMono-Regular,Menlo,monospace}
@media (max-width:30rem){main{padding:1rem .75rem 3rem}dl{grid-template-columns:1fr;gap:0}
dd{margin-bottom:.6rem}}
`

export function renderPost(
  { post, shown, receipt }: PostSeen & { readonly receipt?: object },
  now: Instant,
): string {
  const { platform, scheduledAt } = post.publication
  const out = outAt(post)
  const isOut = out <= now
  const name = PLATFORMS[platform] ?? 'a platform'
  const kind = platform in PLATFORMS ? platform : ''
  const body = isOut
    ? [
        shown.title === undefined ? '' : `<h2 dir="auto">${text(shown.title)}</h2>`,
        `<p class="said" dir="auto">${text(shown.text)}</p>`,
        list('tags', 'Hashtags', shown.hashtags.map(text)),
        list('media', 'Media', shown.media.map(renderMedia)),
      ].join('\n')
    : `<p class="said">What it says is shown here from ${time(out)}.</p>`
  return page(
    isOut ? `A post for ${name}` : `A scheduled post for ${name}`,
    `<header>
<div class="mark ${kind}" aria-hidden="true">${text(name.slice(0, 1))}</div>
<div class="who"><h1>For ${text(name)}</h1>
<span>${isOut ? `Published ${time(out)}` : `Scheduled for ${time(out)}`}</span></div>
<span class="state ${isOut ? 'published' : 'scheduled'}">${isOut ? 'Published' : 'Scheduled'}</span>
</header>
<article>
${body}
</article>
<p class="note">This is the outbox of a Chimera hub, not ${text(name)}: nothing was sent there. This
page is the post.</p>
<details><summary>Approved by ${text(post.reviewer)}</summary>
<dl>
${row('Reviewer', text(post.reviewer))}
${row('Approval', `<code>${text(post.approval)}</code>`)}
${row('Accepted', time(post.acceptedAt))}
${scheduledAt === undefined ? '' : row('Scheduled for', time(scheduledAt))}
${row('Content', `<code>${text(post.publication.content)}</code>`)}
${row('SHA-256', `<code>${text(post.publication.bytes)}</code>`)}
${receipt === undefined ? '' : renderReceipt(receipt)}
</dl>
</details>`,
  )
}

export function renderMissing(): string {
  return page(
    'No such post',
    `<article><h1>There is no post here</h1>
<p class="said">Nothing was published under this address.</p></article>`,
  )
}

function renderMedia({ url, type, alt }: ShownMedia): string {
  const what = `<span class="kind">${text(type ?? 'media')}</span>`
  const said = alt === undefined ? '' : `<b dir="auto">${text(alt)}</b>`
  const link = httpsLink(url)
  const where =
    link === undefined
      ? `<code>${text(url)}</code>`
      : `<a href="${link.href}" rel="noopener noreferrer nofollow ugc">${text(link.host)}</a>`
  return `${what}${said}${where}`
}

function renderReceipt(receipt: object): string {
  const { used_at: usedAt, signature }: { used_at?: unknown; signature?: unknown } = receipt
  return [
    typeof usedAt === 'number' ? row('Approval used', time(usedAt)) : '',
    typeof signature === 'string' ? row('Receipt', `<code>${text(signature)}</code>`) : '',
  ].join('\n')
}

const row = (name: string, value: string): string => `<dt>${name}</dt><dd>${value}</dd>`

const list = (kind: string, label: string, items: readonly string[]): string =>
  items.length === 0
    ? ''
    : [
        `<ul class="${kind}" aria-label="${label}">`,
        ...items.map((each) => `<li>${each}</li>`),
        '</ul>',
      ].join('')

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${text(title)}</title>
<link rel="icon" href="data:,">
<style>${PAGE_STYLE}</style>
</head>
<body><main><div class="card">
${body}
</div></main></body>
</html>
`

type Link = { readonly href: string; readonly host: string }

/** Only what a browser would dial over TLS, without a name and password that would mislead. */
function httpsLink(url: string): Link | undefined {
  if (!URL.canParse(url)) return undefined
  const { protocol, username, password, host, href } = new URL(url)
  if (protocol !== 'https:' || username !== '' || password !== '') return undefined
  // A parsed address is ASCII; what is left of markup in it ends no attribute.
  return { href: href.replace(MARKUP, (each) => ESCAPES[each] ?? ''), host }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const MARKUP = /[&<>"']/g
// Control codes but line breaks and tabs; what is invisible or turns directions, but for what joins
// emoji and letters; and halves of characters.
const ODD = /(?![\n\t])\p{Cc}|(?![\u200c\u200d])\p{Cf}|[\u2028\u2029]|\p{Surrogate}/gu

/** W1. */
export function text(value: string): string {
  return value
    .replace(MARKUP, (each) => ESCAPES[each] ?? '')
    .replace(/\r\n?/g, '\n')
    .replace(ODD, (each) => {
      const code = (each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
      return `<span class="odd">U+${code}</span>`
    })
}

const FORMAT = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
})

function time(at: Instant): string {
  const when = new Date(at)
  return `<time datetime="${when.toISOString()}">${FORMAT.format(when)} UTC</time>`
}
