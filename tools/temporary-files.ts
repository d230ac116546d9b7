/**
 * Before the tests: gives them a place for temporary files in memory, where the machine has one
 * with room. Databases are a thousand small files each, and are made and thrown away by the
 * hundred. Nobody tests a power cut; a killed process finds its files there all the same.
 */
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const IN_MEMORY = '/dev/shm'
// What the tests of two workers have at once, with much to spare; a container often has 64 MB.
const ENOUGH_BYTES = 4 * 2 ** 30

export function setup(): (() => void) | undefined {
  if (process.env.TMPDIR !== undefined || roomIn(IN_MEMORY) < ENOUGH_BYTES) return undefined
  const place = mkdtempSync(join(IN_MEMORY, 'chimera-tests-'))
  // PostgreSQL does not run as root: what is in here must be reached by whoever it belongs to.
  chmodSync(place, 0o711)
  process.env.TMPDIR = place
  return () => rmSync(place, { recursive: true, force: true })
}

function roomIn(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    return 0
  }
}
