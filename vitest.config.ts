import { defineConfig } from 'vitest/config'

// Tests run on the sources: the condition below makes every `@chimera/…` import resolve to `src/`.
const conditions = ['chimera-source', 'import', 'default']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['{packages,conformance,examples,bench,tools}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
  },
})
