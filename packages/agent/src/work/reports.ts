/**
 * Results on their way to the hub. One by itself goes at once; what comes while others are under
 * way goes together after them, so that a busy agent pays for one message and not for a hundred.
 * What is told together goes together.
 *
 *   T1  Each result has its own outcome. Where a message of many is not answered, nobody knows of
 *       any of them; the hub takes each once, however often it is told.
 *   T2  A message that is too large for the hub is taken apart, and each result goes alone.
 */
import {
  encodeResultBatch,
  type ResultOutcome,
  readResultOutcomes,
} from '@chimera/dialects/chimera'
import { LIMITS } from '@chimera/domain/limits'
import type { HubAnswer, HubClient } from '../hub/client.ts'
import type { Done } from '../ports.ts'

export type ReportHands = {
  readonly hub: Pick<HubClient, 'post'>
  readonly doneBy: (answer: HubAnswer) => Done
}

export type Reports = {
  readonly report: (result: object) => Promise<Done>
  /** An outcome for each, in their order. */
  readonly reportAll: (results: readonly object[]) => Promise<readonly Done[]>
}

type Waiting = { readonly result: object; readonly tell: (done: Done) => void }

// While one is being answered the next is filled; more would only make them smaller.
const AT_ONCE = 2
// The body makes a second one the same, and whoever reports has a schedule of its own.
const TERMS = { repeatable: true, tries: 1 } as const

export function createReports({ hub, doneBy }: ReportHands): Reports {
  const waiting: Waiting[] = []
  let underWay = 0

  function go(): void {
    while (underWay < AT_ONCE && waiting.length > 0) {
      const together = waiting.splice(0, LIMITS.resultsAtOnce)
      underWay += 1
      void send(together).finally(() => {
        underWay -= 1
        go()
      })
    }
  }

  async function send(together: readonly Waiting[]): Promise<void> {
    const outcomes = await reportAll(together.map(({ result }) => result))
    for (const [at, { tell }] of together.entries()) tell(outcomes[at] ?? doneBy(UNINTELLIGIBLE))
  }

  async function reportAll(results: readonly object[]): Promise<readonly Done[]> {
    const [first] = results
    if (first === undefined) return []
    if (results.length === 1) return [await alone(first)]
    const answer = await hub.post('/v1/results', encodeResultBatch(results), TERMS)
    if (!answer.ok && answer.kind === 'refused' && answer.refusal === 'message_oversized') {
      // T2.
      const apart: Done[] = []
      for (const each of results) apart.push(await alone(each))
      return apart
    }
    const outcomes = answer.ok ? outcomesIn(answer.body, results.length) : undefined
    const unknown = doneBy(answer.ok ? UNINTELLIGIBLE : answer)
    return outcomes ?? results.map(() => unknown)
  }

  async function alone(result: object): Promise<Done> {
    return doneBy(await hub.post('/openclaw/v1/results', result, TERMS))
  }

  return {
    report: (result) =>
      new Promise((tell) => {
        waiting.push({ result, tell })
        go()
      }),
    reportAll,
  }
}

const UNINTELLIGIBLE: HubAnswer = {
  ok: false,
  kind: 'unanswered',
  code: 'unintelligible',
  detail: 'not an outcome for each result',
}

function outcomesIn(body: unknown, count: number): readonly ResultOutcome[] | undefined {
  const read = readResultOutcomes(body)
  return read.ok && read.value.length === count ? read.value : undefined
}
