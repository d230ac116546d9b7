/**
 * An agent for the tests that kill it: where it keeps its work, who it is and where it listens are
 * its arguments. Each run of a skill leaves a line in a file, before and apart from all that the
 * agent keeps.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openAgentStore } from '@chimera/store/agents'
import { createAgent, defineSkill, openFileKeep, Type } from '../src/index.ts'

export type Mortal = {
  readonly hub: string
  readonly owner: string
  readonly token: string
  readonly directory: string
  readonly port: number
  /** Every run leaves its line here. */
  readonly runs: string
  readonly keep: { readonly files: string } | { readonly database: string }
}

// Under half a second, so that a test does not wait long for the lease of a dead one.
const LEASE_MS = 400

async function live({ hub, owner, token, directory, port, runs, keep }: Mortal): Promise<void> {
  const shape = Type.Object({ text: Type.String() })
  const terms = {
    version: '1.0',
    price: 0.05,
    timeout: '20s',
    input: shape,
    output: shape,
  } as const
  const run = async ({ text }: { text: string }) => {
    appendFileSync(runs, `${text}\n`)
    await sleep(5)
    return { text }
  }
  const hasRun = (text: string) => readFileSync(runs, 'utf8').split('\n').includes(text)
  const kept =
    'files' in keep
      ? await openFileKeep({ directory: keep.files })
      : await openAgentStore({ database: keep.database, leaseMs: LEASE_MS })
  const agent = createAgent({
    name: 'chimera-mortal',
    hub,
    owner,
    token,
    directory,
    listen: { port },
    slots: 3,
    log: 'silent',
    skills: [
      defineSkill({ ...terms, name: 'copy', run }),
      defineSkill({
        ...terms,
        name: 'pay',
        run,
        idempotency: {
          once: true,
          reconcile: ({ text }) =>
            hasRun(text) ? { is: 'done', output: { text } } : { is: 'not_done' },
        },
      }),
    ],
    ...kept,
  })
  await agent.start()
  process.stdout.write('ready\n')
}

await live(JSON.parse(process.argv[2] ?? ''))
