/**
 * File and folder names: one lower-case word, or two with a hyphen, that say what is inside.
 *
 * A number in front is allowed where it is an order (`examples/01-hello-agent`, migrations). An
 * `index.ts` is a barrel, which hides where things are; only the front doors of a dialect and of
 * the packages of the agent, the fleet and the harness are such.
 */
import { basename, dirname } from 'node:path'
import type { Finding } from './source.ts'

const SAYS_NOTHING = /^(utils?|helpers?|common|misc|manager|base|impl|types?|shared|lib)$/
const ONE_OR_TWO_WORDS = /^[a-z][a-z0-9]*(-[a-z0-9]+)?$/
const ENDINGS = /(\.(test|config|d))?\.[cm]?[jt]sx?$/
const ORDERED = /^(examples|packages\/[^/]+\/src(\/.+)?\/?migrations)(\/|$)/
/** The ten skills go by the names that their document gives them. */
const SKILL_NAME = /^[a-z]+(-[a-z]+){1,2}$/
const FRONT_DOOR = /^packages\/(dialects\/src\/[^/]+|(agent|fleet|harness)\/src)\/index\.ts$/

export function inspectNaming(path: string): Finding[] {
  const folders = dirname(path)
    .split('/')
    .filter((each) => each !== '.')
  const words = [...folders, basename(path).replace(ENDINGS, '')]
  const advices = words.map((word, index) => {
    const inside = words.slice(0, index).join('/')
    return wrongWith(ORDERED.test(inside) ? word.replace(/^\d+-/, '') : word, inside)
  })
  const barrel = basename(path) === 'index.ts' && !FRONT_DOOR.test(path)
  return [...advices, barrel ? 'no index.ts here: import from the file itself' : undefined]
    .filter((advice) => advice !== undefined)
    .map((advice) => ({ at: 0, rule: 'naming', advice }))
}

function wrongWith(word: string, inside: string): string | undefined {
  if (SAYS_NOTHING.test(word)) return `"${word}" says nothing: name it after what is inside`
  // An example's folder is a title, and may have more words.
  const titled = inside === 'examples' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(word)
  const skill = inside === 'packages/skills/src' && SKILL_NAME.test(word)
  if (titled || skill || ONE_OR_TWO_WORDS.test(word)) return undefined
  return `"${word}": use one lower-case word, or two with a hyphen`
}
