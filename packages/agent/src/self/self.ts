/**
 * Who this is: the agent, by an id that it keeps for life, and the instance, by one for this run.
 *
 *   I1  The id is made once and kept beside the key; a file that names another id than the settings
 *       do is a mistake that is told, never settled by guessing.
 *   I2  Each run is an instance of its own: what an earlier one promised is not this one's.
 */
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import type { AgentId, InstanceId } from '@chimera/domain/ids'
import type { Chance } from '@chimera/host/chance'
import type { KeyPair } from '@chimera/identity/keys'
import { type Keys, keysInMemory, openKeys } from './keys.ts'

export type Self = {
  readonly agent: AgentId
  readonly instance: InstanceId
  readonly keys: Keys
  /** Where it keeps what it must know after a restart; absent: nowhere. */
  readonly directory?: string
}

export type SelfOptions = {
  /** Where key and id are kept; absent: nowhere, for tests and tries. */
  readonly directory?: string
  /** The agent's id, where it has one already. */
  readonly id?: string
  /** The agent's key, where it is kept elsewhere; only without a directory. */
  readonly key?: KeyPair
  readonly chance: Chance
}

/** Who one is cannot be told; the sentence says what to do. */
export class SelfError extends Error {
  override readonly name = 'SelfError'
  readonly code: 'id_malformed' | 'id_conflict' | 'id_unreadable'

  constructor(code: SelfError['code'], message: string) {
    super(message)
    this.code = code
  }
}

const ID_FILE = 'agent.json'
const KEY_FILE = 'key.json'

export async function openSelf({ directory, id, key, chance }: SelfOptions): Promise<Self> {
  if (id !== undefined && !isUuid(id)) {
    throw new SelfError('id_malformed', 'id: expected a uuid')
  }
  const wanted = id === undefined ? undefined : readUuid<AgentId>(id)
  const instance = chance.uuid() as InstanceId
  if (directory === undefined) {
    const agent = wanted ?? (chance.uuid() as AgentId)
    return { agent, instance, keys: keysInMemory(chance.bytes, key) }
  }
  // The key first: it refuses a directory that others can write.
  const keys = await openKeys(join(directory, KEY_FILE), chance.bytes)
  const agent = await keepId(directory, wanted ?? (chance.uuid() as AgentId), chance)
  if (wanted !== undefined && agent !== wanted) {
    const told = `id: the settings say ${wanted}, ${ID_FILE} in the agent's directory ${agent}`
    throw new SelfError('id_conflict', told)
  }
  return { agent, instance, keys, directory }
}

/** The id that is kept, or this one from now on. Of several that start at once, one wins. */
async function keepId(directory: string, made: AgentId, chance: Chance): Promise<AgentId> {
  const path = join(directory, ID_FILE)
  const known = await readId(path)
  if (known !== undefined) return known
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const draft = join(directory, `.${ID_FILE}.${chance.uuid()}`)
  await writeFile(draft, `${JSON.stringify({ agent_id: made })}\n`, { flag: 'wx', mode: 0o600 })
  try {
    await link(draft, path)
    return made
  } catch {
    // Somebody was faster: theirs is the id.
    return (await readId(path)) ?? made
  } finally {
    await unlink(draft)
  }
}

async function readId(path: string): Promise<AgentId | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    throw cause
  }
  const id = idIn(text)
  if (id === undefined) {
    throw new SelfError('id_unreadable', `${ID_FILE}: expected {"agent_id": "<uuid>"}`)
  }
  return id
}

function idIn(text: string): AgentId | undefined {
  try {
    const kept: unknown = JSON.parse(text)
    if (typeof kept !== 'object' || kept === null || !('agent_id' in kept)) return undefined
    const { agent_id: id } = kept
    return typeof id === 'string' && isUuid(id) ? readUuid<AgentId>(id) : undefined
  } catch {
    return undefined
  }
}
