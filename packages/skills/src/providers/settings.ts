/**
 * What stands behind the skills, as its user says it: one object, all of it optional. What is not
 * said is embedded: it works on this machine alone, and says so.
 *
 *   S1  No secret stands in it, only where one is found: `{ env: 'NAME' }` or `{ file: 'path' }`.
 *   S2  Everything that is wrong is reported at once, by the field it is in. A name that nobody
 *       reads is wrong too, since it is mostly a typing mistake.
 */
import { checker } from '@chimera/dialects/check'
import type { Issue } from '@chimera/domain/decision'
import { network } from '@chimera/host/guarded/allowance'
import { type Static, type TSchema, Type } from 'typebox'
import { Feed } from '../feeds/settings.ts'

const closed = { additionalProperties: false } as const
const Short = Type.String({ minLength: 1, maxLength: 200 })
const Path = Type.String({ minLength: 1, maxLength: 2_048 })
const Address = Type.String({ format: 'http-url', maxLength: 2_048 })
const Variable = Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$', maxLength: 200 })
/** As names of servers are said in other parts of the settings. */
const SERVER = '^[A-Za-z0-9_.-]{1,64}$'
const Server = Type.String({ pattern: SERVER })
const Amount = Type.String({
  pattern: '^[0-9]{1,15}(\\.[0-9]{1,18})?$',
  description: 'As text, so that nothing is rounded: "100" or "0.25"',
})
const Wallet = Type.String({ pattern: '^0x[a-fA-F0-9]{40}$' })

/** Where a secret is found. The file wins where both are said. */
const SecretPlace = Type.Object(
  { env: Type.Optional(Variable), file: Type.Optional(Path) },
  { ...closed, minProperties: 1 },
)
export type SecretPlace = Static<typeof SecretPlace>

const McpSettings = Type.Object(
  {
    command: Type.Optional(Path),
    args: Type.Optional(Type.Array(Type.String({ maxLength: 8_192 }), { maxItems: 100 })),
    env: Type.Optional(Type.Array(Variable, { maxItems: 100 })),
    cwd: Type.Optional(Path),
    url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
    headers: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$' }),
        Type.String({ maxLength: 8_192 }),
      ),
    ),
  },
  closed,
)

const TrendsFrom = Type.Object(
  {
    server: Server,
    resource: Type.Optional(Path),
  },
  closed,
)

const ModelSettings = Type.Object(
  {
    name: Short,
    kind: Type.Enum(['google', 'openai', 'compatible']),
    model: Type.Optional(Short),
    url: Type.Optional(Address),
    key: Type.Optional(SecretPlace),
    structured: Type.Optional(Type.Boolean()),
    price: Type.Optional(
      Type.Object(
        {
          input: Type.Number({ minimum: 0, maximum: 10_000 }),
          output: Type.Number({ minimum: 0, maximum: 10_000 }),
          cachedInput: Type.Optional(Type.Number({ minimum: 0, maximum: 10_000 })),
        },
        { ...closed, description: 'US dollars for a million tokens' },
      ),
    ),
  },
  closed,
)

/** Addresses of nodes; where they hold a key, where they are found. */
const Nodes = Type.Union([Type.Array(Address, { minItems: 1, maxItems: 10 }), SecretPlace])
const Contract = Type.Optional(Wallet)
const WalletSettings = Type.Object(
  {
    rpc: Type.Optional(
      Type.Object(
        {
          mainnet: Type.Optional(Nodes),
          base: Type.Optional(Nodes),
          sepolia: Type.Optional(Nodes),
        },
        closed,
      ),
    ),
    payee: Type.Optional(Wallet),
    confirmations: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    usdc: Type.Optional(
      Type.Object(
        { mainnet: Contract, base: Contract, sepolia: Contract },
        {
          ...closed,
          description: "The contract of USDC where it is not Circle's: for test chains",
        },
      ),
    ),
    key: Type.Optional(SecretPlace),
    start: Type.Optional(
      Type.Object(
        { USDC: Type.Optional(Amount), ETH: Type.Optional(Amount), BASE: Type.Optional(Amount) },
        { ...closed, description: 'What each embedded wallet has before its first debit' },
      ),
    ),
  },
  closed,
)

const HubSettings = Type.Object(
  { url: Address, token: Type.Optional(SecretPlace), key: Type.Optional(Path) },
  closed,
)

const forTrends = <Schema extends TSchema>(schema: Schema) => {
  const each = Type.Optional(schema)
  return Type.Object(
    { twitter: each, news: each, market: each, reddit: each, tiktok: each },
    closed,
  )
}

const forPosts = <Schema extends TSchema>(schema: Schema) => {
  const each = Type.Optional(schema)
  return Type.Object({ twitter: each, tiktok: each, instagram: each, youtube: each }, closed)
}

const ProviderSchema = Type.Object(
  {
    /** Private networks that may be dialled for the addresses below: `localhost`, `10.0.0.0/8`. */
    allowNet: Type.Optional(Type.Array(Short, { maxItems: 100 })),
    /** MCP servers by a name of one's own: a command that is started, or an address. */
    mcp: Type.Optional(Type.Record(Server, McpSettings, closed)),
    /** Which servers a platform's trends come from: the usual one, and the one in its place. */
    trends: Type.Optional(forTrends(Type.Array(TrendsFrom, { minItems: 1, maxItems: 2 }))),
    /** RSS and Atom addresses, each with the platform that it counts as. */
    feeds: Type.Optional(Type.Array(Feed, { maxItems: 100 })),
    /** Requests of a platform's trends an hour. Default: 100. */
    perHour: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
    /** Language models, the best first. */
    models: Type.Optional(Type.Array(ModelSettings, { maxItems: 10 })),
    /** The server whose tools make pictures and videos. */
    media: Type.Optional(
      Type.Object(
        {
          server: Server,
          image: Type.Optional(Short),
          video: Type.Optional(Short),
          seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 600 })),
        },
        closed,
      ),
    ),
    /** House rules: words that are no offence here, and brands that are named only as agreed. */
    content: Type.Optional(
      Type.Object(
        {
          allow: Type.Optional(Type.Array(Short, { maxItems: 1_000 })),
          brands: Type.Optional(Type.Array(Short, { maxItems: 100 })),
        },
        closed,
      ),
    ),
    wallet: Type.Optional(WalletSettings),
    /** The tool that publishes to each platform, and the one that finds a post again. */
    publish: Type.Optional(
      forPosts(Type.Object({ server: Server, tool: Short, find: Type.Optional(Short) }, closed)),
    ),
    /** Where agents are registered. `key` is the file of the agent's own key. */
    hub: Type.Optional(HubSettings),
  },
  { title: 'Providers', ...closed },
)
export type ProviderSettings = Static<typeof ProviderSchema>

/** The settings make no sense: each issue names its field. */
export class ProvidersWrong extends Error {
  override readonly name = 'ProvidersWrong'
  readonly issues: readonly Issue[]

  constructor(issues: readonly Issue[]) {
    super(issues.map(describeIssue).join('\n'))
    this.issues = issues
  }
}

/** `providers.models.0.kind: expected one of …; came a string.` */
export function describeIssue({ path, expected, got }: Issue): string {
  return `providers${path.replaceAll('/', '.')}: expected ${expected}; came ${got}.`
}

const check = checker(ProviderSchema, crossIssues)

/** Throws a `ProvidersWrong` that says all that is wrong. */
export function readProviderSettings(value: unknown): ProviderSettings {
  const checked = check(value)
  if (checked.ok) return checked.message
  throw new ProvidersWrong(checked.particulars.issues ?? [])
}

/** What a schema cannot say. */
function crossIssues(settings: ProviderSettings): readonly Issue[] {
  const {
    mcp = {},
    trends = {},
    models = [],
    media,
    wallet,
    publish = {},
    allowNet = [],
  } = settings
  const known = Object.keys(mcp)
  const serverIssue = (path: string, server: string): readonly Issue[] =>
    known.includes(server)
      ? []
      : [
          {
            path,
            expected: `a server of providers.mcp (${known.join(', ') || 'none'})`,
            got: server,
          },
        ]
  return [
    ...allowNet.flatMap((entry, at): readonly Issue[] =>
      network().read(entry) === undefined
        ? [{ path: `/allowNet/${at}`, expected: network().expected, got: 'something else' }]
        : [],
    ),
    ...Object.entries(mcp).flatMap(([name, server]) => mcpIssues(`/mcp/${name}`, server)),
    ...Object.entries(trends).flatMap(([platform, list]) =>
      list.flatMap(({ server }, at) => serverIssue(`/trends/${platform}/${at}/server`, server)),
    ),
    ...models.flatMap((model, at) => modelIssues(`/models/${at}`, model, models.slice(0, at))),
    ...(media ? serverIssue('/media/server', media.server) : []),
    ...Object.entries(publish).flatMap(([platform, { server }]) =>
      serverIssue(`/publish/${platform}/server`, server),
    ),
    ...(wallet ? walletIssues('/wallet', wallet) : []),
  ]
}

function mcpIssues(path: string, server: Static<typeof McpSettings>): readonly Issue[] {
  const { command, url, args, env, cwd, headers } = server
  const both = command !== undefined && url !== undefined
  if (both || (command === undefined && url === undefined)) {
    return [{ path, expected: 'a command or a url', got: both ? 'both' : 'neither' }]
  }
  const odd = command === undefined ? { args, env, cwd } : { headers }
  const kind = command === undefined ? 'command' : 'url'
  return Object.entries(odd).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [{ path: `${path}/${name}`, expected: `only with a ${kind}`, got: 'without one' }],
  )
}

type OneModel = Static<typeof ModelSettings>

function modelIssues(path: string, model: OneModel, before: readonly OneModel[]): readonly Issue[] {
  const { name, kind, url, key } = model
  return [
    ...(before.some((each) => each.name === name)
      ? [
          {
            path: `${path}/name`,
            expected: 'a name that no other model has',
            got: 'one used before',
          },
        ]
      : []),
    ...(kind === 'compatible' && url === undefined
      ? [
          {
            path: `${path}/url`,
            expected: 'the base address of a compatible model',
            got: 'nothing',
          },
        ]
      : []),
    ...(key === undefined && url === undefined
      ? [{ path: `${path}/key`, expected: '{ env } or { file }, where its key is', got: 'nothing' }]
      : []),
  ]
}

function walletIssues(path: string, wallet: Static<typeof WalletSettings>): readonly Issue[] {
  const { rpc = {}, payee, key, start } = wallet
  const hasChain = Object.keys(rpc).length > 0
  const missing = (name: string, why: string) => ({
    path: `${path}/${name}`,
    expected: `to be there, ${why}`,
    got: 'nothing',
  })
  return [
    ...(!hasChain && (payee !== undefined || key !== undefined)
      ? [missing('rpc', 'as a payee and a key are for a chain')]
      : []),
    ...(hasChain && key !== undefined && payee === undefined
      ? [missing('payee', 'as debits go to it')]
      : []),
    ...(hasChain && payee !== undefined && key === undefined
      ? [missing('key', 'as debits are signed with it')]
      : []),
    ...(hasChain && start !== undefined
      ? [{ path: `${path}/start`, expected: 'only without rpc', got: 'both' }]
      : []),
  ]
}
