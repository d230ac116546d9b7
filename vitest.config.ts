/**
 * How the tests run: on the sources, since the condition below makes every `@chimera/…` import
 * resolve to `src/`. Only what is started as a process of its own is built first.
 */
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const conditions = ['chimera-source']

// `npm run test:cluster`: each file has its own servers, which end with it, and the embedded suites
// would be the PostgreSQL ones once more.
const SERVED = process.env.CHIMERA_TEST_SERVED !== undefined

// Load other modules than the rest would, by the environment, so they have a process each.
const ALONE = ['packages/agent/test/served.test.ts']

const EMBEDDED = ['**/*-embedded.test.ts']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['{packages,conformance,examples,bench,soak,tools}/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**', ...ALONE, ...(SERVED ? EMBEDDED : [])],
          // The files of a worker share what they have loaded: loading it anew for each was a good
          // part of all tests. No module keeps state that passes from one to the next.
          isolate: SERVED,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
    globalSetup: ['tools/build-commands.ts', 'tools/temporary-files.ts'],
    // A good part of a test's time is a wait for a database, a broker or a browser, so three of
    // them share even two cores well.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    // Nothing is judged by how long it takes; this only ends what hangs, on a busy machine too.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
