/**
 * Runs the steps of a check: a few at a time, all of them whatever fails, and reports them in the
 * order in which they were listed, so that two runs read alike.
 *
 * @typedef {{ ok: boolean, output: string }} Outcome
 * @typedef {{ name: string, skip?: string, run: () => Promise<Outcome> }} Step
 *   `skip` is the reason why the step is not run.
 * @typedef {{ atOnce: number, now: () => number, print: (text: string) => void }} Hands
 */

/**
 * @param {readonly Step[]} steps
 * @param {Hands} hands
 * @returns {Promise<string[]>} the names of the steps that failed
 */
export async function runSteps(steps, { atOnce, now, print }) {
  /** @type {Map<Step, { ok: boolean, report: string }>} */
  const outcomes = new Map()
  const waiting = [...steps]
  const unprinted = [...steps]

  const work = async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) {
      outcomes.set(step, await runStep(step, now))
      // Whoever finishes prints what is next in order, as far as it is known.
      for (let [first] = unprinted; first && outcomes.has(first); [first] = unprinted) {
        print(outcomes.get(first)?.report ?? '')
        unprinted.shift()
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return steps.filter((step) => !outcomes.get(step)?.ok).map(({ name }) => name)
}

/**
 * @param {Step} step
 * @param {() => number} now
 */
async function runStep({ name, skip, run }, now) {
  if (skip) return { ok: true, report: `– ${name}: skipped, ${skip}` }
  const start = now()
  const { ok, output } = await run().catch((error) => ({ ok: false, output: String(error) }))
  const heading = `${ok ? '✓' : '✗'} ${name} (${((now() - start) / 1_000).toFixed(1)} s)`
  // What a step says when all is well is of no interest.
  return { ok, report: ok ? heading : `${heading}\n${indent(output)}` }
}

/** @param {string} output */
function indent(output) {
  return output
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
}
