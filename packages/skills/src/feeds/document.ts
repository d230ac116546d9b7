/**
 * The text of a feed, looked at before a parser sees it: what could make one work hard or reach out
 * is refused by a single pass over the characters.
 *
 *   D1  No document type and no entities: nothing is expanded, nothing is fetched.
 *   D2  No deeper and no more elements than a feed has.
 *   D3  Bytes are read as the text that they say they are, of the encodings that feeds use.
 */
export class FeedRefused extends Error {
  override readonly name = 'FeedRefused'
}

const MOST_DEEP = 40
// Two hundred entries of a talkative feed have about 10 000.
const MOST_ELEMENTS = 50_000
const ENCODINGS = new Set([
  'utf-8',
  'utf-16le',
  'utf-16be',
  'iso-8859-1',
  'windows-1252',
  'us-ascii',
])
const DECLARED = /^\s*<\?xml[^>]{0,200}\bencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']/
const CHARSET = /charset\s*=\s*"?([A-Za-z0-9._-]{1,40})/i

/** D3. */
export function textOf(bytes: Uint8Array, contentType = ''): string {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 300))
  const label = (
    markOf(bytes) ??
    CHARSET.exec(contentType)?.[1] ??
    DECLARED.exec(head)?.[1] ??
    'utf-8'
  )
    .toLowerCase()
    .replace(/^utf8$/, 'utf-8')
  if (!ENCODINGS.has(label)) throw new FeedRefused('an encoding that is not read')
  const text = new TextDecoder(label).decode(bytes)
  if (text.includes('\0')) throw new FeedRefused('not text')
  return text
}

function markOf(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined
}

/** D1, D2. Throws a `FeedRefused`. */
export function inspectXml(text: string): void {
  let depth = 0
  let elements = 0
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    if (text.startsWith('<![CDATA[', at)) at = after(text, ']]>', at)
    else if (text.startsWith('<!--', at)) at = after(text, '-->', at)
    else if (text.startsWith('<?', at)) at = after(text, '?>', at)
    else if (text.startsWith('<!', at)) throw new FeedRefused('a document type or an entity')
    else {
      const end = after(text, '>', at)
      if (text.startsWith('</', at)) depth -= 1
      else {
        elements += 1
        if (!text.startsWith('/>', end - 2)) depth += 1
      }
      if (depth > MOST_DEEP) throw new FeedRefused('nested too deep')
      if (elements > MOST_ELEMENTS) throw new FeedRefused('too many elements')
      at = end
    }
  }
}

function after(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from)
  if (at < 0) throw new FeedRefused('it ends in the middle')
  return at + mark.length
}
