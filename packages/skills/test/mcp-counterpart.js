/**
 * An MCP server that does as its caller says, well and badly: over stdio when it is started, over
 * HTTP when a test serves it. Plain JavaScript, so that it starts without a compiler.
 */
import { pathToFileURL } from 'node:url'
import { ProtocolError, Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

/**
 * @typedef {{ resources?: Record<string, string>, posts?: Map<string, string> }} Script
 * @typedef {Record<string, unknown>} Input
 */

/** @param {string} text */
const said = (text) => ({ content: [{ type: 'text', text }] })
/** @param {Record<string, unknown>} data */
const data = (data) => ({ content: [], structuredContent: data })
/** @param {string} line */
const raw = (line) => process.stdout.write(`${line}\n`)
const NOTICE =
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}'

/** @type {Record<string, (input: Input, script: Script, id: unknown) => unknown>} */
const TOOLS = {
  say: ({ text }) => said(String(text)),
  data: ({ data: given }) => data(/** @type {Input} */ (given)),
  link: ({ uri }) => ({ content: [{ type: 'resource_link', name: 'it', uri }] }),
  refuse: ({ text, data: given }) => ({
    ...said(String(text)),
    ...(given !== undefined && { structuredContent: given }),
    isError: true,
  }),
  process: () =>
    data({ pid: process.pid, cwd: process.cwd(), names: Object.keys(process.env).toSorted() }),
  secret: ({ name }) => ({ ...said(`key ${process.env[String(name)]} is wrong`), isError: true }),
  hang: () => new Promise(() => undefined),
  die: () => process.exit(1),
  large: ({ bytes }) => said('x'.repeat(Number(bytes))),
  many: ({ count }) => ({
    content: Array.from({ length: Number(count) }, () => said('x').content[0]),
  }),
  deep: ({ depth }) => {
    /** @type {Record<string, unknown>} */
    let value = {}
    for (let at = 0; at < Number(depth); at += 1) value = { value }
    return data(value)
  },
  noise: ({ bytes }) => {
    process.stderr.write('e'.repeat(Number(bytes)))
    return said('heard')
  },
  rubbish: () => {
    raw('this is not JSON')
    raw('{"jsonrpc":"1.0"}')
    return said('after rubbish')
  },
  flood: ({ count }) => {
    for (let at = 0; at < Number(count); at += 1) raw(NOTICE)
    return new Promise(() => undefined)
  },
  nonsense: (_, __, id) => {
    raw(JSON.stringify({ jsonrpc: '2.0', id, result: { content: 'not a list' } }))
    return new Promise(() => undefined)
  },
  post: ({ key, text }, { posts = new Map() }) => {
    const id = posts.get(String(key)) ?? `post-${posts.size + 1}`
    posts.set(String(key), id)
    if (text === 'lost') return process.exit(1)
    return data({
      post_id: id,
      url: `https://social.example/${id}`,
      published_at: '2026-01-01T12:00:00Z',
    })
  },
  find_post: ({ key }, { posts = new Map() }) => {
    const id = posts.get(String(key))
    return data(id === undefined ? { found: false } : { found: true, post_id: id })
  },
}

/** @param {Script} script */
export function counterpart(script) {
  const server = new Server(
    { name: 'counterpart', version: '1.0.0' },
    { capabilities: { tools: {}, resources: {}, logging: {} } },
  )
  const resources = script.resources ?? {}
  server.setRequestHandler('resources/list', () => ({
    resources: Object.keys(resources).map((uri) => ({ uri, name: uri })),
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const text = resources[uri]
    if (text === undefined) throw new Error(`there is no ${uri}`)
    return { contents: [{ uri, mimeType: 'application/json', text }] }
  })
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(TOOLS).map((name) => ({
      name,
      inputSchema: { type: /** @type {const} */ ('object') },
    })),
  }))
  server.setRequestHandler('tools/call', async (asked, { mcpReq }) => {
    const { name, arguments: input = {} } = asked.params
    const tool = TOOLS[name]
    if (tool === undefined) throw new ProtocolError(-32_602, `there is no ${name}`)
    return /** @type {any} */ (await tool(input, script, mcpReq.id))
  })
  return server
}

const [, started, given = '{}'] = process.argv
if (started !== undefined && import.meta.url === pathToFileURL(started).href) {
  const script = { posts: new Map(), ...JSON.parse(given) }
  if (script.mute) process.stdin.resume()
  else if (script.exit) process.exit(Number(script.exit))
  else serveStdio(() => counterpart(script))
}
