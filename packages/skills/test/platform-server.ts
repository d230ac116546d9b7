/**
 * A platform over HTTP, for tests: it takes posts as it is told, counts them, and can be asked for
 * one by its key. Real on the wire; what it does is a script.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PlatformFailure, type PlatformPublisher, type Posted } from '../src/publish/platform.ts'

/**
 * `ok`: takes it. `refuse`, `down`: says no, and has nothing. `silent`, `dropped`: takes it, and
 * never answers or breaks off. `lost`: never answers and has nothing. `late`: takes it only when
 * `arrive` is called, and never answers.
 */
export type Turn = 'ok' | 'refuse' | 'down' | 'silent' | 'dropped' | 'lost' | 'late'

export type PostAtPlatform = { readonly id: string; readonly key: string; readonly text: string }

export async function startPlatform() {
  const posts: PostAtPlatform[] = []
  const script: Turn[] = []
  const late: (() => void)[] = []
  const state = { finds: 'ok' as 'ok' | 'down', once: false }
  const silent = new Set<ServerResponse>()
  let last = 0

  function take({ key, text }: { readonly key: string; readonly text: string }): PostAtPlatform {
    const known = state.once ? posts.find((each) => each.key === key) : undefined
    if (known !== undefined) return known
    last += 1
    const post = { id: `post-${last}`, key, text }
    posts.push(post)
    return post
  }
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    const say = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    const sayNothing = (): void => {
      silent.add(response)
      response.on('close', () => silent.delete(response))
    }
    request.on('data', (piece) => pieces.push(piece))
    request.on('end', () => {
      const key = new URL(request.url ?? '/', 'http://x').searchParams.get('key')
      if (request.method === 'GET') {
        if (state.finds === 'down') return say(503, {})
        const found = posts.find((each) => each.key === key)
        return found === undefined ? say(404, {}) : say(200, found)
      }
      const post = JSON.parse(Buffer.concat(pieces).toString())
      switch (script.shift() ?? 'ok') {
        case 'ok':
          return say(201, take(post))
        case 'refuse':
          return say(400, {})
        case 'down':
          return say(503, {})
        case 'silent':
          take(post)
          return sayNothing()
        case 'dropped':
          take(post)
          return response.destroy()
        case 'lost':
          return sayNothing()
        case 'late':
          late.push(() => take(post))
          return sayNothing()
      }
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    address: `http://127.0.0.1:${port}`,
    posts,
    state,
    /** Requests that it has and will not answer. */
    held: () => silent.size,
    play: (...turns: readonly Turn[]) => void script.splice(0, script.length, ...turns),
    arrive: () => {
      for (const each of late.splice(0)) each()
    },
    /** What was under way never arrives. */
    drop: () => void late.splice(0),
    reset() {
      posts.splice(0)
      script.splice(0)
      late.splice(0)
      last = 0
      Object.assign(state, { finds: 'ok', once: false })
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

export type Platform = Awaited<ReturnType<typeof startPlatform>>

/** Its publisher, such as a user of it would write. */
export function publisherOf(
  address: string,
  { finds = true, once = false }: { readonly finds?: boolean; readonly once?: boolean } = {},
): PlatformPublisher {
  const postedIn = async (answer: Response): Promise<Posted> => {
    const { id } = (await answer.json()) as { readonly id: string }
    return { postId: id, url: `https://platform.example/${id}` }
  }
  return {
    name: 'the platform',
    ...(once && { once }),
    async publish({ key, text }, signal) {
      const body = JSON.stringify({ key, text })
      const answer = await fetch(`${address}/posts`, { method: 'POST', body, signal })
      if (answer.status === 201) return postedIn(answer)
      const reason = answer.status === 400 ? 'PUBLISH_FAILED' : 'PLATFORM_ERROR'
      throw new PlatformFailure(reason, 'nothing', `HTTP ${answer.status}`)
    },
    ...(finds && {
      async find(key, signal) {
        const answer = await fetch(`${address}/posts?key=${key}`, { signal })
        if (answer.status === 404) return undefined
        if (answer.status !== 200) throw new Error(`HTTP ${answer.status}`)
        return postedIn(answer)
      },
    }),
  }
}
