/**
 * The files of the checkout that are ours to keep tidy: sources and manifests. What is installed,
 * built or generated is left out, since its generator is checked instead.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SourceFile } from './tidy/source.ts'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

const AREAS = ['packages', 'conformance', 'examples', 'bench', 'soak', 'tools']
const NOT_OURS = /(^|\/)(node_modules|dist|coverage|generated|\.[^/]+)(\/|$)/
const GENERATED = /^(packages\/dialects\/schemas|conformance\/vectors)(\/|$)/
const SOURCE = /\.[cm]?[jt]sx?$|(^|\/)package\.json$/

export function* readTree(root: string): Generator<SourceFile> {
  for (const each of readdirSync(root, { withFileTypes: true })) {
    if (each.isFile()) yield* readFile(root, each.name)
    else if (AREAS.includes(each.name)) yield* readFolder(root, each.name)
  }
}

function* readFolder(root: string, folder: string): Generator<SourceFile> {
  for (const each of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${each.name}`
    if (NOT_OURS.test(path) || GENERATED.test(path)) continue
    if (each.isDirectory()) yield* readFolder(root, path)
    else yield* readFile(root, path)
  }
}

function* readFile(root: string, path: string): Generator<SourceFile> {
  if (SOURCE.test(path)) yield { path, text: readFileSync(join(root, path), 'utf8') }
}
