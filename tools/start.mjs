/**
 * `npm start`: without words the tour, with words the command line (`npm start -- hub --check`), from
 * the sources, so that a fresh clone needs no build. The words are those of `chimera`.
 */
const entry = process.argv.length > 2 ? '../packages/cli/src/main.ts' : '../examples/tour/main.ts'

await import(new URL(entry, import.meta.url).href)
