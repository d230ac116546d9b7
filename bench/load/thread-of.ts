/** A thread that runs a module of the benchmarks, on every Node that we support. */
import { Worker } from 'node:worker_threads'

// A worker's own loader does not know `--import` on Node 20, so the thread registers it itself.
const BOOT = `
const { workerData } = require('node:worker_threads')
import('tsx/esm/api').then(({ register }) => {
  register()
  return import(workerData.module)
})
`

// As a hub has it that is started by `chimera`: three spaces of 64 MiB.
const YOUNG_MB = 192

/** `given` is what the module finds in `workerData.given`. */
export function threadOf(module: URL, given: unknown): Worker {
  return new Worker(BOOT, {
    eval: true,
    workerData: { module: module.href, given },
    execArgv: ['--conditions=chimera-testing'],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  })
}
