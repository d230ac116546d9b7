/** An operator's token that nobody saw is replaced by whoever runs the hub. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import { chimera, startHubProcess } from './command.ts'

const PATIENCE_MS = 180_000
const TOKEN = /^chm_operator_\S+$/m

test('chimera hub --new-operator-token shows another one, and only when asked', {
  timeout: PATIENCE_MS,
}, async () => {
  const home = await mkdtemp(join(tmpdir(), 'chimera-operator-'))
  const words = ['--listen', '127.0.0.1:0', '--data', join(home, 'data'), '--auth', 'required']
  const shownBy = async (...more: readonly string[]) => {
    const hub = await startHubProcess([...words, ...more])
    const { err } = await hub.stop()
    return TOKEN.exec(err)?.[0]
  }
  const first = await shownBy()
  assert.ok(first)
  assert.equal(await shownBy(), undefined)
  const second = await shownBy('--new-operator-token')
  assert.ok(second !== undefined && second !== first)

  const hub = await startHubProcess(words)
  const owners = async (token: string) => {
    const answer = await fetch(`${hub.address}/v1/owners`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ owner_id: 'somebody' }),
    })
    return answer.status
  }
  assert.deepEqual([await owners(second), await owners(`${second}x`)], [201, 401])
  await hub.stop()
  await rm(home, { recursive: true, force: true })
})

test('an open hub has no operator', { timeout: PATIENCE_MS }, async () => {
  const { status, err } = await chimera(['hub', '--new-operator-token'])
  assert.equal(status, 2)
  assert.match(err, /--auth required/)
})
