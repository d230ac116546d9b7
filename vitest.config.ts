/**
 * How the tests run: on the sources, since the condition below makes every `@chimera/…` import
 * resolve to `src/`. Only what is started as a process of its own is built first.
 */
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const conditions = ['chimera-source']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['{packages,conformance,examples,bench,tools}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['tools/build-commands.ts', 'tools/temporary-files.ts'],
    // The files of a worker share what they have loaded: loading it anew for each was a good part
    // of all tests. No module of ours keeps state of its own, so nothing passes between them.
    isolate: false,
    // Most of a test's time is a wait for a database, so two of them share even one core well.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Nothing is judged by how long it takes; this only ends what hangs, on a busy machine too.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
