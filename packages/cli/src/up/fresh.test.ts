/** Beginning anew, and where to listen. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockDirectory } from '@chimera/store/engine/lock'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { forget, leftIn } from './fresh.ts'
import { announce, findHere } from './here.ts'
import { placeFor } from './place.ts'

let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'chimera-fresh-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

async function used(name: string): Promise<string> {
  const directory = join(home, name)
  await mkdir(join(directory, 'hub', 'pg'), { recursive: true })
  await writeFile(join(directory, 'owner.token'), 'x')
  await announce(directory, { hub: 'http://127.0.0.1:4600', owner: 'me' })
  return directory
}

describe('chimera up --fresh', () => {
  test('F1 removes all that a start has left, says what, and the folder', async () => {
    const directory = await used('plain')
    assert.deepEqual(await forget(directory), ['hub', 'network.json', 'owner.token'])
    assert.equal(await findHere(directory), undefined)
    assert.deepEqual(await readdir(home), [])
    assert.deepEqual(await forget(directory), [])
  })

  test('F1 and nothing else that is there', async () => {
    const directory = await used('shared')
    await writeFile(join(directory, 'thesis.txt'), 'mine')
    await forget(directory)
    assert.deepEqual(await readdir(directory), ['thesis.txt'])
    assert.deepEqual(await leftIn(directory), [])
  })

  test('F2 nothing under a network that runs', async () => {
    const directory = await used('running')
    const lock = await lockDirectory(join(directory, 'hub'))
    await assert.rejects(forget(directory), { code: 'directory_locked' })
    assert.deepEqual(await leftIn(directory), ['hub', 'network.json', 'owner.token'])
    await lock.release()
    await forget(directory)
  })
})

describe('where chimera up listens', () => {
  test('elsewhere if the usual port is taken, and says so; a named one is meant', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const taken = { host: '127.0.0.1', port }
    const said: string[] = []
    const say = (words: string) => void said.push(words)
    assert.deepEqual(await placeFor(taken, { named: false, say }), { ...taken, port: 0 })
    assert.deepEqual(said, [`Port ${port} is taken, so another one is used.`])
    assert.deepEqual(await placeFor(taken, { named: true, say }), taken)
    await new Promise((resolve) => other.close(resolve))
    assert.deepEqual(await placeFor(taken, { named: false, say }), taken)
    assert.equal(said.length, 1)
  })
})
