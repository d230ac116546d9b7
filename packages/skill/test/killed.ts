/**
 * A program that is killed by a test: one call has ended, another is in the middle. It keeps its
 * answers in the file that it is given.
 */
import { createClock } from '../src/clock.ts'
import { openFileAnswers } from '../src/file-answers.ts'
import { createRunner } from '../src/runner.ts'
import { hang, skillOf } from './stage.ts'

const path = process.argv[2] ?? ''
const answers = await openFileAnswers({ path, clock: createClock() })
const skill = skillOf(
  (input, context) => {
    if (context.key === 'ended') return { n: 1 }
    process.stdout.write('begun\n')
    return hang(input, context)
  },
  { idempotency: { once: true } },
)
const runner = createRunner({ skills: [skill], answers })
await runner.run(skill, { n: 1 }, { key: 'ended' })
await runner.run(skill, { n: 1 }, { key: 'begun' })
