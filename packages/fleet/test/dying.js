/**
 * Loaded before a program that a test wants to die: counts what passes between it and the others,
 * and kills its own process (SIGKILL) at the n-th of these, some turns of the event loop later, so
 * that it dies in the middle of what the n-th has begun.
 */
import { subscribe } from 'node:diagnostics_channel'

const HAPPENINGS = [
  'http.server.request.start',
  'http.server.response.finish',
  'undici:request:create',
  'undici:request:trailers',
]

let left = Number.POSITIVE_INFINITY
let turns = 0

function die() {
  if (turns <= 0) process.kill(process.pid, 'SIGKILL')
  turns -= 1
  setImmediate(die)
}

for (const name of HAPPENINGS) {
  subscribe(name, () => {
    left -= 1
    if (left === 0) die()
  })
}

process.on('message', (order) => {
  left = order.after
  turns = order.turns
})
// Whoever has nothing else to do may end.
process.channel?.unref()
