/**
 * What can keep a hub from running, looked at one by one. Nothing is changed, and nothing stops at
 * the first finding.
 *
 *   C1  `bad` is what a hub would not start with. `note` is worth knowing, and no obstacle alone.
 *   C2  Whatever is bad comes with what to do about it.
 */
import { constants, existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, resolve } from 'node:path'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Database } from '@chimera/store/engine/database'
import { lockDirectory } from '@chimera/store/engine/lock'
import { openDatabase } from '@chimera/store/engine/open'
import { hasCode } from '@chimera/store/failure'
import { inspectSchema, type SchemaState } from '@chimera/store/migrate'
import { within } from './patience.ts'
import { type HubValues, isEmbedded } from './storage.ts'
import { codeOf, explain } from './trouble.ts'

export type Finding = {
  readonly what: string
  readonly state: 'ok' | 'note' | 'bad'
  readonly found: string
  readonly next?: string
}

type Now = () => Instant

const OLDEST_NODE = [20, 19] as const
const OLDEST_POSTGRES = 150_000
// This version was not there before; a clock that says so is wrong.
const EARLIEST = Date.UTC(2026, 0, 1)
const LATEST = Date.UTC(2100, 0, 1)
// On the same machine an answer comes at once.
const PATIENCE_MS = 2_000

export async function runChecks(settings: HubValues, now: Now): Promise<readonly Finding[]> {
  const { host, port } = settings.listen
  const ports: Finding[] = []
  for (const each of [port, ...settings.extraPorts]) ports.push(await checkPort(host, each))
  return [
    checkNode(process.versions.node),
    checkClock(now()),
    ...ports,
    ...(settings.database === undefined
      ? await checkEmbedded(settings.data)
      : await checkServer(settings.database, now)),
  ]
}

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = OLDEST_NODE
  const fits = major > leastMajor || (major === leastMajor && minor >= leastMinor)
  if (fits) return { what: 'node', state: 'ok', found: version }
  const next = `Install Node ${OLDEST_NODE.join('.')} or newer.`
  return { what: 'node', state: 'bad', found: version, next }
}

export function checkClock(now: Instant): Finding {
  const found = Number.isFinite(now) ? new Date(now).toISOString() : 'no time'
  if (now > EARLIEST && now < LATEST) return { what: 'clock', state: 'ok', found }
  const next = 'Set the clock of this machine: signatures, holds and offers end by it.'
  return { what: 'clock', state: 'bad', found, next }
}

async function checkPort(host: string, port: number): Promise<Finding> {
  const what = `port ${port}`
  const refused = await tryListening(host, port)
  if (refused === undefined) return { what, state: 'ok', found: `free on ${host}` }
  if (refused !== 'EADDRINUSE') {
    const next = 'Name an address of this machine, and a port that you may open, with --listen.'
    return { what, state: 'bad', found: `${host} cannot be listened on (${refused})`, next }
  }
  if (await isHub(host, port)) return { what, state: 'note', found: 'a hub answers there already' }
  const next = 'Stop that program, or name another port with --listen (--extra-ports).'
  return { what, state: 'bad', found: `another program has it on ${host}`, next }
}

/** The code of what went wrong; nothing when it is free. */
/** Whether a server can listen there now. */
export const isFree = async (host: string, port: number): Promise<boolean> =>
  (await tryListening(host, port)) === undefined

function tryListening(host: string, port: number): Promise<string | undefined> {
  return new Promise((settle) => {
    const server = createServer()
    server.once('error', (error) => settle(codeOf(error) ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => settle(undefined)))
  })
}

async function isHub(host: string, port: number): Promise<boolean> {
  const place = host.includes(':') ? `[${host}]` : host
  try {
    return await within(PATIENCE_MS, async (signal) => {
      const answer = await fetch(`http://${place}:${port}/health`, { signal, redirect: 'error' })
      return (await answer.text()).includes('chimera-hub')
    })
  } catch {
    return false
  }
}

async function checkEmbedded(directory: string): Promise<readonly Finding[]> {
  const what = 'data'
  try {
    if (!existsSync(directory)) return [await checkPlace(directory)]
    if (!isEmbedded(directory)) {
      await (await lockDirectory(directory)).release()
      return [{ what, state: 'ok', found: `${directory} is free, and has no database yet` }]
    }
    const database = await openDatabase(`pglite:${directory}`)
    try {
      const here: Finding = { what, state: 'ok', found: `${directory} is free, and opens` }
      return [here, await checkSchema(database)]
    } finally {
      await database.close()
    }
  } catch (error) {
    if (hasCode(error, 'directory_locked')) {
      const next = 'If that is your hub, all is well. One process at a time can have it.'
      return [{ what, state: 'note', found: error.detail, next }]
    }
    return [failed(what, error)]
  }
}

/** A directory that is still to be made, by whoever may write where it will be. */
async function checkPlace(directory: string): Promise<Finding> {
  let parent = dirname(resolve(directory))
  while (!existsSync(parent)) parent = dirname(parent)
  try {
    await access(parent, constants.W_OK)
    return { what: 'data', state: 'ok', found: `${directory} will be made by the first hub` }
  } catch {
    const next = `Give this user the right to write in ${parent}, or name another with --data.`
    return { what: 'data', state: 'bad', found: `${directory} cannot be made`, next }
  }
}

async function checkServer(address: string, now: Now): Promise<readonly Finding[]> {
  const what = 'database'
  try {
    const database = await openDatabase(address, { connections: 1 })
    try {
      return [
        await checkVersion(database),
        await checkSchema(database),
        await checkServerClock(database, now),
      ]
    } finally {
      await database.close()
    }
  } catch (error) {
    return [failed(what, error)]
  }
}

async function checkVersion(database: Database): Promise<Finding> {
  const [row] = await database.query<{ number: string; shown: string }>(
    `SELECT current_setting('server_version_num') AS number,
       current_setting('server_version') AS shown`,
  )
  const found = `PostgreSQL ${row?.shown ?? '?'} answers`
  if (Number(row?.number) >= OLDEST_POSTGRES) return { what: 'database', state: 'ok', found }
  return { what: 'database', state: 'bad', found, next: 'Use PostgreSQL 15 or newer.' }
}

async function checkSchema(database: Database): Promise<Finding> {
  const state = await inspectSchema(database)
  const { version, pending, unknown } = state
  const what = 'schema'
  if (isNewer(state)) {
    const next = 'Run the version that migrated it, or a newer one.'
    return { what, state: 'bad', found: `at step ${version}, of a newer version`, next }
  }
  if (pending.length > 0) {
    const found = version === 0 ? 'empty' : `at step ${version}, ${pending.length} to take`
    const next = 'A hub takes the steps when it starts; `chimera store migrate` does it now.'
    return { what, state: 'note', found, next }
  }
  const newer = unknown.length > 0 ? ', with harmless steps of a newer version' : ''
  return { what, state: 'ok', found: `up to date, at step ${version}${newer}` }
}

const isNewer = ({ unknown }: SchemaState) => unknown.some(({ breaking }) => breaking)

async function checkServerClock(database: Database, now: Now): Promise<Finding> {
  const asked = now()
  const [row] = await database.query<{ at: number }>(
    `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at`,
  )
  // It was read somewhere between asking and hearing.
  const apartMs = Math.round(Math.abs((row?.at ?? 0) - (asked + now()) / 2))
  const what = 'clocks'
  const found = `this machine and the database are ${apartMs} ms apart`
  if (apartMs <= LIMITS.skewMs) return { what, state: 'ok', found }
  return { what, state: 'bad', found, next: 'Let both machines follow the same time (NTP).' }
}

function failed(what: string, error: unknown): Finding {
  const [found = '', ...rest] = explain(error).split('\n')
  return { what, state: 'bad', found, ...(rest.length > 0 && { next: rest.join(' ') }) }
}
