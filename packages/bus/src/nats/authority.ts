/**
 * Who may let clients onto the broker. The broker is given an operator's word once, in its
 * configuration, and from then on believes grants that the hub signs; it needs no list of agents.
 *
 *   U1  The operator's and the account's seeds are needed only to write the configuration, and can
 *       be kept away from the network. A hub holds the signing seed alone.
 *   U2  A new signing key is a new configuration; a server that starts with it takes no grant of
 *       the old one. Streams belong to the account, and stay.
 */
import type { Instant } from '@chimera/domain/ids'
import { Failure } from '../failure.ts'
import { signClaims } from './claims.ts'
import { createNatsKey, type DrawBytes, isPublicKey, type NatsKey, readNatsKey } from './nkeys.ts'

/** Seeds, all secret. */
export type AuthoritySeeds = {
  readonly operator: string
  readonly account: string
  readonly system: string
  readonly signing: string
}

/** What a hub needs to give grants. */
export type Granter = { readonly account: string; readonly signingSeed: string }

export function createAuthority(draw: DrawBytes): AuthoritySeeds {
  return {
    operator: createNatsKey('operator', draw).seed,
    account: createNatsKey('account', draw).seed,
    system: createNatsKey('account', draw).seed,
    signing: createNatsKey('account', draw).seed,
  }
}

/** U2: everything as it was but for the key that signs grants. */
export function renewSigning(seeds: AuthoritySeeds, draw: DrawBytes): AuthoritySeeds {
  return { ...seeds, signing: createNatsKey('account', draw).seed }
}

/** Seeds as they were kept, or nothing. */
export function readAuthority(text: string): AuthoritySeeds | undefined {
  const { operator, account, system, signing } = parsed(text)
  try {
    return {
      operator: readNatsKey(String(operator), 'operator').seed,
      account: readNatsKey(String(account), 'account').seed,
      system: readNatsKey(String(system), 'account').seed,
      signing: readNatsKey(String(signing), 'account').seed,
    }
  } catch {
    // What was thrown may quote a seed.
    return undefined
  }
}

type Kept = { readonly [Name in keyof AuthoritySeeds]?: unknown }

function parsed(text: string): Kept {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

export function granterOf({ account, signing }: AuthoritySeeds): Granter {
  return { account: readNatsKey(account, 'account').publicKey, signingSeed: signing }
}

export function checkGranter({ account, signingSeed }: Granter): NatsKey {
  if (!isPublicKey(account, 'account')) throw new Failure('key_malformed', 'public key of account')
  return readNatsKey(signingSeed, 'account')
}

const UNLIMITED = -1
const PLAIN_LIMITS = {
  subs: UNLIMITED,
  data: UNLIMITED,
  payload: UNLIMITED,
  imports: UNLIMITED,
  exports: UNLIMITED,
  wildcards: true,
  conn: UNLIMITED,
  leaf: UNLIMITED,
}

export type AuthorityConfig = {
  readonly now: Instant
  /** Bytes on disk for all streams and buckets together. */
  readonly diskBytes: number
  /** Bytes of memory for readers and the like. */
  readonly memoryBytes: number
}

/** Lines for the server's configuration. They hold no secret. */
export function encodeServerConfig(seeds: AuthoritySeeds, config: AuthorityConfig): string {
  const { now, diskBytes, memoryBytes } = config
  const operator = readNatsKey(seeds.operator, 'operator')
  const account = readNatsKey(seeds.account, 'account').publicKey
  const system = readNatsKey(seeds.system, 'account').publicKey
  const signing = readNatsKey(seeds.signing, 'account').publicKey

  const operatorWord = signClaims({
    issuer: operator,
    subject: operator.publicKey,
    name: 'chimera',
    now,
    nats: { type: 'operator', system_account: system },
  })
  const accountWord = signClaims({
    issuer: operator,
    subject: account,
    name: 'network',
    now,
    nats: {
      type: 'account',
      signing_keys: [signing],
      limits: {
        ...PLAIN_LIMITS,
        mem_storage: memoryBytes,
        disk_storage: diskBytes,
        streams: UNLIMITED,
        consumer: UNLIMITED,
      },
    },
  })
  const systemWord = signClaims({
    issuer: operator,
    subject: system,
    name: 'system',
    now,
    nats: { type: 'account', limits: PLAIN_LIMITS },
  })
  return [
    `operator: ${operatorWord}`,
    `system_account: ${system}`,
    'resolver: MEMORY',
    'resolver_preload: {',
    `  ${account}: ${accountWord}`,
    `  ${system}: ${systemWord}`,
    '}',
    '',
  ].join('\n')
}
