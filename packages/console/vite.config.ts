/**
 * How the page is built: one script and one style with names that change with what is in them, to
 * be served under `/console/`. Nothing is inlined, since the page's policy forbids that.
 */
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const root = fileURLToPath(new URL('.', import.meta.url))

export default defineConfig({
  root,
  base: '/console/',
  resolve: { conditions: ['chimera-source', 'module', 'browser', 'production'] },
  build: {
    outDir: 'dist/page',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    reportCompressedSize: false,
  },
})
