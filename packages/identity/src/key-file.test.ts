/** Real files in a directory of their own; the race is run between real processes. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, test } from 'vitest'
import { createKeyFile, loadKeyFile, loadOrCreateKeyFile, rotateKeyFile } from './key-file.ts'
import { generateKeyPair, keyPairFromSeed, privateJwk } from './keys.ts'

const posix = process.platform !== 'win32'
const pair = keyPairFromSeed(Buffer.alloc(32, 3))
const text = JSON.stringify(privateJwk(pair))

let home = ''
let path = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'chimera-keys-'))
  path = join(home, 'inner', 'agent.json')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const mode = (of: string): number => statSync(of).mode & 0o777

const place = (content: string, fileMode = 0o600): void => {
  mkdirSync(join(home, 'inner'), { mode: 0o700 })
  writeFileSync(path, content, { mode: fileMode })
  chmodSync(path, fileMode)
}

describe('L1, L3 creating', () => {
  // Elsewhere files have no such modes; what is said there is tested below.
  test.runIf(posix)(
    'makes a directory of mode 0700 and a file of mode 0600, whatever the umask',
    async () => {
      const before = process.umask(0)
      try {
        const kept = await createKeyFile(path, pair)
        assert.deepEqual([kept.created, kept.guarded, kept.pair.id], [true, true, pair.id])
      } finally {
        process.umask(before)
      }
      assert.equal(mode(path), 0o600)
      assert.equal(mode(join(home, 'inner')), 0o700)
      assert.deepEqual(readdirSync(join(home, 'inner')), ['agent.json'])
    },
  )

  test('what was created is what is loaded', async () => {
    await createKeyFile(path, pair)
    const kept = await loadKeyFile(path)
    assert.deepEqual([kept.created, kept.pair.id], [false, pair.id])
    assert.deepEqual(privateJwk(kept.pair), privateJwk(pair))
  })

  test('never overwrites, and leaves no draft behind', async () => {
    await createKeyFile(path, pair)
    await assert.rejects(createKeyFile(path, generateKeyPair()), { code: 'key_file_exists' })
    assert.equal((await loadKeyFile(path)).pair.id, pair.id)
    assert.deepEqual(readdirSync(join(home, 'inner')), ['agent.json'])
  })

  test('where nothing can be written, it says so', async () => {
    writeFileSync(join(home, 'inner'), 'a file where a directory should be')
    await assert.rejects(createKeyFile(path, pair), { code: 'key_file_unwritable' })
  })

  // Elsewhere files have no such modes; what is said there is tested below.
  test.runIf(posix)('not into a directory that others can write', async () => {
    mkdirSync(join(home, 'inner'))
    chmodSync(join(home, 'inner'), 0o777)
    await assert.rejects(createKeyFile(path, pair), { code: 'key_directory_exposed' })
    chmodSync(join(home, 'inner'), 0o1777)
    assert.equal((await createKeyFile(path, pair)).created, true)
  })
})

describe('L2 loading', () => {
  const exposed = posix ? [0o640, 0o604, 0o620, 0o602, 0o610, 0o644, 0o666] : []
  for (const fileMode of exposed) {
    test(`refuses a file of mode ${fileMode.toString(8)}`, async () => {
      place(text, fileMode)
      await assert.rejects(loadKeyFile(path), { code: 'key_file_exposed' })
    })
  }

  // Elsewhere files have no such modes; what is said there is tested below.
  test.runIf(posix)('takes one that its owner can only read', async () => {
    place(text, 0o400)
    assert.equal((await loadKeyFile(path)).pair.id, pair.id)
  })

  // biome-ignore format: a table is read by its columns
  const malformed: readonly (readonly [why: string, content: string])[] = [
    ['empty',                  ''],
    ['not JSON',               text.slice(0, 60)],
    ['a public key',           JSON.stringify({ ...privateJwk(pair), d: undefined })],
    ['halves of two keys',     JSON.stringify({ ...privateJwk(pair), x: generateKeyPair().publicKey })],
    ['much larger than a key', `${text}${' '.repeat(5_000)}`],
  ]
  for (const [why, content] of malformed) {
    test(`refuses what is ${why}, and shows nothing of it`, async () => {
      place(content)
      await assert.rejects(loadKeyFile(path), (error: Error & { code: string; detail: string }) => {
        const shown = `${error.stack} ${error.detail} ${String(error.cause)}`
        assert.equal(shown.includes(privateJwk(pair).d.slice(0, 8)), false)
        return error.code === 'key_file_malformed'
      })
    })
  }

  test('a missing one is missing', async () => {
    await assert.rejects(loadKeyFile(path), { code: 'key_file_missing' })
  })

  test('a directory is no key file', async () => {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    await assert.rejects(loadKeyFile(path), { code: 'key_file_malformed' })
  })

  test('F2 the path is for the operator, not in the message', async () => {
    await assert.rejects(loadKeyFile(path), (error: Error & { detail: string }) => {
      return !error.message.includes(home) && error.detail.includes(path)
    })
  })
})

test('L4 without POSIX modes nothing is checked, and that is said', async () => {
  place(text, 0o644)
  const kept = await loadKeyFile(path, { platform: 'win32' })
  assert.deepEqual([kept.guarded, kept.pair.id], [false, pair.id])
})

describe('L3 load or create', () => {
  test('creates once, then loads', async () => {
    const [first, second] = [await loadOrCreateKeyFile(path), await loadOrCreateKeyFile(path)]
    assert.deepEqual([first.created, second.created], [true, false])
    assert.equal(first.pair.id, second.pair.id)
  })

  test('does not replace a key that it may not read', async () => {
    if (!posix) return
    place(text, 0o644)
    await assert.rejects(loadOrCreateKeyFile(path), { code: 'key_file_exposed' })
  })

  test('twenty at once in one process get one key', async () => {
    const kept = await Promise.all(Array.from({ length: 20 }, () => loadOrCreateKeyFile(path)))
    assert.equal(new Set(kept.map((each) => each.pair.id)).size, 1)
    assert.equal(kept.filter((each) => each.created).length, 1)
    assert.deepEqual(readdirSync(join(home, 'inner')), ['agent.json'])
  })

  test('X-8 chance is handed in, and drafts with the same key do not collide', async () => {
    const options = { random: (size: number) => Buffer.alloc(size, 5) }
    const kept = await Promise.all([
      loadOrCreateKeyFile(path, options),
      loadOrCreateKeyFile(path, options),
    ])
    const expected = keyPairFromSeed(Buffer.alloc(32, 5)).id
    assert.deepEqual(
      kept.map((each) => each.pair.id),
      [expected, expected],
    )
  })

  test('processes that start together get one key', { timeout: 60_000 }, async () => {
    const source = new URL('./key-file.ts', import.meta.url).href
    const program = `
      const { loadOrCreateKeyFile } = await import(${JSON.stringify(source)})
      const kept = await loadOrCreateKeyFile(${JSON.stringify(path)})
      console.log(JSON.stringify([kept.pair.id, kept.created]))`
    const options = [
      '--conditions=chimera-source',
      '--import=tsx',
      '--input-type=module',
      '-e',
      program,
    ]
    const runs = Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, options))
    const kept = (await Promise.all(runs)).map(
      ({ stdout }) => JSON.parse(stdout) as [string, boolean],
    )
    assert.equal(new Set(kept.map(([id]) => id)).size, 1)
    assert.equal(kept.filter(([, created]) => created).length, 1)
  })
})

describe('L3 rotating', () => {
  const folder = () => readdirSync(join(home, 'inner')).sort()
  const retired = () => join(home, 'inner', `agent-${pair.id.slice(0, 8)}.json`)

  test('P-15 puts a new key in its place and keeps the old one beside it', async () => {
    await createKeyFile(path, pair)
    const rotated = await rotateKeyFile(path)
    assert.deepEqual([rotated.old.id, rotated.retired], [pair.id, retired()])
    assert.notEqual(rotated.next.id, pair.id)
    assert.equal((await loadKeyFile(path)).pair.id, rotated.next.id)
    assert.equal((await loadKeyFile(retired())).pair.id, pair.id)
    assert.equal(folder().length, 2)
  })

  test('goes on where one broke off', async () => {
    await createKeyFile(path, pair)
    linkSync(path, retired())
    const { next } = await rotateKeyFile(path)
    assert.equal((await loadKeyFile(path)).pair.id, next.id)
  })

  test('does not take the name of something else, and leaves no draft behind', async () => {
    await createKeyFile(path, pair)
    writeFileSync(retired(), text, { mode: 0o600 })
    await assert.rejects(rotateKeyFile(path), { code: 'key_file_exists' })
    assert.equal((await loadKeyFile(path)).pair.id, pair.id)
    assert.equal(folder().length, 2)
  })

  test('needs a key that is there', async () => {
    await assert.rejects(rotateKeyFile(path), { code: 'key_file_missing' })
  })
})
