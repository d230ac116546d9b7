/**
 * The embedded engine's code, compiled once for all databases of a process: compiling is most of
 * what opening one costs, and threads can share what was compiled.
 */
import { readFile } from 'node:fs/promises'

// Node has it, and its types of this version do not say so.
declare const WebAssembly: { readonly compile: (bytes: Uint8Array) => Promise<Compiled> }
type Compiled = { readonly [Symbol.toStringTag]: 'WebAssembly.Module' }

export type PgliteCode = {
  readonly pgliteWasmModule: Compiled
  readonly initdbWasmModule: Compiled
}

export const pgliteCode = onFirstUse(compileAll)

/** Code does not change while a process runs, so this is a constant that comes late. */
function onFirstUse<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make()
    return made
  }
}

async function compileAll(): Promise<PgliteCode> {
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all([
    compile('pglite.wasm'),
    compile('initdb.wasm'),
  ])
  return { pgliteWasmModule, initdbWasmModule }
}

/** The files lie beside the module that would load them itself. */
async function compile(file: string): Promise<Compiled> {
  const entry = import.meta.resolve('@electric-sql/pglite')
  return WebAssembly.compile(await readFile(new URL(file, entry)))
}
