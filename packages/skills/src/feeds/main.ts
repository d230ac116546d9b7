/** `chimera-feeds` as a process of its own. */
import { FEEDS_USAGE, FeedsMisused, startFeeds } from './command.ts'

const tell = (line: string): void => {
  process.stderr.write(`chimera-feeds: ${line}\n`)
}
const words = process.argv.slice(2)

// Whoever reads the pipe may be gone.
process.stdout.on('error', () => process.exit(0))

try {
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(`${FEEDS_USAGE}\n`)
  } else {
    const running = await startFeeds(words, { environment: process.env, tell })
    if (running.url !== undefined) tell(`listening at ${running.url}`)
    let ending = false
    const end = (): void => {
      if (ending) return
      ending = true
      void running.close().finally(() => process.exit(0))
    }
    process.once('SIGINT', end)
    process.once('SIGTERM', end)
    if (running.url === undefined) process.stdin.once('end', end).once('close', end)
  }
} catch (error) {
  for (const line of (error instanceof Error ? error.message : String(error)).split('\n'))
    tell(line)
  if (error instanceof FeedsMisused) tell('see chimera-feeds --help')
  process.exitCode = 2
}
