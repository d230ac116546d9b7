/**
 * The ten skills on the providers of the settings, each on its embedded default where nothing is
 * configured, and each saying what it stands on.
 */
import type { SkillId } from '@chimera/dialects/skills/error-codes'
import { TREND_PLATFORMS, type TrendPlatform } from '@chimera/dialects/skills/words'
import type { Skill } from '@chimera/skill/contract'
import { SKILL_NAMES } from '../catalogue.ts'
import type { TrendSource } from '../trends/source.ts'
import { type Behind, describeBehind } from './behind.ts'
import { openResources, type Resources, type SkillHands } from './resources.ts'
import { type ProviderSettings, readProviderSettings } from './settings.ts'

export type OpenSkills = {
  readonly skills: readonly Skill[]
  /** What each of them stands on. */
  readonly behind: readonly Behind[]
  /** Loads what the first calls would wait for, where that is on this machine. */
  readonly warm: () => Promise<void>
  readonly close: () => Promise<void>
}

export type OpenOptions = SkillHands & {
  /** Only these: all ten unless given. */
  readonly only?: readonly SkillId[]
  /** Loads what takes seconds before it answers, so that the first call does not pay for it. */
  readonly ready?: boolean
}

/** Throws a `ProvidersWrong` for settings that make no sense; opens nothing then. */
export async function openSkills(
  settings: ProviderSettings = {},
  { only = SKILL_NAMES, ready = false, ...hands }: OpenOptions = {},
): Promise<OpenSkills> {
  const read = readProviderSettings(settings)
  const resources = openResources(read, hands)
  try {
    const skills: Skill[] = []
    for (const name of only) skills.push(await OPENERS[name](read, resources))
    const { models = [] } = read
    const isEmbedded = models.length === 0 && only.includes('semantic_filter')
    const warm = async (): Promise<void> => (isEmbedded ? resources.warm() : undefined)
    if (ready) await warm()
    return {
      warm,
      skills,
      behind: only.map((name) => describeBehind(name, read)),
      close: () => resources.close(),
    }
  } catch (error) {
    await resources.close()
    throw error
  }
}

type Opener = (settings: ProviderSettings, resources: Resources) => Promise<Skill>

const OPENERS: Readonly<Record<SkillId, Opener>> = {
  async fetch_trends(settings, resources) {
    const { fetchTrends } = await import('../fetch-trends.ts')
    const sources: Partial<Record<TrendPlatform, readonly TrendSource[]>> = {}
    for (const platform of TREND_PLATFORMS)
      sources[platform] = await sourcesOf(platform, settings, resources)
    const { perHour } = settings
    const meaning = await resources.embeddings()
    const hands = { sources, meaning, clock: resources.clock }
    return fetchTrends({ ...hands, ...(perHour !== undefined && { perHour }) })
  },
  async semantic_filter(_, resources) {
    const { semanticFilter } = await import('../semantic-filter.ts')
    const { createModelScorer } = await import('../relevance/model-scorer.ts')
    const models = (await resources.models()).map((model) => [model.name, createModelScorer(model)])
    return semanticFilter({
      models: Object.fromEntries(models),
      embedded: await resources.embeddings(),
    })
  },
  async generate_content({ media, content: { allow = [] } = {} }, resources) {
    const { generateContent } = await import('../generate-content.ts')
    const { createModelWriter } = await import('../compose/model-writer.ts')
    const writers = (await resources.models()).map(createModelWriter)
    return generateContent({
      writers,
      allow,
      clock: resources.clock,
      ...(media && { media: await makerOf(media, resources) }),
    })
  },
  async validate_content({ content = {} }, resources) {
    const { validateContent } = await import('../validate-content.ts')
    const { createModelJudge } = await import('../judge/model-judge.ts')
    const [first, ...others] = await resources.models()
    return validateContent({
      ...content,
      ...(first && { judge: createModelJudge([first, ...others]) }),
    })
  },
  async publish_content(_, resources) {
    const { publishContent } = await import('../publish-content.ts')
    const { publishing } = await resources.publishing()
    await resources.scheduler()
    return publishContent({ publishing })
  },
  async get_agent_profile(_, resources) {
    const { getAgentProfile } = await import('../get-agent-profile.ts')
    return getAgentProfile({ registry: await resources.registry() })
  },
  async update_agent_state(_, resources) {
    const { updateAgentState } = await import('../update-agent-state.ts')
    return updateAgentState({ registry: await resources.registry() })
  },
  async fetch_wallet_balance(_, resources) {
    const { fetchWalletBalance } = await import('../fetch-wallet-balance.ts')
    return fetchWalletBalance({ wallet: await resources.wallet() })
  },
  async debit_wallet(_, resources) {
    const { debitWallet } = await import('../debit-wallet.ts')
    return debitWallet({ wallet: await resources.wallet() })
  },
  async register_openclaw_profile(_, resources) {
    const { registerOpenclawProfile } = await import('../register-openclaw-profile.ts')
    return registerOpenclawProfile({ registry: await resources.registry() })
  },
}

/** The servers that are named, then the feeds; samples only where there is neither. */
async function sourcesOf(
  platform: TrendPlatform,
  { trends = {}, feeds = [] }: ProviderSettings,
  resources: Resources,
): Promise<readonly TrendSource[]> {
  const named: TrendSource[] = []
  const general: TrendSource[] = []
  for (const { server, resource } of trends[platform] ?? []) {
    const { trendSource } = await import('../mcp/trend-source.ts')
    const connection = await resources.server(server)
    named.push(
      trendSource(
        connection,
        resource === undefined ? {} : { addresses: { [platform]: resource } },
      ),
    )
    if (resource === undefined) general.push(trendSource(connection, { resource: 'general' }))
  }
  if (feeds.some((feed) => feed.platform === platform)) named.push(await resources.feeds())
  // The document's own fallback, where nobody else was named.
  if (named.length === 1) named.push(...general)
  if (named.length > 0) return named
  const { createSamples } = await import('../trends/samples.ts')
  return [createSamples({ now: resources.clock.now })]
}

async function makerOf(
  { server, ...tools }: NonNullable<ProviderSettings['media']>,
  resources: Resources,
) {
  const { mediaMaker } = await import('../mcp/media-maker.ts')
  return mediaMaker(await resources.server(server), tools)
}
