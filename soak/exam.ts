/**
 * What is left when all campaigns have ended, as the hub, the trail and the agents tell it. Looked
 * at until it is quiet, since presence and letters take their seconds.
 */
import type { AgentList, AlertList, Books, LetterList, PostList } from '@chimera/dialects/chimera'
import type { Static } from 'typebox'
import type { Caller } from './caller.ts'
import type { FleetLeft } from './fleet-part.ts'
import type { Trail } from './hub-part.ts'
import type { Part } from './part.ts'

export type Left = {
  readonly books: Pick<Static<typeof Books>, 'balanced' | 'minted' | 'in_holds' | 'standing_holds'>
  /** In credits. */
  readonly hirerHas: number
  /** What the trail says; words where it does not hold together. */
  readonly trail: Trail | string
  readonly letters: number
  readonly alerts: readonly string[]
  /** Roles with slots that are not free, or work that has not ended. */
  readonly busy: readonly string[]
  /** Content and platform of each, as often as it was posted. */
  readonly posts: readonly string[]
  /** Answers that did not fit their own schema. */
  readonly refused: number
}

export type ExamHands = {
  readonly asOperator: Caller
  readonly asHirer: Caller
  readonly asFleet: Caller
  readonly hirer: string
  readonly hub: Part
  readonly fleet: Part
  readonly sleep: (ms: number) => Promise<void>
}

// Two presence posts, and a letter that was late.
const QUIET_MS = 45_000
const LOOK_MS = 1_000
const PAGE = 50

export async function examine(hands: ExamHands): Promise<Left> {
  const { asOperator, asHirer, hirer, hub, fleet, sleep } = hands
  let busy = await busyRoles(hands)
  for (let waited = 0; busy.length > 0 && waited < QUIET_MS; waited += LOOK_MS) {
    await sleep(LOOK_MS)
    busy = await busyRoles(hands)
  }
  const { letters: lost } = await fleet.ask<FleetLeft>('left')
  const { letters } = await asOperator<Static<typeof LetterList>>('/v1/dead-letters?limit=100')
  const { alerts } = await asOperator<Static<typeof AlertList>>('/v1/alerts?state=all&limit=100')
  const account = await asHirer<{ readonly balance: number }>(`/accounts/${hirer}`)
  return {
    books: await asOperator<Static<typeof Books>>('/v1/books'),
    hirerHas: account.balance,
    trail: await hub.ask<Trail>('examine').catch((error: unknown) => String(error)),
    letters: letters.length + lost,
    alerts: alerts.map(({ kind, subject, message }) => `${kind} of ${subject}: ${message}`),
    busy,
    posts: await postsOf(hands),
    refused: await hub.ask<number>('refused'),
  }
}

async function busyRoles({ asOperator, fleet }: ExamHands): Promise<readonly string[]> {
  const { agents } = await asOperator<Static<typeof AgentList>>('/v1/agents')
  const { running } = await fleet.ask<FleetLeft>('left')
  const taken = agents.filter(
    ({ tasks, slots_free, slots_total }) => tasks > 0 || slots_free < slots_total,
  )
  return [...new Set([...taken.map(({ agent_name }) => agent_name), ...running])]
}

async function postsOf({ asFleet }: ExamHands): Promise<readonly string[]> {
  const found: string[] = []
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: Static<typeof PostList> = await asFleet(
      `/v1/posts?limit=${PAGE}${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`,
    )
    for (const { content_id, platform } of page.posts) found.push(`${content_id} ${platform}`)
    after = page.next_after
  }
  return found
}
