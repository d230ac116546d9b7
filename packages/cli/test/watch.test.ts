/** `chimera watch` against a real hub, both as processes: it prints, resumes, ends as it says. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClock } from '@chimera/host/clock'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Size } from '../src/watch/draw.ts'
import { type Terminal, watchScreen } from '../src/watch/screen.ts'
import { chimera, type HubProcess, startHubProcess } from './command.ts'

const PATIENCE_MS = 180_000

/** A terminal that is looked at: what was written last, as soon as it is what is waited for. */
function openTerminal() {
  let size: Size = { columns: 100, rows: 30 }
  let text = ''
  let press = (_keys: string): void => undefined
  let turn = (): void => undefined
  const lookers = new Set<() => void>()
  const terminal: Terminal = {
    size: () => size,
    colour: false,
    write(more) {
      const shown = more.replaceAll('\u001b', '␛')
      // A screen is drawn from its first line on.
      text = shown.startsWith('␛[H') ? shown : text + shown
      for (const look of lookers) look()
    },
    onKeys(hear) {
      press = hear
      return () => undefined
    },
    onResize(hear) {
      turn = hear
      return () => undefined
    },
  }
  const written = (what: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = what.exec(text)
        if (found === null) return
        lookers.delete(look)
        resolve(found)
      }
      lookers.add(look)
      look()
    })
  const resize = (to: Size): void => {
    size = to
    turn()
  }
  return { terminal, written, type: (keys: string) => press(keys), resize }
}

describe('chimera watch', { timeout: PATIENCE_MS }, () => {
  let home = ''
  let hub: HubProcess
  const start = (listen: string) =>
    startHubProcess(['--listen', listen, '--data', join(home, 'data')])
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'chimera-watch-'))
    hub = await start('127.0.0.1:0')
    await open('alice')
  }, PATIENCE_MS)
  afterAll(async () => {
    await hub?.stop()
    await rm(home, { recursive: true, force: true })
  }, PATIENCE_MS)

  async function open(owner: string): Promise<void> {
    const answer = await fetch(`${hub.address}/accounts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ owner_id: owner, initial_balance: 12.5 }),
    })
    assert.equal(answer.status, 201)
  }
  const watch = (...words: readonly string[]) =>
    chimera(['watch', ...words], { CHIMERA_HUB: hub.address })

  test('prints a line for each event, no colour into a pipe, and ends by --count', async () => {
    const { status, out, err } = await watch('ledger', '--after', '0', '--count', '2')
    assert.equal(status, 0, err)
    const [opened = '', minted = '', end] = out.split('\n')
    assert.match(opened, /^\S+Z {2}ledger {4}account_opened +alice {2}#\d+$/)
    assert.match(minted, /^\S+Z {2}ledger {4}credits_minted +alice {2}12\.50 {2}#\d+$/)
    assert.equal(end, '')
  })

  test('P-7 goes on behind the last event when the hub comes back, and says of a gap', async () => {
    const watching = watch('ledger', 'audit', '--after', '0', '--json', '--count', '4')
    const lost = watch('ledger', '--after', '999999.1.0', '--json', '--count', '1')
    const port = new URL(hub.address).port
    // Both are there when the hub counts two readers.
    for (let readers = 0; readers < 2; ) {
      const metrics = await (await fetch(`${hub.address}/metrics`)).text()
      readers = Number(/^live_readers (\d+)/m.exec(metrics)?.[1] ?? 0)
    }
    await hub.stop()
    hub = await start(`127.0.0.1:${port}`)
    await open('bob')
    const [whole, gap] = await Promise.all([watching, lost])
    assert.equal(whole.status, 0, whole.err)
    const told = whole.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepEqual(
      told.map(({ topic, seq }) => [topic, seq]),
      [1, 2, 3, 4].map((seq) => ['audit', seq]),
      'none twice, none missing',
    )
    assert.match(whole.err, /The hub has ended the stream: stopping\.\n/)
    assert.equal(gap.status, 0, gap.err)
    assert.match(gap.err, /^Gap: what came after 999999\.1\.0 is not known to this hub/m)
    assert.match(gap.out, /^\{"id":"[\d.]+","topic":"gap",/)
  })

  test('at a terminal one screen, drawn anew, that q leaves as it was', async () => {
    const { terminal, written, type, resize } = openTerminal()
    const over = new AbortController()
    const asked = { hub: hub.address, topics: [] }
    const left = watchScreen(asked, { terminal, clock: createClock(), over })
    await written(/0 of 0 agents here[\s\S]*Nobody is registered yet\.[\s\S]*the books balance/)
    await open('carol')
    await written(/LAST EVENTS *␛\[K\r\n\S+ ledger {3}credits_minted +carol {2}12\.50/)
    resize({ columns: 40, rows: 5 })
    const [frame] = await written(/␛\[H[^␛]*␛\[K(\r\n[^␛]*␛\[K){4}␛\[J$/)
    assert.match(frame, /^␛\[HChimera {2}0 of 0 agents here +␛/)
    type('q')
    await left
    await written(/␛\[\?25h␛\[\?1049l$/)
  })

  test('without a hub it ends with a sentence, and the terminal is back', async () => {
    const { terminal, written } = openTerminal()
    const over = new AbortController()
    const asked = { hub: 'http://127.0.0.1:9', topics: [] }
    const watching = watchScreen(asked, { terminal, clock: createClock(), over })
    await assert.rejects(watching, /No hub answers on http:\/\/127\.0\.0\.1:9\./)
    await written(/␛\[\?25h␛\[\?1049l$/)
  })

  test('says what is wrong, with the status that fits', async () => {
    const [topic, id, nobody, help] = await Promise.all([
      watch('money'),
      watch('--after', 'yesterday'),
      chimera(['watch', '--hub', 'http://127.0.0.1:9']),
      chimera(['watch', '--help']),
    ])
    assert.equal(topic.status, 2)
    assert.match(topic.err, /topics/)
    assert.equal(id.status, 2)
    assert.equal(nobody.status, 1)
    assert.match(nobody.err, /No hub answers on http:\/\/127\.0\.0\.1:9\./)
    assert.equal(help.status, 0)
    assert.match(help.out, /Examples:\n {2}chimera watch /)
  })
})
