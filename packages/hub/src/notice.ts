/**
 * What hubs of one database tell each other: posts and observations that one of them has proven
 * and kept, heartbeats, what is to be read from the database, and how far the trail is sealed.
 *
 *   N1  A notice is signed by the key that the hubs share, so whoever else can speak at the broker
 *       cannot put anything into their directories. Open hubs have no key, and believe all.
 *   N2  It can come twice, late or in the wrong order: what it says is ordered by the times in it.
 *   N3  A notice of a later version may say more; what is not understood is passed over.
 */
import type { AgentId, Instant } from '@chimera/domain/ids'
import { SIGNATURE_BYTES, signBytes, verifyBytes } from '@chimera/identity/ed25519'
import { type KeyPair, readVerifyingKey } from '@chimera/identity/keys'
import type { Topic } from './ports/bus.ts'
import type { Noted } from './ports/carrier.ts'

/** What was taken in, as the dialect writes it, and when. */
export type Told = { readonly topic: Topic; readonly at: Instant; readonly message: object }

export type Notice = {
  /** The hub that says it. */
  readonly by: string
  readonly told: readonly Told[]
  readonly beats: readonly (readonly [agent: AgentId, at: Instant])[]
  /** Kept anew: names only, for what is said under them is read. */
  readonly noted: readonly Noted[]
  /** The last sealed fact that it has seen. */
  readonly sealed: number
  /** Something is in the trail that may not be sealed yet. */
  readonly changed: boolean
}

/** The part of a notice that is written when it happens: each of `told` as JSON. */
export type Draft = Omit<Notice, 'told'> & { readonly told: readonly string[] }

// So that no other thing that the hub signs can be taken for a notice.
const MEANS = Buffer.from('chimera.hub.notice\n')
const UNSIGNED = new Uint8Array(SIGNATURE_BYTES)

export function encodeNotice(draft: Draft, key: KeyPair | undefined): Uint8Array {
  const { by, told, ...rest } = draft
  // Whose it is comes first, so that a hub passes over its own at a glance.
  const frame = JSON.stringify({ by, ...rest }).slice(0, -1)
  const body = Buffer.from(`${frame},"told":[${told.join(',')}]}`)
  const signature = key === undefined ? UNSIGNED : signBytes(Buffer.concat([MEANS, body]), key)
  return Buffer.concat([signature, body])
}

/**
 * Whether it says that it is of this hub, which then need not prove or read it. Whoever forges that
 * has said nothing to the hub, and nothing else to the others.
 */
export function isNoticeBy(bytes: Uint8Array, by: string): boolean {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const own = `{"by":${JSON.stringify(by)}`
  return head.toString('latin1', SIGNATURE_BYTES, SIGNATURE_BYTES + own.length) === own
}

/** Undefined for what no hub of this key has said. */
export function createNoticeReader(
  key: KeyPair | undefined,
): (bytes: Uint8Array) => Notice | undefined {
  const verifying = key && readVerifyingKey(key.publicKey)
  return (bytes) => {
    if (bytes.length <= SIGNATURE_BYTES) return undefined
    const signature = bytes.subarray(0, SIGNATURE_BYTES)
    const body = bytes.subarray(SIGNATURE_BYTES)
    const proven =
      verifying === undefined || verifyBytes(Buffer.concat([MEANS, body]), signature, verifying)
    return proven ? read(body) : undefined
  }
}

type Shape = { readonly [Field in keyof Notice]?: unknown }

function read(body: Uint8Array): Notice | undefined {
  const value = parsed(body)
  if (typeof value !== 'object' || value === null) return undefined
  const { by, told, beats, noted, sealed, changed }: Shape = value
  if (typeof by !== 'string') return undefined
  return {
    by,
    told: listIn(told).flatMap((each) => toldIn(each) ?? []),
    beats: listIn(beats).flatMap((each) => (isBeat(each) ? [each] : [])),
    noted: listIn(noted).flatMap((each) => notedIn(each) ?? []),
    sealed: typeof sealed === 'number' ? sealed : 0,
    changed: changed === true,
  }
}

function toldIn(value: unknown): Told | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { topic, at, message }: { readonly [Field in keyof Told]?: unknown } = value
  if (!isTopic(topic) || typeof at !== 'number') return undefined
  return typeof message === 'object' && message !== null ? { topic, at, message } : undefined
}

function isBeat(value: unknown): value is readonly [AgentId, Instant] {
  return Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number'
}

function notedIn(value: unknown): Noted | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { kind, subject }: { readonly [Field in keyof Noted]?: unknown } = value
  if (kind !== 'status' && kind !== 'rumour' && kind !== 'score') return undefined
  return typeof subject === 'string' ? { kind, subject } : undefined
}

function isTopic(value: unknown): value is Topic {
  return (
    value === 'presence' || value === 'capability' || value === 'identity' || value === 'status'
  )
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8'))
  } catch {
    return undefined
  }
}
