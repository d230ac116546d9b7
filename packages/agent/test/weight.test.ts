/** The package is light: what an author installs with it is counted and weighed. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MOST_PACKAGES = 80
const MOST_BYTES = 30 * 1024 * 1024
/** What must never come along: they are passed in. */
const HEAVY =
  /^(pg|kysely|pg-boss|@electric-sql\/.*|@nats-io\/.*|ai|viem|@chimera\/(hub|store|bus))$/

type Locked = {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

function readLock(): Readonly<Record<string, Locked>> {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  return lock.packages
}

/** Where Node finds it from there: beside, or further up. */
function find(packages: Readonly<Record<string, Locked>>, from: string, name: string) {
  if (name.startsWith('@chimera/')) return name.replace('@chimera/', 'packages/')
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    const place = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`
    const found = packages[place]
    if (found !== undefined) return place
    if (at === '') return undefined
  }
}

/** Our own packages say themselves what they need. */
function manifestOf(packages: Readonly<Record<string, Locked>>, place: string): Locked {
  if (!place.startsWith('packages/')) return packages[place] ?? {}
  return JSON.parse(readFileSync(join(ROOT, place, 'package.json'), 'utf8')) as Locked
}

function installed(): ReadonlySet<string> {
  const packages = readLock()
  const seen = new Set<string>()
  const line = ['packages/agent']
  for (let next = line.pop(); next !== undefined; next = line.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    const { dependencies = {}, optionalDependencies = {} } = manifestOf(packages, next)
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = find(packages, next, name)
      if (place !== undefined) line.push(place)
    }
  }
  return seen
}

/** Of our own packages what is published: the sources and what is built of them. */
function bytesIn(place: string): number {
  let bytes = 0
  for (const entry of readdirSync(place, { withFileTypes: true })) {
    const path = join(place, entry.name)
    if (entry.isDirectory()) bytes += entry.name === 'node_modules' ? 0 : bytesIn(path)
    else if (entry.isFile()) bytes += statSync(path).size
  }
  return bytes
}

test('at most 80 packages and 30 MB, and nothing heavy among them', () => {
  const places = [...installed()]
  const names = places.map((each) =>
    each.replace(/^.*node_modules\//, '').replace(/^packages\//, '@chimera/'),
  )
  assert.ok(names.includes('fastify') && names.includes('@chimera/skill'), names.join(' '))
  assert.deepEqual(
    names.filter((each) => HEAVY.test(each)),
    [],
  )
  assert.ok(places.length <= MOST_PACKAGES, `${places.length} packages`)
  const bytes = places.reduce((sum, each) => sum + bytesIn(join(ROOT, each)), 0)
  assert.ok(bytes <= MOST_BYTES, `${Math.round(bytes / 1024 / 1024)} MB`)
})
