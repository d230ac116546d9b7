/**
 * `npm run bench -- [name …] [--list] [--quick] [--json] [--assert]`: runs the benchmarks beside
 * this file, all of them or those named. A missed target is news and not an error, unless asked for
 * with `--assert` (exit 1); a benchmark that cannot run is one (exit 2).
 */
import { readdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Benchmark, FULL, measure, QUICK, type Result } from './frame.ts'
import { type Machine, renderReport } from './report.ts'

const FRAME = ['main', 'frame', 'report']

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    assert: { type: 'boolean', default: false },
  },
})

function namesHere(): string[] {
  return readdirSync(fileURLToPath(new URL('.', import.meta.url)))
    .filter((file) => /^[a-z0-9-]+\.ts$/.test(file))
    .map((file) => file.slice(0, -'.ts'.length))
    .filter((name) => !FRAME.includes(name))
    .sort()
}

async function load(name: string): Promise<Benchmark> {
  const loaded: { benchmark?: Benchmark } = await import(`./${name}.ts`)
  if (loaded.benchmark?.name === name) return loaded.benchmark
  throw new Error(`bench/${name}.ts exports no \`benchmark\` of that name`)
}

function machineHere(): Machine {
  const processors = cpus()
  return {
    date: new Date().toISOString(),
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    cpu: processors[0]?.model.trim() ?? 'unknown processor',
    cores: processors.length,
  }
}

async function run(names: readonly string[]): Promise<void> {
  const results: Result[] = []
  for (const name of names) {
    try {
      const pace = options.quick ? QUICK : FULL
      results.push(await measure(await load(name), pace, () => performance.now()))
    } catch (error) {
      console.error(`${name} could not run:`, error)
      process.exitCode = 2
    }
  }
  const report = { machine: machineHere(), quick: options.quick, results }
  console.log(options.json ? JSON.stringify(report, null, 2) : renderReport(report))
  const missed = results.some(({ met }) => !met)
  if (options.assert && missed) process.exitCode ??= 1
}

async function list(names: readonly string[]): Promise<void> {
  const all = await Promise.all(names.map(load))
  const rows = all.map(({ name, method, target }) => ({ name, method, target }))
  if (options.json) console.log(JSON.stringify(rows, null, 2))
  else for (const { name, method } of rows) console.log(`${name}\n  ${method}`)
}

const names = namesHere()
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`No such benchmark: ${unknown.join(', ')}. There are: ${names.join(', ')}`)
  process.exitCode = 2
} else {
  const chosen = wanted.length > 0 ? wanted : names
  await (options.list ? list(chosen) : run(chosen))
}
