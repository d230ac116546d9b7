/**
 * `/console`: the page of the hub, from a directory that whoever starts the hub hands in. The hub
 * knows nothing of what is in it.
 *
 *   E1  Everything comes from the hub: the policy forbids the browser to ask anybody else, to run
 *       a script or take a style that is not a file of the page, and to show it inside another.
 *   E2  The page itself is never kept by a browser; its parts, whose names change with what is in
 *       them, are kept for ever.
 *   E3  Only files that were there at the start are served, by their names: no path is looked up.
 *   E4  Every address below `/console` that is no file is the page, which reads the address itself.
 */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { PUBLIC } from './access.ts'

/** E1. */
const POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self'`,
  `connect-src 'self'`,
  `manifest-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
  `require-trusted-types-for 'script'`,
  `trusted-types 'none'`,
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
}

type Part = { readonly plain: Buffer; readonly small: Buffer; readonly type: string }

/** A page has some ten files; what holds more is not a page. */
const MOST_FILES = 200

export type ConsolePage = ReadonlyMap<string, Part>

export class PageMissing extends Error {
  readonly code = 'page_missing'
  constructor() {
    super('The directory of the console holds no index.html. Build the page, or leave it out.')
  }
}

/** Read once, before the hub listens (E3). */
export async function loadConsole(directory: string): Promise<ConsolePage> {
  const found = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = found.filter((each) => each.isFile() && TYPES[extname(each.name)] !== undefined)
  const parts = new Map<string, Part>()
  for (const file of files.slice(0, MOST_FILES)) {
    const path = join(file.parentPath, file.name)
    const name = path.slice(join(directory, '/').length).replaceAll('\\', '/')
    const plain = await readFile(path)
    const small = await promisify(gzip)(plain)
    parts.set(name, { plain, small, type: TYPES[extname(name)] ?? '' })
  }
  if (!parts.has('index.html')) throw new PageMissing()
  return parts
}

export type ConsoleRoutes = { readonly page: ConsolePage }
type Anywhere = { readonly Params: { readonly '*'?: string } }

export const consoleRoutes: FastifyPluginAsync<ConsoleRoutes> = async (app, { page }) => {
  const show = (request: FastifyRequest<Anywhere>, reply: FastifyReply) => {
    const name = request.params['*'] ?? ''
    const part = page.get(name)
    // E4. A part that is missing is not the page: a browser would try to run it.
    if (part === undefined && extname(name) !== '') return reply.callNotFound()
    const sent = part ?? page.get('index.html')
    if (sent === undefined) return reply.callNotFound()
    const isKept = part !== undefined && name.startsWith('assets/')
    const accepts = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    reply
      .headers({ ...HEADERS, vary: 'accept-encoding' })
      .header('cache-control', isKept ? 'public, max-age=31536000, immutable' : 'no-store')
      .type(sent.type)
    if (accepts) reply.header('content-encoding', 'gzip')
    return reply.send(accepts ? sent.small : sent.plain)
  }

  app.get('/', PUBLIC, async (_, reply) => reply.redirect('/console/'))
  app.get('/console', PUBLIC, async (_, reply) => reply.redirect('/console/'))
  app.get<Anywhere>('/console/', PUBLIC, async (request, reply) => show(request, reply))
  app.get<Anywhere>('/console/*', PUBLIC, async (request, reply) => show(request, reply))
}
