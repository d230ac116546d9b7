/**
 * `validate_content` (SK-9): the judge's look at a content package. Everything it says points at
 * the words that it is about, so that a person can see and mend them.
 *
 *   V1  A check that fails or does not end in time never counts as passed: a person must look.
 *   V2  What is found of a person is never repeated in the message, only pointed at.
 *   V3  Checks only add. None, and no model, takes away what another found.
 */
import { setImmediate as othersTurn } from 'node:timers/promises'
import { SKILLS } from '@chimera/dialects/skills/contracts'
import type { ValidateContentInput, ValidateContentOutput } from '@chimera/dialects/skills/schema'
import { defineSkill } from '@chimera/skill/define'
import { contracted, type Priced } from './contracted.ts'
import { checkClaims } from './judge/claims.ts'
import { checkCopying } from './judge/copying.ts'
import { type ContentCheck, type Finding, passagesOf } from './judge/finding.ts'
import { createOffensiveCheck, type OffensiveHands } from './judge/offensive.ts'
import { checkBrands, checkPersona } from './judge/persona-rules.ts'
import { checkPersonal } from './judge/personal.ts'
import { checkPlatform } from './judge/platforms.ts'
import { verdictOf } from './judge/verdict.ts'
import { detailOf, isLate } from './models/model.ts'

export type ValidateContentOptions = Priced &
  OffensiveHands & {
    /** Beside the ones that are always made. */
    readonly checks?: readonly ContentCheck[]
    /** Brands that may be named only as was agreed with their owners. */
    readonly brands?: readonly string[]
    /** Who looks for misinformation beside the rules: `createModelJudge`. Asked for with them. */
    readonly judge?: ContentCheck
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
  const { checks = [], judge, brands = [], ...hands } = options
  const offensive = createOffensiveCheck(hands)
  const { cache } = CONTRACT
  return defineSkill({
    ...contracted(CONTRACT, options),
    // All of it: the content by its bytes, the rules, and what the checks were sharpened by.
    ...(cache && { cache: { ttl: cache.ttlMs } }),
    run: async (asked, { signal, keep, failure, now }) => {
      const began = now()
      const findings: Finding[] = []
      const isJudged = asked.validation_rules?.check_misinformation ?? true
      const all: readonly ContentCheck[] = [
        ...checksFor(asked, offensive, brands),
        ...checks,
        // The slowest last, so that everything else is said when it is late.
        ...(judge !== undefined && isJudged ? [judge] : []),
      ]
      for (const check of all) {
        await othersTurn()
        signal.throwIfAborted()
        try {
          findings.push(...(await check(asked, signal)))
        } catch (cause) {
          if (signal.aborted) throw cause
          const code = isLate(cause) ? 'SAFETY_CHECK_TIMEOUT' : 'VALIDATION_ERROR'
          throw failure(code, { cause, ...detailOf(cause) })
        }
        keep([...findings])
      }
      return { ...verdictOf(findings), validation_time_ms: now() - began }
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
  brands: readonly string[],
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
      ? [
          () => passages.flatMap((passage) => checkCopying(passage, context)),
          () => checkBrands(passages, brands),
        ]
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
