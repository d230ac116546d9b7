/**
 * What stands behind the skills of a fleet that runs with the hub: feeds, models, media, a wallet,
 * platforms. Each was tried, and says what works, what it costs and what stands in where it fails.
 */
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { asItIs, checker } from '../check.ts'
import type { Messages } from '../messages.ts'
import { DateTime, textUpTo, writeInstant } from '../wire.ts'

const Words = textUpTo(LIMITS.descriptionChars)

export const ProviderList = Type.Object(
  {
    checked_at: Type.Optional({ ...DateTime, description: 'Absent where no fleet runs with it' }),
    providers: Type.Array(
      Type.Object({
        what: Type.String({ minLength: 1, maxLength: LIMITS.descriptionChars }),
        state: Type.Enum(['works', 'fails', 'embedded'], {
          description: 'embedded: nothing is configured, and what is built in does it',
        }),
        found: Words,
        cost: Type.Optional({ ...Words, description: 'Of a use' }),
        fallback: Type.Optional({ ...Words, description: 'What stands in for it' }),
        next: Type.Optional({ ...Words, description: 'What to do about it' }),
      }),
      { maxItems: LIMITS.providersShown },
    ),
  },
  { title: 'Providers' },
)

export type ProviderFound = {
  /** `model gpt-4o-mini`, `MCP news`, `wallet base`. */
  readonly what: string
  readonly state: 'works' | 'fails' | 'embedded'
  readonly found: string
  /** What a use of it costs, where that is known. */
  readonly cost?: string
  /** What stands in for it. */
  readonly fallback?: string
  /** What to do about it. */
  readonly next?: string
}

export type ProvidersTried = {
  readonly at?: Instant
  readonly providers: readonly ProviderFound[]
}

const cut = (text: string): string => Array.from(text).slice(0, LIMITS.descriptionChars).join('')

export const encodeProviders = ({
  at,
  providers,
}: ProvidersTried): Static<typeof ProviderList> => ({
  ...(at !== undefined && { checked_at: writeInstant(at) }),
  providers: providers.slice(0, LIMITS.providersShown).map((each) => ({
    what: cut(each.what),
    state: each.state,
    found: cut(each.found),
    ...(each.cost !== undefined && { cost: cut(each.cost) }),
    ...(each.fallback !== undefined && { fallback: cut(each.fallback) }),
    ...(each.next !== undefined && { next: cut(each.next) }),
  })),
})

export const PROVIDER_MESSAGES = {
  'provider-list': { schema: ProviderList, read: asItIs(checker(ProviderList)) },
} satisfies Messages
