/**
 * `validate_content` (SK-9): the judge's look at a content package. Everything it says points at
 * the words that it is about, so that a person can see and mend them.
 *
 *   V1  A check that fails or does not end in time never counts as passed: a person must look.
 *   V2  What is found of a person is never repeated in the message, only pointed at.
 */
import { setImmediate as othersTurn } from 'node:timers/promises'
import { SKILLS } from '@chimera/dialects/skills/contracts'
import type { ValidateContentInput, ValidateContentOutput } from '@chimera/dialects/skills/schema'
import { defineSkill } from '@chimera/skill/define'
import { contracted, type Priced } from './contracted.ts'
import { checkClaims } from './judge/claims.ts'
import { checkCopying } from './judge/copying.ts'
import { type Finding, passagesOf } from './judge/finding.ts'
import { createOffensiveCheck, type OffensiveHands } from './judge/offensive.ts'
import { checkPersona } from './judge/persona-rules.ts'
import { checkPersonal } from './judge/personal.ts'
import { checkPlatform } from './judge/platforms.ts'
import { verdictOf } from './judge/verdict.ts'

/** A check of one's own: a model that judges, a house rule. It may take its time, within 5 s. */
export type ContentCheck = (
  asked: ValidateContentInput,
  signal: AbortSignal,
) => readonly Finding[] | PromiseLike<readonly Finding[]>

export type ValidateContentOptions = Priced &
  OffensiveHands & {
    /** Beside the ones that are always made. */
    readonly checks?: readonly ContentCheck[]
  }

const { validate_content: CONTRACT } = SKILLS

const UNFINISHED: Finding = {
  rule: 'check_unfinished',
  severity: 'error',
  message: 'Not all checks ended in time, so a person must look.',
}
const FAILED: Finding = {
  rule: 'check_failed',
  severity: 'error',
  message: 'A check failed, so a person must look.',
}

export function validateContent(options: ValidateContentOptions = {}) {
  const { checks = [], ...hands } = options
  const offensive = createOffensiveCheck(hands)
  const { cache } = CONTRACT
  return defineSkill({
    ...contracted(CONTRACT, options),
    // All of it: the content by its bytes, the rules, and what the checks were sharpened by.
    ...(cache && { cache: { ttl: cache.ttlMs } }),
    run: async (asked, { signal, keep, failure }) => {
      const findings: Finding[] = []
      const all: readonly ContentCheck[] = [...checksFor(asked, offensive), ...checks]
      for (const check of all) {
        await othersTurn()
        signal.throwIfAborted()
        try {
          findings.push(...(await check(asked, signal)))
        } catch (cause) {
          throw signal.aborted ? cause : failure('VALIDATION_ERROR', { cause })
        }
        keep([...findings])
      }
      return verdictOf(findings)
    },
    recover: ({ ending, partial }): ValidateContentOutput | undefined => {
      const done = isFindings(partial) ? partial : []
      if (ending === 'review') return verdictOf([UNFINISHED, ...done])
      if (ending === 'invalid') return verdictOf([FAILED, ...done])
      return undefined
    },
  })
}

/** One after the other, the gravest first, so that a late end has said the most important. */
function checksFor(
  { content, validation_rules: rules, context = {} }: ValidateContentInput,
  offensive: ReturnType<typeof createOffensiveCheck>,
): readonly (() => readonly Finding[])[] {
  const passages = passagesOf(content)
  const known = (context.sources ?? []).map(({ text = '' }) => text.toLowerCase())
  const { persona, platform } = context
  const isAsked = (rule: keyof NonNullable<typeof rules>): boolean => rules?.[rule] ?? true
  return [
    () => passages.flatMap(checkPersonal),
    ...(isAsked('check_offensive_language') ? [() => passages.flatMap(offensive)] : []),
    ...(isAsked('check_misinformation')
      ? [() => passages.flatMap((passage) => checkClaims(passage, known))]
      : []),
    ...(isAsked('check_copyright')
      ? [() => passages.flatMap((passage) => checkCopying(passage, context))]
      : []),
    ...(isAsked('check_platform_compliance')
      ? [() => checkPlatform(content, passages, platform)]
      : []),
    ...(persona === undefined ? [] : [() => checkPersona(content, passages, persona)]),
  ]
}

function isFindings(partial: unknown): partial is readonly Finding[] {
  return Array.isArray(partial)
}
