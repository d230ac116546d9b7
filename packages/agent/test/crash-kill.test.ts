/**
 * An agent process that is killed (SIGKILL) at a seeded moment in the middle of several jobs, and
 * started again: each job ends once and is paid once, whichever way its work is kept.
 *
 * CHIMERA_CRASH_SEEDS says how many kills; a failure is replayed with SEED=….
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSeededChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import type { Party } from '@chimera/hub/testing/hiring'
import { createHolding, type Holding } from '@chimera/hub/testing/holding'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { fillMigrated } from '@chimera/store/testing/embedded'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { readyBundle, testProgram } from '@chimera/tools/bundle'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { freePort } from './cutting.ts'
import type { Mortal } from './mortal.ts'
import { type Body, call, job, until } from './serving.ts'

// Who ends soon never earns back what it costs to optimise the embedded database.
const SHORT_LIVED = '--liftoff-only'
const SEED = Number(process.env.SEED ?? 1)
const KILLS = Number(process.env.CHIMERA_CRASH_SEEDS ?? 10)
const JOBS = 4
// From the first ask to the last word of the results this takes some tens of milliseconds.
const WITHIN_MS = 120

let hub: TestHub
let on: Holding
let hirer: Party
let server: PostgresServer
let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'chimera-mortal-'))
  server = await startPostgres()
  hub = await runHub({ auth: 'required', allowNet: ['127.0.0.1'] })
  on = createHolding(hub, createClock())
  hirer = await on.newParty()
}, 120_000)
afterAll(async () => {
  await hub?.stop()
  await server?.stop()
  await rm(home, { recursive: true, force: true })
})

const ways: readonly {
  readonly name: string
  /** Of all kills: the quicker a process starts, the more. */
  readonly share: number
  /** On a server a claim of the dead is only over when nobody could be at it any more. */
  readonly skills: readonly string[]
  readonly keep: () => Promise<Mortal['keep']>
}[] = [
  {
    name: 'in files',
    share: 0.5,
    skills: ['copy', 'pay'],
    keep: async () => ({ files: join(home, 'files') }),
  },
  {
    name: 'on PostgreSQL',
    share: 0.3,
    skills: ['copy'],
    keep: async () => ({ database: await server.newAddress() }),
  },
  {
    name: 'in the embedded database',
    share: 0.2,
    skills: ['copy', 'pay'],
    keep: async () => {
      const database = join(home, 'embedded')
      await mkdir(database)
      await fillMigrated(database)
      return { database }
    },
  },
]

async function startMortal(mortal: Mortal): Promise<ChildProcess> {
  const script = await readyBundle(testProgram(new URL('mortal.ts', import.meta.url)))
  const child = spawn(process.execPath, [SHORT_LIVED, script, JSON.stringify(mortal)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  assert.equal(String(said), 'ready\n')
  return child
}

describe(`killed in the middle of its work (SEED=${SEED})`, () => {
  for (const [at, { name, share, skills, keep }] of ways.entries()) {
    const kills = Math.max(1, Math.round(KILLS * share))
    test(`P-3 P-4 ${name}, ${kills} times`, { timeout: 60_000 + kills * 10_000 }, async () => {
      const { fraction } = createSeededChance(SEED * 1_000 + at)
      const { owner, token } = await on.newOwner()
      const port = await freePort()
      const runs = join(home, `runs-${at}`)
      await writeFile(runs, '')
      const mortal: Mortal = {
        hub: hub.address,
        owner,
        token,
        directory: join(home, `self-${at}`),
        port,
        runs,
        keep: await keep(),
      }
      await mkdir(mortal.directory, { mode: 0o700 })
      let child = await startMortal(mortal)
      const { agent_id } = JSON.parse(await readFile(join(mortal.directory, 'agent.json'), 'utf8'))
      const onceOnly = new Set<string>()
      const post = (body: Body) => call(`http://127.0.0.1:${port}/jobs`, { body })

      for (let kill = 1; kill <= kills; kill += 1) {
        const jobs: Body[] = []
        for (let count = 0; count < JOBS; count += 1) {
          const body = job({ skill_name: skills[count % skills.length] })
          body.input_data = { text: body.job_id }
          if (body.skill_name === 'pay') onceOnly.add(String(body.job_id))
          jobs.push(body)
          const held = {
            agent_id,
            task_id: body.job_id,
            amount: 0.05,
            expires_at: on.at(3_600_000),
          }
          assert.equal((await on.place({ token: hirer.token }, held)).status, 201)
        }
        const first = jobs.map((each) => post(each).catch(() => undefined))
        await sleep(fraction() * WITHIN_MS)
        child.kill('SIGKILL')
        await once(child, 'exit')
        const told = await Promise.all(first)
        child = await startMortal(mortal)
        for (const [index, body] of jobs.entries()) {
          const again = await post(body)
          const about = `kill ${kill}: ${JSON.stringify(again.body)}`
          assert.deepEqual([again.status, again.body.status], [200, 'SUCCESS'], about)
          if (told[index]?.status === 200) {
            assert.deepEqual(again.body.output_data, told[index].body.output_data)
          }
        }
        await until(async () => {
          const states = await Promise.all(
            jobs.map((each) => on.work(String(each.job_id), { token: hirer.token })),
          )
          return states.every(({ body }) => body.state === 'settled')
        })
      }
      child.kill('SIGTERM')
      assert.deepEqual(await once(child, 'exit'), [0, null])

      const paid = (kills * JOBS * 5) / 100
      const { body } = await on.send(`/accounts/${owner}`, { token })
      assert.equal(body.balance, Math.round((100 + paid) * 100) / 100)
      const lines = (await readFile(runs, 'utf8')).split('\n').filter((line) => line !== '')
      assert.equal(new Set(lines).size, kills * JOBS)
      for (const line of lines) {
        const times = lines.filter((each) => each === line).length
        // Killed once, a job that may be repeated has run twice at most.
        assert.ok(times <= (onceOnly.has(line) ? 1 : 2), `${line} ran ${times} times`)
      }
    })
  }
})
