/**
 * Tries each provider of the settings and says what works, what it costs and what stands in where
 * it does not. Nothing is published, paid or registered by it; a model is asked one short question.
 */
import type { ProviderFound } from '@chimera/dialects/chimera'
import { checkAgentProfile } from '@chimera/dialects/skills/checks'
import { TREND_PLATFORMS } from '@chimera/dialects/skills/words'
import { redactText } from '@chimera/host/redact'
import { Type } from 'typebox'
import { RegistryFailure } from '../hub/registry.ts'
import type { McpOffer } from '../mcp/connection.ts'
import type { Model } from '../models/model.ts'
import { PRICES, PRICES_OF, showNanos } from '../models/prices.ts'
import { openResources, type Resources, type SkillHands } from './resources.ts'
import { type ProviderSettings, readProviderSettings } from './settings.ts'

/** What a hub shows of it too. */
export type Finding = ProviderFound

type Found = Omit<Finding, 'what' | 'state'>

const PATIENCE_MS = 15_000

export async function checkProviders(
  settings: ProviderSettings = {},
  hands: SkillHands = {},
): Promise<readonly Finding[]> {
  const read = readProviderSettings(settings)
  const resources = openResources(read, hands)
  try {
    const findings = await Promise.all([
      ...serversIn(read, resources),
      ...trendsIn(read, resources),
      ...modelsIn(read, resources),
      walletIn(read, resources),
      hubIn(read, resources),
    ])
    return [...findings.flat(), ...embeddedIn(read)]
  } finally {
    await resources.close()
  }
}

/** One that rejects has failed, with whatever it says of itself. */
async function tried(
  what: string,
  run: (signal: AbortSignal) => Promise<Found>,
  otherwise: Partial<Found> = {},
): Promise<Finding> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), PATIENCE_MS)
  try {
    return { what, state: 'works', ...(await run(late.signal)) }
  } catch (cause) {
    const said = late.signal.aborted ? `no answer within ${PATIENCE_MS / 1_000} s` : wordsOf(cause)
    const next = nextOf(said)
    return { what, state: 'fails', found: said, ...otherwise, ...(next !== undefined && { next }) }
  } finally {
    clearTimeout(timer)
  }
}

function wordsOf(cause: unknown): string {
  const { message, detail }: { readonly message?: unknown; readonly detail?: unknown } =
    Object(cause)
  const words = [message, detail].filter((text): text is string => typeof text === 'string')
  const [first = 'it failed', second] = words
  const all = second === undefined || first.includes(second) ? first : `${first} ${second}`
  return redactText(all.replaceAll(/\s+/g, ' ').trim(), { showInside: true })
}

function nextOf(said: string): string | undefined {
  if (/refused_address|not allowed|private/i.test(said)) {
    return 'Private networks are dialled only where providers.allowNet names them: ["localhost"].'
  }
  if (/npm install/.test(said)) return 'Install what it names, and check again.'
  return undefined
}

function serversIn(settings: ProviderSettings, resources: Resources): readonly Promise<Finding>[] {
  const { mcp = {}, media, publish = {} } = settings
  const wanted = (name: string): readonly string[] => [
    ...(media?.server === name ? [media.image ?? 'ideogram', media.video ?? 'runwayml'] : []),
    ...Object.values(publish).flatMap((each) =>
      each.server === name ? [each.tool, ...(each.find === undefined ? [] : [each.find])] : [],
    ),
  ]
  return Object.keys(mcp).map((name) =>
    tried(`MCP ${name}`, async (signal) => {
      const connection = await resources.server(name)
      const offer = await connection.look({ signal })
      const missing = wanted(name).filter((tool) => !offer.tools.includes(tool))
      if (missing.length > 0) {
        throw new Error(`it has no tool ${missing.join(', ')}; it has ${offer.tools.join(', ')}`)
      }
      return { found: offerWords(offer) }
    }),
  )
}

const offerWords = ({ server, tools, resources }: McpOffer): string =>
  `${server || 'it'} answers: ${tools.length} tools, ${resources.length} resources`

function trendsIn(settings: ProviderSettings, resources: Resources): readonly Promise<Finding>[] {
  const { feeds = [], trends = {} } = settings
  const fed = TREND_PLATFORMS.filter((platform) => feeds.some((feed) => feed.platform === platform))
  return [
    ...fed.map((platform) =>
      tried(`feeds ${platform}`, async (signal) => {
        const source = await resources.feeds()
        const wanted = { platform, windowMs: 7 * 86_400_000, limit: 600 }
        const came = await source.fetch(wanted, signal)
        return { found: `${came.length} entries of the last week` }
      }),
    ),
    ...TREND_PLATFORMS.flatMap((platform) =>
      (trends[platform] ?? []).map(({ server, resource }, at, all) =>
        tried(
          `trends ${platform} from ${server}`,
          async (signal) => {
            const { trendSource } = await import('../mcp/trend-source.ts')
            const addresses = resource === undefined ? {} : { addresses: { [platform]: resource } }
            const source = trendSource(await resources.server(server), addresses)
            const came = await source.fetch({ platform, windowMs: 86_400_000, limit: 50 }, signal)
            return { found: `${came.length} trends` }
          },
          at + 1 < all.length ? { fallback: `MCP ${all[at + 1]?.server}` } : {},
        ),
      ),
    ),
  ]
}

const Yes = Type.Object({ ok: Type.Boolean() })

function modelsIn(settings: ProviderSettings, resources: Resources): readonly Promise<Finding>[] {
  const { models = [] } = settings
  return models.map(({ name, price = PRICES[name] }, at) => {
    const next = models[at + 1]
    const fallback =
      next === undefined
        ? 'the composer, the rules and the embeddings on this machine'
        : `model ${next.name}`
    return tried(
      `model ${name}`,
      async (signal) => {
        const model = await modelNamed(name, resources)
        const { use } = await model.ask(
          {
            purpose: 'providers check',
            system: 'You answer whether you are there.',
            prompt: 'Are you there? Answer {"ok": true}.',
            schema: Yes,
            temperature: 0,
            maxOutputTokens: 50,
            timeoutMs: PATIENCE_MS,
          },
          signal,
        )
        const cost =
          price === undefined
            ? 'no price is known: say it in its settings'
            : `$${price.input} in, $${price.output} out for a million tokens${
                PRICES[name] === price ? ` (${PRICES_OF})` : ''
              }; this question ${showNanos(use.costNanos)}`
        return { found: 'it answers', cost, fallback }
      },
      { fallback },
    )
  })
}

async function modelNamed(name: string, resources: Resources): Promise<Model> {
  const found = (await resources.models()).find((model) => model.name === name)
  if (found === undefined) throw new Error('it was not opened')
  return found
}

/** Of whom a balance is read where the settings name nobody. */
const NOBODY = `0x${'0'.repeat(40)}`

async function walletIn(
  settings: ProviderSettings,
  resources: Resources,
): Promise<readonly Finding[]> {
  const { rpc = {}, payee = NOBODY, key } = settings.wallet ?? {}
  const networks = (['mainnet', 'base', 'sepolia'] as const).filter((each) => rpc[each])
  return Promise.all(
    networks.map((network) =>
      tried(`wallet ${network}`, async (signal) => {
        const wallet = await resources.wallet()
        const asked = { wallet: payee.toLowerCase(), currency: 'ETH' as const, network }
        await wallet.balance(asked, { signal, now: resources.clock.now })
        const found = key === undefined ? 'balances are read' : 'balances are read, debits signed'
        return { found, cost: 'the fee of the chain for each debit' }
      }),
    ),
  )
}

/** An agent that nobody is: a hub that knows none of it has understood who asks. */
async function hubIn({ hub }: ProviderSettings, resources: Resources): Promise<readonly Finding[]> {
  if (hub === undefined) return []
  const finding = await tried('hub', async (signal) => {
    const registry = await resources.registry()
    const shown = await registry.show(resources.chance.uuid(), signal).catch((cause: unknown) => {
      if (cause instanceof RegistryFailure && cause.code === 'AGENT_NOT_FOUND') return undefined
      throw cause
    })
    const signing = hub.key === undefined ? '; no key, so no profile is registered' : ''
    return { found: `${hub.url} answers${checkAgentProfile(shown).ok ? '' : signing}` }
  })
  return [finding]
}

/** What nothing is configured for. */
function embeddedIn(settings: ProviderSettings): readonly Finding[] {
  const { trends = {}, feeds = [], models = [], media, wallet, publish = {}, hub } = settings
  const bare = TREND_PLATFORMS.filter(
    (platform) => !trends[platform] && !feeds.some((feed) => feed.platform === platform),
  )
  const embedded = (what: string, found: string): Finding => ({ what, state: 'embedded', found })
  return [
    ...(bare.length > 0 ? [embedded(`trends ${bare.join(', ')}`, 'samples, marked as such')] : []),
    ...(models.length === 0
      ? [embedded('models', 'the composer, the rules and the embeddings on this machine')]
      : []),
    ...(media === undefined ? [embedded('media', 'none is made')] : []),
    ...(wallet?.rpc === undefined ? [embedded('wallet', 'pretended money, marked as such')] : []),
    ...(Object.keys(publish).length === 0
      ? [embedded('publishing', hub ? 'the outbox of the hub' : 'an outbox that nobody else reads')]
      : []),
    ...(hub === undefined ? [embedded('hub', 'agents are registered on this machine alone')] : []),
  ]
}
