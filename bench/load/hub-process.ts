/** A hub in a process of its own: told its settings, it answers where it listens. */
import { type BenchHubWanted, startBenchHub } from '../stage/hub.ts'
import { answerIn } from './process-of.ts'

answerIn(async (wanted: BenchHubWanted) => {
  const { address, hub } = await startBenchHub(wanted)
  // What is said before the broker is there waits, and would be measured with the first round.
  while (wanted.bus !== undefined && hub.share.broker().type !== 'connected') {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return address
})
