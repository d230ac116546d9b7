/** Who an agent is, over restarts, copies and rotations that break off; on a real disk. */
import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeKeyHistory } from '@chimera/dialects/chimera'
import type { AgentId } from '@chimera/domain/ids'
import { createSeededChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { Failure } from '@chimera/identity/failure'
import { createKeyring } from '@chimera/identity/keyring'
import type { KeyPair } from '@chimera/identity/keys'
import { verifyRotation } from '@chimera/identity/rotation'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { HubAnswer } from '../hub/client.ts'
import { rotateKey, settleRotation } from './rotation.ts'
import { openSelf, type Self, SelfError } from './self.ts'

const clock = createClock()
const MINE = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11'
let root: string
let made = 0
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'chimera-self-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const place = () => {
  made += 1
  return join(root, `${made}`)
}
let seeds = 0
const chance = () => {
  seeds += 1
  return createSeededChance(seeds)
}
const codeOf = (code: string) => (error: unknown) =>
  (error instanceof SelfError || error instanceof Failure) && error.code === code

describe('id and key', () => {
  test('are made on the first start, for nobody else to read, and kept', async () => {
    const directory = place()
    const first = await openSelf({ directory, chance: chance() })
    assert.deepEqual([first.keys.created, first.keys.guarded], [true, true])
    for (const file of ['key.json', 'agent.json']) {
      assert.equal((await stat(join(directory, file))).mode & 0o777, 0o600, file)
    }
    assert.equal((await stat(directory)).mode & 0o777, 0o700)
    const again = await openSelf({ directory, chance: chance() })
    assert.deepEqual(
      [again.agent, again.keys.pair().id, again.keys.created],
      [first.agent, first.keys.pair().id, false],
    )
    assert.notEqual(again.instance, first.instance, 'each run is an instance of its own')
  })

  test('of several that start at once, all are the same agent', async () => {
    const directory = place()
    const copies = await Promise.all(
      Array.from({ length: 8 }, () => openSelf({ directory, chance: chance() })),
    )
    assert.equal(new Set(copies.map(({ agent }) => agent)).size, 1)
    assert.equal(new Set(copies.map(({ keys }) => keys.pair().id)).size, 1)
    assert.equal(new Set(copies.map(({ instance }) => instance)).size, 8)
    assert.deepEqual((await readdir(directory)).sort(), ['agent.json', 'key.json'])
  })

  test('an id of the settings is taken, and must be the one that is kept', async () => {
    const directory = place()
    const { agent } = await openSelf({ directory, id: MINE.toUpperCase(), chance: chance() })
    assert.equal(agent, MINE)
    const id = '8d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11'
    await assert.rejects(openSelf({ directory, id, chance: chance() }), codeOf('id_conflict'))
    await assert.rejects(openSelf({ id: 'me', chance: chance() }), codeOf('id_malformed'))
  })

  test('a key that others can read is not used, and an id file that is none is told', async () => {
    const directory = place()
    await openSelf({ directory, chance: chance() })
    await writeFile(join(directory, 'agent.json'), '{"agent_id": 7}')
    await assert.rejects(openSelf({ directory, chance: chance() }), codeOf('id_unreadable'))
    await chmod(join(directory, 'key.json'), 0o644)
    await assert.rejects(openSelf({ directory, chance: chance() }), codeOf('key_file_exposed'))
  })
})

/** A hub that knows one key of one agent, verifies a rotation as a real one, and can be cut. */
function createKeyHub(agent: AgentId, first: KeyPair) {
  const keyring = createKeyring()
  const state = { present: first.publicKey, id: first.id, loses: 'nothing' as string }
  const cut: HubAnswer = { ok: false, kind: 'unanswered', code: 'network', detail: 'cut' }
  const hub = {
    get: async (): Promise<HubAnswer> => {
      if (state.loses === 'everything') return cut
      const periods = [{ id: state.id, publicKey: state.present, from: 0 }]
      return { ok: true, status: 200, body: encodeKeyHistory(agent, { periods }) }
    },
    post: async (_path: string, body: unknown): Promise<HubAnswer> => {
      if (state.loses === 'question' || state.loses === 'everything') return cut
      const present = { agent, publicKey: state.present }
      const verdict = verifyRotation(body as object, present, keyring, clock.now())
      if (!verdict.ok) {
        const { refusal: code } = verdict
        return { ok: false, kind: 'refused', status: 409, code, sentence: '', retryable: false }
      }
      Object.assign(state, { present: verdict.key.publicKey, id: verdict.key.id })
      return state.loses === 'answer' ? cut : { ok: true, status: 200, body: {} }
    },
  }
  return { hub, state }
}

describe('AV-12 rotation', () => {
  async function setUp(): Promise<
    { self: Self; directory: string } & ReturnType<typeof createKeyHub>
  > {
    const directory = place()
    const self = await openSelf({ directory, chance: chance() })
    return { self, directory, ...createKeyHub(self.agent, self.keys.pair()) }
  }
  const reopen = (directory: string) => openSelf({ directory, chance: chance() })

  test('the new key takes the old one’s place, which keeps a file of its own', async () => {
    const { self, directory, hub, state } = await setUp()
    const old = self.keys.pair().id
    const rotated = await rotateKey({ ...self, hub, clock })
    assert.deepEqual(rotated, { is: 'rotated', old, now: state.id })
    assert.equal(self.keys.pair().id, state.id)
    assert.equal((await reopen(directory)).keys.pair().id, state.id)
    const files = (await readdir(directory)).sort()
    assert.deepEqual(files, ['agent.json', `key-${old.slice(0, 8)}.json`, 'key.json'])
    assert.equal((await rotateKey({ ...self, hub, clock })).is, 'rotated', 'and once more')
  })

  test('a lost answer is looked up: the hub says which key speaks', async () => {
    const { self, hub, state } = await setUp()
    state.loses = 'answer'
    assert.equal((await rotateKey({ ...self, hub, clock })).is, 'rotated')
    assert.equal(self.keys.pair().id, state.id)
  })

  test('cut before the hub heard: the old key goes on, the prepared is used later', async () => {
    const { self, directory, hub, state } = await setUp()
    const old = self.keys.pair().id
    state.loses = 'everything'
    assert.deepEqual(await rotateKey({ ...self, hub, clock }), { is: 'unknown' })
    assert.equal(self.keys.pair().id, old)
    const prepared = await self.keys.prepared()
    state.loses = 'nothing'
    const again = await reopen(directory)
    assert.equal(await settleRotation({ ...again, hub, clock }), 'none')
    assert.equal(again.keys.pair().id, old)
    assert.equal((await rotateKey({ ...again, hub, clock })).is, 'rotated')
    assert.equal(again.keys.pair().id, prepared?.id)
  })

  test('killed after the hub has taken it: the next start uses the key that speaks', async () => {
    const { self, directory, hub, state } = await setUp()
    const { keys } = self
    const killed = {
      ...self,
      keys: { ...keys, promote: () => Promise.reject(new Error('killed')) },
    }
    await assert.rejects(rotateKey({ ...killed, hub, clock }))
    const again = await reopen(directory)
    assert.notEqual(again.keys.pair().id, state.id)
    assert.equal(await settleRotation({ ...again, hub, clock }), 'promoted')
    assert.equal(again.keys.pair().id, state.id)
  })

  test('another copy of the agent finds the key that was rotated beside it', async () => {
    const { self, directory, hub, state } = await setUp()
    const copy = await reopen(directory)
    await rotateKey({ ...self, hub, clock })
    assert.notEqual(copy.keys.pair().id, state.id)
    assert.equal(await copy.keys.reload(), true)
    assert.equal(copy.keys.pair().id, state.id)
    assert.equal(await copy.keys.reload(), false)
  })

  test('a refusal leaves everything as it is', async () => {
    const { self, hub, state } = await setUp()
    const foreign = (await openSelf({ chance: chance() })).keys.pair()
    Object.assign(state, { present: foreign.publicKey, id: foreign.id })
    const old = self.keys.pair().id
    assert.equal((await rotateKey({ ...self, hub, clock })).is, 'refused')
    assert.equal(self.keys.pair().id, old)
  })
})
