/**
 * Many reserve offers that one instance shows its hub together. Each is a planner's own and is
 * judged by itself: what is wrong with one does not harm the others.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import { type Static, Type } from 'typebox'
import { checker, reader } from '../check.ts'
import { ErrorBody, encodeError } from '../error.ts'
import type { Messages } from '../messages.ts'
import {
  encodeHold,
  HoldShown,
  ReservationShown,
  type ShownHold,
  type ShownReservation,
} from './holds.ts'
import { refusalOf } from './results.ts'
import { type PromiseSeen, promiseIn } from './serving.ts'

const Offer = Type.Object({}, { description: 'A signed reserve offer of MoltBook' })

export const OfferBatch = Type.Object(
  { offers: Type.Array(Offer, { minItems: 1, maxItems: LIMITS.offersAtOnce }) },
  { title: 'Reserve offers, presented together', additionalProperties: false },
)
export const OfferOutcomes = Type.Object(
  {
    outcomes: Type.Array(
      Type.Object({
        promised: Type.Boolean(),
        hold: Type.Optional(HoldShown),
        reservation: Type.Optional(ReservationShown),
        error: Type.Optional(ErrorBody),
      }),
      { description: 'One for each offer, in their order' },
    ),
  },
  { title: 'Outcomes of offers' },
)

/** Slot and money, or why not. */
export type OfferOutcome =
  | { readonly ok: true; readonly hold?: ShownHold; readonly reservation?: ShownReservation }
  | Refused<Refusal>

export type OfferOutcomeSeen = ({ readonly ok: true } & PromiseSeen) | Refused<Refusal>

export const encodeOfferBatch = (offers: readonly object[]) => ({ offers })
export const readOfferBatch = reader(checker(OfferBatch), ({ offers }): readonly object[] => offers)

export const encodeOfferOutcomes = (
  outcomes: readonly OfferOutcome[],
  now: Instant,
): Static<typeof OfferOutcomes> => ({
  outcomes: outcomes.map((each) =>
    each.ok
      ? { promised: true, ...encodeHold(each) }
      : { promised: false, error: encodeError(each, each.refusal, now) },
  ),
})

/** A promise without a reservation is none that anybody could keep. */
export const readOfferOutcomes = reader(
  checker(OfferOutcomes),
  ({ outcomes }): readonly OfferOutcomeSeen[] =>
    outcomes.map(({ promised, error, ...shown }) => {
      if (!promised) return refuse(refusalOf(error?.code, error?.retryable))
      const seen = promiseIn(shown)
      return seen === undefined ? refuse('service_unavailable') : { ok: true, ...seen }
    }),
)

export const OFFER_MESSAGES = {
  'offer-batch': { schema: OfferBatch, read: readOfferBatch },
  'offer-outcomes': { schema: OfferOutcomes, read: readOfferOutcomes },
} satisfies Messages
