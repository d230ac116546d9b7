/**
 * One whole HTTP request in one piece of bytes, in its plainest form, or undefined: then it is for
 * the server of Node, which reads every form there is.
 *
 *   R1  What is read here means the same to every reader: one line for each field, each name once,
 *       a length and no other way to say how long the body is, and not a byte too few or too many.
 *   R2  What says something about the connection or the transfer itself is not read here.
 */
export type Whole = {
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** As much as Node allows a head to be. */
const MOST_HEAD = 16_384
const END = '\r\n\r\n'
const FIRST = /^POST (\/[\w./@-]{1,300}) HTTP\/1\.1$/
// A name of RFC 9110 and visible ASCII; values of other characters are read in several ways.
const FIELD = /^([\w!#$%&'*+.^`|~-]+):[\t ]*([\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?[\t ]*$/
const LENGTH = /^\d{1,7}$/
const JSON_BODY = /^application\/json(?:; ?charset=utf-8)?$/i
/** R2. */
const NOT_HERE = [
  'transfer-encoding',
  'content-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'proxy-connection',
  'http2-settings',
]

type Head = Pick<Whole, 'path' | 'headers'> & { readonly length: number }

/** Remembers the last head: who asks again says the same about itself. */
export function createWholeReader(): (bytes: Buffer) => Whole | undefined {
  let text = ''
  let known: Head | undefined
  return (bytes) => {
    const end = bytes.indexOf(END, 0, 'latin1')
    if (end < 0 || end > MOST_HEAD) return undefined
    const here = bytes.toString('latin1', 0, end)
    if (here !== text) {
      text = here
      known = readHead(here)
    }
    const from = end + END.length
    if (known === undefined || bytes.length !== from + known.length) return undefined
    const { path, headers } = known
    return { path, headers, body: bytes.subarray(from) }
  }
}

function readHead(text: string): Head | undefined {
  const lines = text.split('\r\n')
  const [, path] = FIRST.exec(lines[0] ?? '') ?? []
  if (path === undefined) return undefined
  const headers: Record<string, string> = {}
  for (let at = 1; at < lines.length; at += 1) {
    const [, given, value = ''] = FIELD.exec(lines[at] ?? '') ?? []
    const name = given?.toLowerCase()
    // R1. Names that every object has are taken for a second line too.
    if (name === undefined || name in headers) return undefined
    headers[name] = value
  }
  const { host, connection = 'keep-alive', 'content-type': type = '' } = headers
  const { 'content-length': length = '' } = headers
  const isPlain =
    host !== undefined &&
    connection.toLowerCase() === 'keep-alive' &&
    JSON_BODY.test(type) &&
    LENGTH.test(length) &&
    !NOT_HERE.some((name) => name in headers)
  return isPlain ? { path, headers, length: Number(length) } : undefined
}
