/**
 * `/docs`: a page to read and try the API, made in the browser from `/openapi.json`.
 *
 *   P1  Everything comes from the hub: the page works without a network, and its policy forbids the
 *       browser to ask anybody else, whatever the script would like.
 *   P2  Nothing is sent anywhere but to the hub, and what is typed in is not kept.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyPluginAsync } from 'fastify'
import { PUBLIC } from './access.ts'

const SCRIPT = '/docs/reference.js'
const START = '/docs/start.js'

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <title>Chimera hub</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <noscript>
      This page needs scripts. The same is in <a href="/openapi.json">openapi.json</a>.
    </noscript>
    <div id="app"></div>
    <script src="${SCRIPT}"></script>
    <script src="${START}"></script>
  </body>
</html>
`

// Fonts, figures about its use and a proxy would all be asked of its makers.
const BEGIN = `Scalar.createApiReference('#app', ${JSON.stringify({
  url: '/openapi.json',
  theme: 'default',
  layout: 'modern',
  withDefaultFonts: false,
  telemetry: false,
  persistAuth: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'none',
  defaultOpenAllTags: false,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
})})
`

/** P1. Styles are put into the page by the script, as it draws it. */
const POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self' 'unsafe-inline'`,
  `img-src 'self' data:`,
  `font-src 'self' data:`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
} as const

const JAVASCRIPT = 'text/javascript; charset=utf-8'

/** The script and how its bytes are named; read when it is first asked for. */
type Script = { readonly plain: Buffer; readonly small: Buffer; readonly tag: string }

export const docsRoutes: FastifyPluginAsync = async (app) => {
  let script: Promise<Script> | undefined

  app.get('/docs', PUBLIC, async (_, reply) =>
    reply.headers(HEADERS).type('text/html; charset=utf-8').send(PAGE),
  )
  app.get(START, PUBLIC, async (_, reply) => reply.headers(HEADERS).type(JAVASCRIPT).send(BEGIN))

  app.get(SCRIPT, PUBLIC, async (request, reply) => {
    script ??= loadScript()
    const { plain, small, tag } = await script
    reply.headers({ ...HEADERS, etag: tag, vary: 'accept-encoding' }).type(JAVASCRIPT)
    if (request.headers['if-none-match'] === tag) return reply.code(304).send()
    const accepts = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    if (!accepts) return reply.send(plain)
    return reply.header('content-encoding', 'gzip').send(small)
  })
}

async function loadScript(): Promise<Script> {
  // The package names no file but its plugin, beside which the script lies.
  const require = createRequire(import.meta.url)
  const plugin = require.resolve('@scalar/fastify-api-reference')
  const plain = await readFile(join(dirname(plugin), 'js', 'standalone.js'))
  const tag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
  return { plain, small: await promisify(gzip)(plain), tag }
}
