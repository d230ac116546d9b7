/**
 * The ten skills as contracts: what each is for, what it takes and gives, how long it may take,
 * what is cached, what happens once only, and how it ends when it does not succeed (SK-1, SK-2).
 * Data for whoever runs a skill; the rows of the errors are in error-codes.ts.
 *
 *   Q1  A timeout is for one attempt. A part's is the most that one platform, batch, model or
 *       media call may take within it; parts that do not fit one after another run side by side.
 *   Q2  Every code that a contract names is a row of its errors.
 *   Q3  A contract is an offer of a version (SK-5), so `resolveSkill` finds it by name.
 */
import type { Category, Skill } from '@chimera/domain/agent/agent'
import type { SkillVersion } from '@chimera/domain/agent/skill-version'
import type { Issue } from '@chimera/domain/decision'
import type { Static, TSchema } from 'typebox'
import type { Check } from '../check.ts'
import * as checks from './checks.ts'
import { SKILL_ERRORS, type SkillCode, type SkillId } from './error-codes.ts'
import * as wire from './schema.ts'

export type SkillRole =
  | 'trend_analyst'
  | 'orchestrator'
  | 'content_creator'
  | 'judge'
  | 'distribution_manager'
  | 'cfo_judge'

export type SkillContract<
  Id extends SkillId = SkillId,
  Input extends TSchema = TSchema,
  Output extends TSchema = TSchema,
> = {
  readonly name: Id
  readonly version: SkillVersion
  readonly roles: readonly SkillRole[]
  readonly purpose: string
  /** What it is advertised as, where a document asks for one of four. */
  readonly category?: Category
  readonly input: Input
  readonly output: Output
  readonly checkInput: Check<Static<Input>>
  readonly checkOutput: Check<Static<Output>>
  readonly timeoutMs: number
  readonly parts?: Readonly<Partial<Record<'platform' | 'batch' | 'model' | 'media', number>>>
  /** How many trends go into one batch. */
  readonly batch?: number
  /** How long an answer is good for a repeat, and what a repeat is. */
  readonly cache?: { readonly ttlMs: number; readonly by: CacheKey }
  /** What happens once, however often it is asked for. */
  readonly once?: 'content_and_platform' | 'idempotency_key'
  readonly errors: (typeof SKILL_ERRORS)[Id]
  readonly codes: {
    /** By the first path that an issue begins with; else INVALID_INPUT. */
    readonly input: readonly (readonly [path: string, code: SkillCode<Id>])[]
    readonly timeout: SkillCode<Id>
    /** When the skill gives what is not its output. */
    readonly output: SkillCode<Id>
  }
}

/** `content_and_rules`: the content by id and hash, and the rules that were asked for (SK-9). */
type CacheKey = 'input' | 'trend_and_goals' | 'content_and_rules' | 'agent' | 'wallet'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const FIRST: SkillVersion = { major: 1, minor: 0 }

const contract = <Id extends SkillId, Input extends TSchema, Output extends TSchema>(
  each: SkillContract<Id, Input, Output>,
) => each

export const SKILLS = {
  fetch_trends: contract({
    name: 'fetch_trends',
    version: FIRST,
    roles: ['trend_analyst'],
    purpose: 'Fetch trending topics from MCP resources',
    category: 'trend_consumption',
    input: wire.FetchTrendsInput,
    output: wire.FetchTrendsOutput,
    checkInput: checks.checkFetchTrendsInput,
    checkOutput: checks.checkFetchTrendsOutput,
    timeoutMs: 30 * SECOND_MS,
    parts: { platform: 10 * SECOND_MS },
    cache: { ttlMs: 5 * MINUTE_MS, by: 'input' },
    errors: SKILL_ERRORS.fetch_trends,
    codes: {
      input: [['/platform', 'INVALID_PLATFORM']],
      timeout: 'TIMEOUT',
      output: 'VALIDATION_FAILED',
    },
  }),
  semantic_filter: contract({
    name: 'semantic_filter',
    version: FIRST,
    roles: ['orchestrator', 'trend_analyst'],
    purpose: 'Score trend relevance to campaign goals using a language model',
    category: 'trend_analysis',
    input: wire.SemanticFilterInput,
    output: wire.SemanticFilterOutput,
    checkInput: checks.checkSemanticFilterInput,
    checkOutput: checks.checkSemanticFilterOutput,
    timeoutMs: 10 * SECOND_MS,
    parts: { batch: 3 * SECOND_MS },
    batch: 100,
    cache: { ttlMs: 30 * MINUTE_MS, by: 'trend_and_goals' },
    errors: SKILL_ERRORS.semantic_filter,
    codes: {
      input: [['/campaign_goals', 'INVALID_GOALS']],
      timeout: 'FILTER_TIMEOUT',
      output: 'LLM_ERROR',
    },
  }),
  generate_content: contract({
    name: 'generate_content',
    version: FIRST,
    roles: ['content_creator'],
    purpose: 'Generate content (script, media, captions) from a trend and a persona',
    category: 'content_generation',
    input: wire.GenerateContentInput,
    output: wire.GenerateContentOutput,
    checkInput: checks.checkGenerateContentInput,
    checkOutput: checks.checkGenerateContentOutput,
    timeoutMs: 45 * SECOND_MS,
    parts: { model: 15 * SECOND_MS, media: 30 * SECOND_MS },
    errors: SKILL_ERRORS.generate_content,
    codes: {
      input: [['/persona', 'INVALID_PERSONA']],
      timeout: 'GENERATION_TIMEOUT',
      output: 'LLM_ERROR',
    },
  }),
  validate_content: contract({
    name: 'validate_content',
    version: FIRST,
    roles: ['judge'],
    purpose: 'Validate a content package against safety and quality rules',
    category: 'content_validation',
    input: wire.ValidateContentInput,
    output: wire.ValidateContentOutput,
    checkInput: checks.checkValidateContentInput,
    checkOutput: checks.checkValidateContentOutput,
    timeoutMs: 5 * SECOND_MS,
    cache: { ttlMs: 6 * HOUR_MS, by: 'content_and_rules' },
    errors: SKILL_ERRORS.validate_content,
    codes: {
      input: [['/content', 'INVALID_CONTENT']],
      timeout: 'SAFETY_CHECK_TIMEOUT',
      output: 'INTERNAL_ERROR',
    },
  }),
  publish_content: contract({
    name: 'publish_content',
    version: FIRST,
    roles: ['distribution_manager'],
    purpose: 'Publish content to a social platform',
    input: wire.PublishContentInput,
    output: wire.PublishContentOutput,
    checkInput: checks.checkPublishContentInput,
    checkOutput: checks.checkPublishContentOutput,
    timeoutMs: 15 * SECOND_MS,
    once: 'content_and_platform',
    errors: SKILL_ERRORS.publish_content,
    codes: {
      input: [['/approval_token', 'INVALID_TOKEN']],
      timeout: 'TIMEOUT',
      output: 'INTERNAL_ERROR',
    },
  }),
  get_agent_profile: contract({
    name: 'get_agent_profile',
    version: FIRST,
    roles: ['orchestrator'],
    purpose: 'Fetch an agent profile (status, capabilities, wallet)',
    input: wire.GetAgentProfileInput,
    output: wire.GetAgentProfileOutput,
    checkInput: checks.checkGetAgentProfileInput,
    checkOutput: checks.checkGetAgentProfileOutput,
    timeoutMs: 2 * SECOND_MS,
    cache: { ttlMs: 10 * SECOND_MS, by: 'agent' },
    errors: SKILL_ERRORS.get_agent_profile,
    codes: { input: [], timeout: 'UNAVAILABLE', output: 'INTERNAL_ERROR' },
  }),
  update_agent_state: contract({
    name: 'update_agent_state',
    version: FIRST,
    roles: ['orchestrator'],
    purpose: 'Update agent state (status, pending tasks, wallet balance)',
    input: wire.UpdateAgentStateInput,
    output: wire.UpdateAgentStateOutput,
    checkInput: checks.checkUpdateAgentStateInput,
    checkOutput: checks.checkUpdateAgentStateOutput,
    timeoutMs: 5 * SECOND_MS,
    errors: SKILL_ERRORS.update_agent_state,
    codes: { input: [], timeout: 'TIMEOUT', output: 'INTERNAL_ERROR' },
  }),
  fetch_wallet_balance: contract({
    name: 'fetch_wallet_balance',
    version: FIRST,
    roles: ['cfo_judge'],
    purpose: "Check an agent's wallet balance",
    input: wire.FetchWalletBalanceInput,
    output: wire.FetchWalletBalanceOutput,
    checkInput: checks.checkFetchWalletBalanceInput,
    checkOutput: checks.checkFetchWalletBalanceOutput,
    timeoutMs: 5 * SECOND_MS,
    cache: { ttlMs: 30 * SECOND_MS, by: 'wallet' },
    errors: SKILL_ERRORS.fetch_wallet_balance,
    codes: {
      input: [['/wallet_address', 'INVALID_ADDRESS']],
      timeout: 'NETWORK_ERROR',
      output: 'WALLET_ERROR',
    },
  }),
  debit_wallet: contract({
    name: 'debit_wallet',
    version: FIRST,
    roles: ['cfo_judge'],
    purpose: "Deduct a cost from an agent's wallet",
    input: wire.DebitWalletInput,
    output: wire.DebitWalletOutput,
    checkInput: checks.checkDebitWalletInput,
    checkOutput: checks.checkDebitWalletOutput,
    timeoutMs: 10 * SECOND_MS,
    once: 'idempotency_key',
    errors: SKILL_ERRORS.debit_wallet,
    codes: {
      input: [['/wallet_address', 'INVALID_ADDRESS']],
      timeout: 'TIMEOUT',
      output: 'INTERNAL_ERROR',
    },
  }),
  register_openclaw_profile: contract({
    name: 'register_openclaw_profile',
    version: FIRST,
    roles: ['orchestrator'],
    purpose: 'Register an agent with the OpenClaw network',
    input: wire.RegisterOpenclawProfileInput,
    output: wire.RegisterOpenclawProfileOutput,
    checkInput: checks.checkRegisterOpenclawProfileInput,
    checkOutput: checks.checkRegisterOpenclawProfileOutput,
    timeoutMs: 10 * SECOND_MS,
    errors: SKILL_ERRORS.register_openclaw_profile,
    codes: {
      input: [['/agent_profile', 'INVALID_PROFILE']],
      timeout: 'NETWORK_ERROR',
      output: 'REGISTRATION_FAILED',
    },
  }),
} as const satisfies { readonly [Id in SkillId]: { readonly name: Id } }

export type SkillInput<Id extends SkillId> = Static<(typeof SKILLS)[Id]['input']>
export type SkillOutput<Id extends SkillId> = Static<(typeof SKILLS)[Id]['output']>

/** Which of a skill's codes says that its input is wrong: the word for the part that is. */
export function inputCode<Id extends SkillId>(
  { codes }: Pick<SkillContract<Id>, 'codes'>,
  issues: readonly Issue[],
): SkillCode<Id> {
  const found = codes.input.find(([part]) => issues.some(({ path }) => isWithin(path, part)))
  return found?.[1] ?? 'INVALID_INPUT'
}

/** A contract as the skill that an agent offers, at a price. */
export function offerSkill(id: SkillId, priceCents: number): Skill {
  const { name, version, purpose, category, input, output }: SkillContract = SKILLS[id]
  return {
    name,
    version,
    description: purpose,
    priceCents,
    input: { ...input },
    output: { ...output },
    ...(category !== undefined && { category }),
  }
}

const isWithin = (path: string, part: string): boolean =>
  path === part || path.startsWith(`${part}/`)
