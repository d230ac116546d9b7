/** A web server on loopback whose pages a test writes, and what was asked of it. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Page = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Never answers. */
  readonly hangs?: true
}

export type FeedTown = {
  readonly url: string
  readonly pages: Map<string, Page>
  readonly asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[]
  readonly close: () => Promise<void>
}

export async function openFeedTown(): Promise<FeedTown> {
  const pages = new Map<string, Page>()
  const asked: FeedTown['asked'] = []
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    asked.push({ path, headers: request.headers })
    const { status = 200, headers = {}, body = '', hangs } = pages.get(path) ?? { status: 404 }
    if (hangs) return
    const isKnown = headers.etag !== undefined && request.headers['if-none-match'] === headers.etag
    response.writeHead(isKnown ? 304 : status, headers)
    response.end(isKnown ? undefined : body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    pages,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export type Item = {
  readonly title: string
  readonly id?: string
  readonly link?: string
  readonly date?: string
  readonly comments?: number
}

export function rss(...items: readonly Item[]): string {
  const written = items.map(
    ({ title, id = title, link, date, comments }) =>
      `<item><title>${title}</title><guid isPermaLink="false">${id}</guid>` +
      (link === undefined ? '' : `<link>${link}</link>`) +
      (date === undefined ? '' : `<pubDate>${date}</pubDate>`) +
      (comments === undefined ? '' : `<slash:comments>${comments}</slash:comments>`) +
      '</item>',
  )
  const space = 'xmlns:slash="http://purl.org/rss/1.0/modules/slash/"'
  const channel = `<channel><title>T</title>${written.join('')}</channel>`
  return `<?xml version="1.0"?><rss version="2.0" ${space}>${channel}</rss>`
}
