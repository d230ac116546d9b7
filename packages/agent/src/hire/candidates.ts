/**
 * Whom to ask, page by page, the best first: as the hub ranks them, or as a directory of the
 * hirer's own does.
 */
import { explainPlace } from '@chimera/dialects/moltbook'
import { writeCents } from '@chimera/dialects/wire'
import { boundsOf, type Candidate, type Errand, type Hands } from './errand.ts'
import { besideReserve } from './reserve.ts'
import type { Ranked } from './steps.ts'

export type Page = {
  readonly candidates: readonly (Candidate & { readonly ranked: Ranked })[]
  /** There may be others. */
  readonly more: boolean
}

/** So many are looked at and asked before the next are looked for. */
const PER_PAGE = 20
/** Who has asked so many in vain should look at what it asks for. */
const MOST_PAGES = 50

export function findCandidates(hands: Hands, errand: Errand, page: number): Promise<Page> {
  return errand.terms.directory === undefined
    ? fromHub(hands, errand, page)
    : fromDirectory(hands, errand, page)
}

/** P-14: newcomers get their share here. */
async function fromHub({ books }: Hands, errand: Errand, page: number): Promise<Page> {
  const { asked, terms } = errand
  const { budgetCents, minScoreMicro } = terms
  const found = await books.discover(
    {
      skill: asked.skill,
      maxCostCents: budgetCents,
      ...(minScoreMicro !== undefined && { minScoreMicro }),
      limit: PER_PAGE,
      offset: page * PER_PAGE,
      order: 'fair',
    },
    boundsOf(errand),
  )
  const candidates = found
    .filter(({ skill, online }) => online && skill.priceCents <= budgetCents)
    .map(({ id, name, endpoint, skill, scoreMicro, why = [] }) => {
      const { priceCents } = skill
      const reputation = scoreMicro / 1_000_000
      const ranked = { agent: id, name, price: writeCents(priceCents), reputation, why }
      return { id, name, endpoint, priceCents, ranked }
    })
  return { candidates, more: found.length === PER_PAGE && page + 1 < MOST_PAGES }
}

/**
 * No hub in the path of the choice (AV-7). A directory knows no names, and prices only where it was
 * told: where it was not, the budget is put aside, and what the agent does not charge comes back.
 */
async function fromDirectory({ clock }: Hands, errand: Errand, page: number): Promise<Page> {
  const { asked, terms } = errand
  const { directory, budgetCents } = terms
  const hits = directory?.find({ required: [asked.skill], slots: 1 }) ?? []
  const all = hits.flatMap((hit) => {
    const { agent: id, instance: name } = hit.entry
    const endpoint = besideReserve(hit.entry.callback)
    if (endpoint === undefined || hit.costCents > budgetCents) return []
    const priceCents = hit.costCents > 0 ? hit.costCents : budgetCents
    const why = explainPlace(hit, clock.now())
    const ranked = { agent: id, name, price: writeCents(priceCents), why }
    return [{ id, name, endpoint, priceCents, instance: hit.entry, ranked }]
  })
  const from = page * PER_PAGE
  return { candidates: all.slice(from, from + PER_PAGE), more: from + PER_PAGE < all.length }
}
