/** The wiring with a stand-in for `process`, then once with a real process and real signals. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { describe, test } from 'vitest'
import { stopOnSignals } from './signals.ts'
import { createStop, type Part } from './stop.ts'
import { createVirtualClock } from './virtual-clock.ts'

function setUp(...parts: readonly Part[]) {
  const clock = createVirtualClock()
  const stop = createStop({ clock })
  for (const part of parts) stop.register(part)
  const source = new EventEmitter()
  const exits: number[] = []
  const unwire = stopOnSignals(stop, { clock, source, exit: (status) => exits.push(status) })
  return { clock, stop, source, exits, unwire }
}

const hangs: Part = { name: 'hangs', close: () => new Promise(() => {}) }
const closes: Part = { name: 'closes', close: () => {} }

describe('signals', () => {
  test('N1 the first begins the stop, which ends the process with 0', async () => {
    const { clock, stop, source, exits } = setUp(closes)
    source.emit('SIGTERM')
    assert.equal(stop.stopping.aborted, true)
    assert.deepEqual(exits, [])
    await clock.advanceBy(0)
    assert.deepEqual(exits, [0])
  })

  test('N1 with 1 when something did not close', async () => {
    const { clock, source, exits } = setUp(hangs)
    source.emit('SIGINT')
    await clock.advanceBy(9_000)
    assert.deepEqual(exits, [1])
  })

  test('N2 a second one ends it at once', async () => {
    const { clock, source, exits } = setUp(hangs)
    source.emit('SIGTERM')
    await clock.advanceBy(500)
    source.emit('SIGINT')
    assert.deepEqual(exits, [130])
  })

  test('N3 but not the echo of the first', async () => {
    const { clock, source, exits } = setUp(hangs)
    source.emit('SIGINT')
    await clock.advanceBy(499)
    source.emit('SIGINT')
    assert.deepEqual(exits, [])
  })

  test('can be taken off again', () => {
    const { stop, source, unwire } = setUp(closes)
    unwire()
    source.emit('SIGTERM')
    assert.equal(stop.stopping.aborted, false)
    assert.equal(source.listenerCount('SIGINT'), 0)
  })

  test('A6 nothing is wired until it is asked for', () => {
    const before = process.listenerCount('SIGTERM')
    createStop({ clock: createVirtualClock() })
    assert.equal(process.listenerCount('SIGTERM'), before)
  })
})

// Windows has no signal that a process could hear and answer.
test.skipIf(process.platform === 'win32')('a real process stops on a real signal', async () => {
  const program = `
    import { createClock } from '@chimera/host/clock'
    import { stopOnSignals } from '@chimera/host/signals'
    import { createStop } from '@chimera/host/stop'
    const clock = createClock()
    const stop = createStop({ clock })
    stop.register({ name: 'work', close: () => console.log('closed') })
    stopOnSignals(stop, { clock, source: process, exit: (status) => process.exit(status) })
    setInterval(() => {}, 1_000)
    console.log('ready')
  `
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--conditions=chimera-source', '--input-type=module', '-e', program],
    { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (text.includes('ready')) child.kill('SIGTERM')
  })
  const [status] = await once(child, 'close')
  assert.equal(status, 0)
  assert.equal(output, 'ready\nclosed\n')
})
