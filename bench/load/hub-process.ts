/**
 * A hub in a process of its own: told its settings, it answers where it listens; asked for it, with
 * the operator's token that it made.
 */
import { type BenchHub, type BenchHubWanted, startBenchHub } from '../stage/hub.ts'
import { answerIn } from './process-of.ts'

export type HubTold = BenchHubWanted | 'operator'

let running: BenchHub | undefined

answerIn(async (told: HubTold) => {
  if (told === 'operator') return running?.firstOperatorToken
  running = await startBenchHub(told)
  const { address, hub } = running
  // What is said before the broker is there waits, and would be measured with the first round.
  while (told.bus !== undefined && hub.share.broker().type !== 'connected') {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return address
})
