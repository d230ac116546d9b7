/**
 * `/posts/{id}`: the page of a post, for anybody. What is on it is written in post-page.ts.
 *
 *   H1  The page asks nobody for anything, runs nothing, and can be put into no frame: its policy
 *       says so, whatever the content is.
 *   H2  Before its time a post shows that it is scheduled, and nothing of what it will say.
 */
import { createHash } from 'node:crypto'
import type { FastifyPluginAsync } from 'fastify'
import type { Hub } from '../act/hub.ts'
import { openPost } from '../act/posts.ts'
import { PUBLIC } from './access.ts'
import { PAGE_STYLE, renderMissing, renderPost } from './post-page.ts'

type ById = { readonly Params: { readonly id: string } }

const HEADERS = {
  'content-security-policy': [
    `default-src 'none'`,
    // Its icon, which is none.
    `img-src data:`,
    `style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
} as const
const HTML = 'text/html; charset=utf-8'

export const postPages: FastifyPluginAsync<{ readonly hub: Hub }> = async (app, { hub }) => {
  app.get<ById>('/posts/:id', PUBLIC, async (request, reply) => {
    const found = await openPost(hub, request.params.id)
    reply.headers(HEADERS).type(HTML)
    if (found === undefined) return reply.code(404).send(renderMissing())
    return reply.send(renderPost(found, hub.now()))
  })
}
