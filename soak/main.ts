/**
 * `npm run soak -- [--minutes 10] [--every 3] [--servers | --database … --bus …] [--json]`: a
 * campaign every few seconds on a running fleet, a person who answers, and a verdict at the end.
 * Exit 1 where a promise was broken, 2 where it could not run. Ctrl-C ends it early, with a verdict
 * on what there was.
 */
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { loadCampaign } from '@chimera/cli/campaign-file'
import { createLiveLine } from '@chimera/cli/live-line'
import type { RunCampaignInput } from '@chimera/fleet'
import { startDrive } from './drive.ts'
import { examine } from './exam.ts'
import { createGauge } from './gauge.ts'
import { openStage } from './stage.ts'
import { judgeLeft, judgeMemory, type Row, renderRows } from './verdict.ts'
import { watch } from './watch.ts'

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    every: { type: 'string', default: '3' },
    database: { type: 'string' },
    bus: { type: 'string' },
    servers: { type: 'boolean', default: false },
    snapshots: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})

const BROKEN = 1
const COULD_NOT = 2
/** After the last campaign has begun: nothing that goes well is silent for so long. */
const PATIENCE_MS = 120_000
/** Where nobody looks at a line that is written anew, one in so often is enough. */
const PLAIN_MS = 15_000

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function positive(name: 'minutes' | 'every'): number {
  const figure = Number(flags[name])
  if (figure > 0) return figure
  throw new Error(`--${name}: a number above 0, not ${flags[name]}`)
}

/** The samples that the fleet ships. */
function samples(now: number): Promise<readonly RunCampaignInput[]> {
  const folder = new URL('../samples/campaigns/', import.meta.resolve('@chimera/fleet'))
  const names = ['town-square', 'tools-that-last', 'sleep-well-money']
  const files = names.map((name) => fileURLToPath(new URL(`${name}.yaml`, folder)))
  return Promise.all(files.map((file) => loadCampaign(file, { owner: 'fleet', now })))
}

function createShow(show: (text: string) => void): (text: string) => void {
  let last = 0
  return (text) => {
    if (!process.stderr.isTTY && Date.now() - last < PLAIN_MS) return
    last = Date.now()
    show(text)
  }
}

async function soak(): Promise<readonly Row[]> {
  const lastsMs = positive('minutes') * 60_000
  const everyMs = positive('every') * 1_000
  const line = createLiveLine(process.stderr)
  const early = new AbortController()
  process.once('SIGINT', () => early.abort())
  const { database, bus, servers, snapshots } = flags
  const onStep = (step: string): void => line.show(`${step}…`)
  const stage = await openStage({ database, bus, servers, onStep })
  const { hub, fleet, hirer, owner, asOperator, given } = stage
  try {
    const drive = startDrive({
      hub: stage.address,
      hirer,
      asFleet: owner.ask,
      samples: await samples(Date.now()),
      everyMs,
    })
    const { counts } = drive
    const parts = [hub, fleet, { name: 'hirer', gauge: createGauge() }]
    const series = await watch({
      parts,
      counts,
      lastsMs,
      now: Date.now,
      sleep,
      signal: early.signal,
      show: createShow(line.show),
      onMark: async (mark) => {
        if (snapshots === undefined) return
        for (const part of [hub, fleet]) {
          await part.ask('snapshot', `${snapshots}/${part.name}-${mark}.heapsnapshot`)
        }
      },
    })
    line.show('waiting for what is under way to end…')
    await drive.finish(PATIENCE_MS)
    const hands = { asHirer: hirer.ask, asFleet: owner.ask, hirer: hirer.owner, asOperator }
    const left = await examine({ ...hands, hub, fleet, sleep })
    await drive.close()
    const { begun, ended, said } = counts
    const driven = { begun, ended, given, approved: said.approves + said.edits }
    const memory = [...series].flatMap(([name, each]) => judgeMemory(name, each))
    return [...memory, ...judgeLeft(driven, left)]
  } finally {
    line.clear()
    await stage.close()
  }
}

try {
  const rows = await soak()
  console.log(flags.json ? JSON.stringify(rows, null, 2) : renderRows(rows))
  if (rows.some(({ ok }) => !ok)) process.exitCode = BROKEN
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = COULD_NOT
}
