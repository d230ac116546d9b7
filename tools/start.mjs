/**
 * `npm start`: without a verb the whole network (`chimera up`), with one that command
 * (`npm start -- review list`). The words are those of `chimera`. A fresh clone needs no compiler:
 * the command is made of the sources, and the page is built.
 */
import { pathToFileURL } from 'node:url'
import { commandLine, readyBundle } from './bundle.mjs'
import { readyPage } from './page.mjs'

const [first = '', ...others] = process.argv.slice(2)
const isVerb =
  first !== '' && (!first.startsWith('-') || ['--help', '-h', '--version'].includes(first))
const words = isVerb ? [first, ...others] : ['up', ...process.argv.slice(2)]
process.argv.splice(2, process.argv.length, ...words)

// The one part that no browser can take from the sources.
if (['up', 'hub'].includes(words[0] ?? '')) readyPage()

await import(pathToFileURL(await readyBundle(commandLine('sources'))).href)
