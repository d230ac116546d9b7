/** What stands behind each skill by the settings, in words for people. Nothing is opened for it. */
import type { SkillId } from '@chimera/dialects/skills/error-codes'
import { PUBLISH_PLATFORMS, TREND_PLATFORMS } from '@chimera/dialects/skills/words'
import type { ProviderSettings } from './settings.ts'

export type Behind = {
  readonly skill: SkillId
  /** The configured ones in the order in which they are asked, and the embedded one in the end. */
  readonly by: readonly string[]
  /** Nothing is configured for it. */
  readonly embedded: boolean
  /** What the embedded default is and is not. */
  readonly note?: string
}

export function describeBehind(skill: SkillId, settings: ProviderSettings): Behind {
  return { skill, ...TOLD[skill](settings) }
}

type Told = (settings: ProviderSettings) => Omit<Behind, 'skill'>

const SAMPLES = 'samples, which are invented and marked #sample'
const EMBEDDINGS = 'sentence embeddings on this machine'
const COMPOSER = 'the composer on this machine'
const NO_HUB = 'nobody else sees it'
const NO_CHAIN = 'answers say simulated'

const modelsOf = ({ models = [] }: ProviderSettings): readonly string[] =>
  models.map(({ name }) => `model ${name}`)

const registry: Told = ({ hub }) =>
  hub === undefined
    ? { by: ['this machine'], embedded: true, note: NO_HUB }
    : { by: [`hub ${hub.url}`], embedded: false }

const wallet: Told = ({ wallet: { rpc = {}, key } = {} }) => {
  const networks = Object.keys(rpc)
  if (networks.length === 0) return { by: ['pretended money'], embedded: true, note: NO_CHAIN }
  const reading = key === undefined ? { note: 'no key: balances are read, nothing is debited' } : {}
  return { by: networks.map((network) => `chain ${network}`), embedded: false, ...reading }
}

const TOLD: Readonly<Record<SkillId, Told>> = {
  fetch_trends: ({ trends = {}, feeds = [] }) => {
    const countOf = (platform: string): number =>
      feeds.filter((feed) => feed.platform === platform).length
    const by = TREND_PLATFORMS.flatMap((platform) => {
      const servers = (trends[platform] ?? []).map(({ server }) => `MCP ${server}`)
      const count = countOf(platform)
      const read = count === 0 ? [] : [`${count} ${count === 1 ? 'feed' : 'feeds'}`]
      const from = [...servers, ...read]
      return from.length === 0 ? [] : [`${platform}: ${from.join(', then ')}`]
    })
    const bare = TREND_PLATFORMS.filter(
      (platform) => trends[platform] === undefined && countOf(platform) === 0,
    )
    const note = bare.length === 0 ? {} : { note: `${bare.join(', ')}: ${SAMPLES}` }
    return { by: by.length === 0 ? ['samples'] : by, embedded: by.length === 0, ...note }
  },
  semantic_filter: (settings) => {
    const models = modelsOf(settings)
    return models.length === 0
      ? { by: [EMBEDDINGS], embedded: true }
      : { by: models, embedded: false, note: `where none answers: ${EMBEDDINGS}` }
  },
  generate_content: (settings) => {
    const models = modelsOf(settings)
    const { media } = settings
    const made = media === undefined ? [] : [`media by MCP ${media.server}`]
    const notes = [
      models.length === 0
        ? 'a person reviews all that it writes'
        : `where none answers: ${COMPOSER}`,
      ...(media === undefined ? ['no media is made'] : []),
    ]
    const writers = models.length === 0 ? [COMPOSER] : models
    return { by: [...writers, ...made], embedded: models.length === 0, note: notes.join('; ') }
  },
  validate_content: (settings) => {
    const models = modelsOf(settings)
    return { by: ['rules', ...models], embedded: models.length === 0 }
  },
  publish_content: ({ publish = {}, hub }) => {
    const by = PUBLISH_PLATFORMS.flatMap((platform) => {
      const tool = publish[platform]
      return tool === undefined ? [] : [`${platform}: tool ${tool.tool} of MCP ${tool.server}`]
    })
    const bare = PUBLISH_PLATFORMS.filter((platform) => publish[platform] === undefined)
    const outbox = hub === undefined ? 'an outbox that nobody else reads' : 'the outbox of the hub'
    return {
      by: by.length === 0 ? [outbox] : by,
      embedded: by.length === 0 && hub === undefined,
      ...(by.length > 0 && bare.length > 0 && { note: `${bare.join(', ')}: ${outbox}` }),
    }
  },
  get_agent_profile: registry,
  update_agent_state: registry,
  register_openclaw_profile: registry,
  fetch_wallet_balance: wallet,
  debit_wallet: wallet,
}
