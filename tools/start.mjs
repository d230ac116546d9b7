/**
 * `npm start`: without a verb the whole network (`chimera up`), with one that command
 * (`npm start -- review list`), from the sources, so that a fresh clone needs no build but that of
 * the page. The words are those of `chimera`.
 */
import { readyPage } from './page.mjs'

const [first = '', ...others] = process.argv.slice(2)
const isVerb =
  first !== '' && (!first.startsWith('-') || ['--help', '-h', '--version'].includes(first))
const words = isVerb ? [first, ...others] : ['up', ...process.argv.slice(2)]
process.argv.splice(2, process.argv.length, ...words)

// The one part that no browser can take from the sources.
if (['up', 'hub'].includes(words[0] ?? '')) readyPage()

await import(new URL('../packages/cli/src/main.ts', import.meta.url).href)
