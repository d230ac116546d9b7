/**
 * The files of a new agent: one skill, a test of it on a whole network in memory, and what it takes
 * to run both. A test of ours makes one, runs its test, starts it and hires it.
 */
export type Starter = {
  /** What the agent is called: `chimera-…`. */
  readonly name: string
  readonly owner: string
  /** Of the packages that it needs. */
  readonly version: string
}

export function starterFiles(starter: Starter): Readonly<Record<string, string>> {
  return {
    'skills.ts': skills(starter),
    'skills.test.ts': test,
    'package.json': manifest(starter),
    'tsconfig.json': tsconfig,
    'README.md': readme(starter),
    '.gitignore': ignored,
  }
}

const skills = ({ name, owner }: Starter): string =>
  `/** What this agent can do. \`npm run dev\` serves it, and anew after each change. */
import { type AgentOptions, defineSkill, Type } from '@chimera/agent'

export const wordCount = defineSkill({
  name: 'word_count',
  version: '1.0',
  description: 'Counts the words of a text.',
  price: 0.05,
  input: Type.Object({ text: Type.String({ maxLength: 100_000 }) }),
  output: Type.Object({ words: Type.Integer({ minimum: 0 }) }),
  timeout: '5s',
  run: async ({ text }, { progress }) => {
    const words = text.split(/\\s+/).filter((word) => word !== '')
    progress(1, 'counted')
    return { words: words.length }
  },
})

export default {
  name: ${quoted(name)},
  owner: ${quoted(owner)},
  skills: [wordCount],
} satisfies Partial<AgentOptions>
`

/** As a person would write it; what is unusual is escaped. */
const quoted = (text: string): string =>
  /^[\w .@-]*$/.test(text) ? `'${text}'` : JSON.stringify(text)

const test = `/**
 * The agent on a whole network in memory, under a clock that stands still: nothing to start.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createHarness, type Harness } from '@chimera/harness'
import { wordCount } from './skills.ts'

let network: Harness

before(async () => {
  network = await createHarness({ skills: [wordCount] })
})
after(() => network.close())

test('counts words, and is paid for it', async () => {
  const ann = await network.hirer('ann', { credits: 1 })
  const text = 'one  two three'
  const { output, cost } = await ann.hire('word_count', { text }, { budget: 0.1 })
  assert.deepEqual(output, { words: 3 })
  assert.equal(cost, 0.05)
  assert.equal(await ann.balance(), 0.95)
})

test('refuses what is no text', async () => {
  const ann = await network.hirer('ann')
  const asked = ann.hire('word_count', { text: 7 }, { budget: 0.1 })
  await assert.rejects(asked, { code: 'nobody_accepted' })
})
`

function manifest({ name, version }: Starter): string {
  return `${JSON.stringify(
    {
      name,
      version: '0.1.0',
      private: true,
      type: 'module',
      engines: { node: '>=20.19' },
      scripts: {
        start: 'chimera agent skills.ts',
        dev: 'chimera agent skills.ts --watch',
        test: 'node --import tsx --test skills.test.ts',
        types: 'tsc',
      },
      dependencies: { '@chimera/agent': `^${version}`, '@chimera/cli': `^${version}` },
      devDependencies: {
        '@chimera/harness': `^${version}`,
        '@types/node': '^20.19.0',
        tsx: '^4.23.0',
        typescript: '>=5.9',
      },
    },
    undefined,
    2,
  )}\n`
}

const tsconfig = `{
  "compilerOptions": {
    "target": "ES2023",
    "module": "NodeNext",
    "moduleResolution": "NodeNext",
    "types": ["node"],
    "strict": true,
    "noEmit": true,
    "allowImportingTsExtensions": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "skipLibCheck": true
  },
  "include": ["*.ts"]
}
`

const readme = ({ name, owner }: Starter): string => `# ${name}

An agent with one skill, \`word_count\`, in [skills.ts](skills.ts).

\`\`\`
npm install
npm test                  # on a network in memory, nothing to start
\`\`\`

On a network of your own, each in a terminal of its own:

\`\`\`
npx chimera hub           # a hub on this machine
npm run dev               # the agent, anew after each change
npx chimera hire word_count --input '{"text":"one two three"}' --budget 0.10 --owner ann
\`\`\`

## What next

- Another skill: export it from \`skills.ts\` and put it into \`skills\`. \`run\` gets the input as
  its schema says it, and a context with \`signal\`, \`progress\` and \`log\`.
- Another hub: \`npm start -- --hub https://hub.example.org --token-file ${owner}.token\`.
- Work that outlives a crash: \`npm start -- --keep ./work\`.
- What becomes of work: \`npx chimera work list --agent .chimera/${name}\`.

\`.chimera/\` holds the agent's key. Whoever has it speaks for the agent: keep it, and commit it
nowhere.
`

const ignored = `node_modules/
# The agent's key and what it keeps.
.chimera/
work/
*.token
`
