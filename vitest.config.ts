/**
 * How the tests run: on the sources, since the condition below makes every `@chimera/…` import
 * resolve to `src/`, so that nothing needs to be built first.
 */
import { defineConfig } from 'vitest/config'

const conditions = ['chimera-source']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['{packages,conformance,examples,bench,tools}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
  },
})
