/**
 * The checks of the skills' messages: each against its schema, and then by what the schema cannot
 * say. Nothing here needs a clock.
 */
import type { Issue } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import { checker } from '../check.ts'
import { CallRecord } from './call-record.ts'
import { Campaign, campaignIssues } from './campaign.ts'
import { ContentPackage } from './content.ts'
import { datedIssues, Persona } from './persona.ts'
import { AgentProfile } from './profile.ts'
import * as wire from './schema.ts'
import { SkillError } from './skill-error.ts'
import { scoreIssues, TrendData } from './trend.ts'
import { DECIMALS, readUnits, showUnits } from './units.ts'

export const checkTrendData = checker(TrendData, (trend) => scoreIssues(trend))
export const checkContentPackage = checker(ContentPackage)
export const checkAgentProfile = checker(AgentProfile)
export const checkPersona = checker(Persona, (persona) => datedIssues(persona))
export const checkCampaign = checker(Campaign, campaignIssues)
export const checkCallRecord = checker(CallRecord)
export const checkSkillError = checker(SkillError)

/** As many issues as one error lists, and no more work than that. */
function issuesOfEach<Each>(
  list: readonly Each[],
  issuesOf: (each: Each, index: number) => readonly Issue[],
): Issue[] {
  const found: Issue[] = []
  for (let at = 0; at < list.length && found.length < LIMITS.issues; at += 1) {
    const each = list[at]
    if (each !== undefined) found.push(...issuesOf(each, at))
  }
  return found
}

function countIssue(path: string, stated: number | undefined, listed: number): readonly Issue[] {
  if (stated === undefined || stated === listed) return []
  return [{ path, expected: `${listed}, as many as are listed`, got: 'another number' }]
}

export const checkFetchTrendsInput = checker(wire.FetchTrendsInput)
export const checkFetchTrendsOutput = checker(wire.FetchTrendsOutput, ({ trends, count }) => [
  ...countIssue('/count', count, trends.length),
  ...issuesOfEach(trends, (trend, at) => scoreIssues(trend, `/trends/${at}`)),
])

export const checkSemanticFilterInput = checker(wire.SemanticFilterInput, ({ trends }) =>
  issuesOfEach(trends, (trend, at) => scoreIssues(trend, `/trends/${at}`)),
)
export const checkSemanticFilterOutput = checker(wire.SemanticFilterOutput, (answer) => {
  const { filtered_trends: kept, total_input: given } = answer
  return [
    ...countIssue('/total_output', answer.total_output, kept.length),
    ...(given !== undefined && given < kept.length
      ? [{ path: '/total_input', expected: `at least ${kept.length}`, got: 'fewer' }]
      : []),
    ...issuesOfEach(kept, ({ trend }, at) => scoreIssues(trend, `/filtered_trends/${at}/trend`)),
  ]
})

export const checkGenerateContentInput = checker(
  wire.GenerateContentInput,
  ({ trend, persona }) => [...scoreIssues(trend, '/trend'), ...datedIssues(persona, '/persona')],
)
export const checkGenerateContentOutput = checker(wire.GenerateContentOutput)

export const checkValidateContentInput = checker(wire.ValidateContentInput, ({ context }) =>
  context?.persona === undefined ? [] : datedIssues(context.persona, '/context/persona'),
)
export const checkValidateContentOutput = checker(wire.ValidateContentOutput)

export const checkPublishContentInput = checker(wire.PublishContentInput)
export const checkPublishContentOutput = checker(wire.PublishContentOutput)

export const checkGetAgentProfileInput = checker(wire.GetAgentProfileInput)
export const checkGetAgentProfileOutput = checker(wire.GetAgentProfileOutput)

export const checkUpdateAgentStateInput = checker(wire.UpdateAgentStateInput)
export const checkUpdateAgentStateOutput = checker(
  wire.UpdateAgentStateOutput,
  ({ updated_profile, new_version }) =>
    updated_profile.version === new_version
      ? []
      : [{ path: '/new_version', expected: 'the version of the profile', got: 'another number' }],
)

export const checkFetchWalletBalanceInput = checker(wire.FetchWalletBalanceInput)
export const checkFetchWalletBalanceOutput = checker(wire.FetchWalletBalanceOutput, (answer) => {
  const decimals = DECIMALS[answer.currency]
  if (answer.balance_units === undefined) {
    // Shown, not spent: a balance may have been rounded before it came here.
    return unreadable(
      '/balance',
      readUnits(String(answer.balance), decimals),
      `at most ${decimals} decimals`,
    )
  }
  return showUnits(BigInt(answer.balance_units), decimals) === answer.balance
    ? []
    : [{ path: '/balance_units', expected: 'the balance in base units', got: 'another sum' }]
})

export const checkDebitWalletInput = checker(wire.DebitWalletInput, ({ amount, currency }) => {
  const decimals = DECIMALS[currency]
  const expected = `at most ${decimals} decimals and 15 digits`
  return unreadable('/amount', readUnits(amount, decimals), expected)
})
export const checkDebitWalletOutput = checker(wire.DebitWalletOutput)

export const checkRegisterOpenclawProfileInput = checker(wire.RegisterOpenclawProfileInput)
export const checkRegisterOpenclawProfileOutput = checker(wire.RegisterOpenclawProfileOutput)

function unreadable(path: string, units: bigint | undefined, expected: string): readonly Issue[] {
  return units === undefined ? [{ path, expected, got: 'more' }] : []
}
