/**
 * What a hub hands to an agent so that it may speak on the bus (AV-12): a grant for one key, for
 * named subjects, for minutes.
 *
 *   G1  A grant is no secret: it is worth something only to the holder of the key that it names.
 *       The key is made for the connection, and is never the agent's own: a broker chooses what is
 *       signed with it.
 *   G2  It ends by itself. The broker cuts the connection then, and the client dials again with a
 *       new one.
 *   G3  What is not named is not allowed: no other agent's subjects, no inbox but its own, no part
 *       of the broker's own interface, and so no stream but by being let in.
 */
import type { Instant } from '@chimera/domain/ids'
import { Failure } from '../failure.ts'
import { isPattern } from '../subjects.ts'
import { checkGranter, type Granter } from './authority.ts'
import { signClaims } from './claims.ts'
import { createNatsKey, type DrawBytes, isPublicKey } from './nkeys.ts'

export type Grant = {
  /** Public key of the connection, made by `createConnectionKey` where the agent runs. */
  readonly user: string
  /** For the broker's monitoring: whose it is. */
  readonly name: string
  readonly publish: readonly string[]
  readonly subscribe: readonly string[]
  readonly now: Instant
  readonly expiresAt: Instant
}

/** As long as a session's token lives, and for the same reason: nobody has to revoke it. */
export const GRANT_MOST_MS = 15 * 60_000
// Of both lists; an agent needs about ten, and the broker checks each message against all.
const SUBJECTS = 100
const NAME = /^[\x21-\x7e]{1,128}$/
const BROKERS_OWN = ['$SYS.>', '$JS.>', '$KV.>']
// An answer to whoever asked: one, for as long as the longest wait for one (CH-4).
const ANSWERS = 1
const ANSWER_NS = 120 * 1e9

export type ConnectionKey = { readonly seed: string; readonly publicKey: string }

export function createConnectionKey(draw: DrawBytes): ConnectionKey {
  const { seed, publicKey } = createNatsKey('user', draw)
  return { seed, publicKey }
}

/** Where a client with this key hears answers: nobody else may listen there. */
export function inboxOf(user: string): string {
  return `_INBOX_${user}`
}

export function signGrant(granter: Granter, grant: Grant): string {
  const issuer = checkGranter(granter)
  const { user, name, publish, subscribe, now, expiresAt } = grant
  checkGrant(grant)
  return signClaims({
    issuer,
    subject: user,
    name,
    now,
    expiresAt,
    nats: {
      type: 'user',
      issuer_account: granter.account,
      // To the broker, an empty list of what is allowed means everything.
      pub: publish.length === 0 ? { deny: ['>'] } : { allow: publish, deny: BROKERS_OWN },
      sub: { allow: [...subscribe, `${inboxOf(user)}.>`] },
      resp: { max: ANSWERS, ttl: ANSWER_NS },
      subs: -1,
      data: -1,
      payload: -1,
    },
  })
}

/** A hub's own word for itself: everything in the account, renewed on every dialling. */
export function signHubGrant(
  granter: Granter,
  hub: Pick<Grant, 'user' | 'name' | 'now' | 'expiresAt'>,
): string {
  const issuer = checkGranter(granter)
  checkGrant({ ...hub, publish: [], subscribe: [] })
  return signClaims({
    issuer,
    subject: hub.user,
    name: hub.name,
    now: hub.now,
    expiresAt: hub.expiresAt,
    nats: {
      type: 'user',
      issuer_account: granter.account,
      pub: {},
      sub: {},
      subs: -1,
      data: -1,
      payload: -1,
    },
  })
}

function checkGrant({ user, name, publish, subscribe, now, expiresAt }: Grant): void {
  if (!isPublicKey(user, 'user')) throw new Failure('key_malformed', 'public key of user')
  const wrong = [...publish, ...subscribe].find((each) => !isPattern(each))
  if (wrong !== undefined) throw new Failure('subject_malformed', JSON.stringify(wrong))
  const many = publish.length + subscribe.length > SUBJECTS
  const forGood = !(expiresAt > now && expiresAt <= now + GRANT_MOST_MS)
  if (many || forGood || !NAME.test(name)) {
    throw new Failure('plan_malformed', 'a grant is for some subjects, some minutes and a name')
  }
}
