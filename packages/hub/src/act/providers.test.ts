/** Providers are tried when somebody asks, once for all who ask together. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { createProviders } from './providers.ts'

const works = { what: 'MCP news', state: 'works', found: 'three tools' } as const

test('Y1 what was found last is shown; anew it is tried again, once for all who wait', async () => {
  let tried = 0
  const providers = createProviders(
    async () => {
      tried += 1
      return [works]
    },
    () => tried * 10,
  )
  assert.deepEqual(await providers.last(), { providers: [works], at: 10 })
  await providers.last()
  assert.equal(tried, 1)
  await Promise.all([providers.anew(), providers.anew()])
  assert.deepEqual([tried, (await providers.last()).at], [2, 20])
})

test('Y2 X-5 names neither secrets nor places of the inside', async () => {
  const next = 'Look at http://10.0.0.7:4600/?token=chm_owner_0123456789abcdef0123456789abcdef'
  const providers = createProviders(
    async () => [{ ...works, next }],
    () => 1,
  )
  const text = JSON.stringify(await providers.last())
  assert.doesNotMatch(text, /10\.0\.0\.7|0123456789/)
})

test('Y3 a hub without a fleet knows of none', async () => {
  assert.deepEqual(await createProviders(undefined, () => 1).last(), { providers: [] })
})
