/** What a file of the user's exports: TypeScript as it is written, or JavaScript. */
import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { explain, MISUSED, Trouble } from './trouble.ts'

const TYPED = ['.ts', '.mts', '.cts']
const MODULES = [...TYPED, '.js', '.mjs', '.cjs']

export const isModule = (path: string): boolean => MODULES.includes(extname(path))

export type Exported = Readonly<Record<string, unknown>>

export async function loadModule(path: string): Promise<Exported> {
  if (!existsSync(path)) throw new Trouble(`${path}: there is no such file.`, MISUSED)
  const address = pathToFileURL(resolve(path)).href
  try {
    if (!TYPED.includes(extname(path))) return await import(address)
    const { tsImport } = await import('tsx/esm/api')
    return unwrapped(await tsImport(address, import.meta.url))
  } catch (error) {
    throw new Trouble([`${path} cannot be loaded.`, explain(error)], MISUSED)
  }
}

/** Where no package.json says that modules are meant, all that is exported comes as the default. */
function unwrapped(loaded: Exported): Exported {
  const whole: Exported = Object(loaded.default)
  return whole[WRAPPED] === true ? whole : loaded
}

const WRAPPED = '__esModule'
