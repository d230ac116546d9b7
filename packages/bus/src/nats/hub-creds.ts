/**
 * The `.creds` file of a hub: all of the account, without an end. Whoever has it is a hub to the
 * broker; a new signing key ends it (authority.ts, U2).
 */
import type { Instant } from '@chimera/domain/ids'
import { checkGranter, type Granter } from './authority.ts'
import { signClaims } from './claims.ts'
import { createNatsKey, type DrawBytes } from './nkeys.ts'

export function encodeHubCreds(
  granter: Granter,
  { draw, now }: { readonly draw: DrawBytes; readonly now: Instant },
): string {
  const { publicKey, seed } = createNatsKey('user', draw)
  const limits = { subs: -1, data: -1, payload: -1 }
  const jwt = signClaims({
    issuer: checkGranter(granter),
    subject: publicKey,
    name: 'hub',
    now,
    nats: { type: 'user', issuer_account: granter.account, pub: {}, sub: {}, ...limits },
  })
  return [
    '-----BEGIN NATS USER JWT-----',
    jwt,
    '------END NATS USER JWT------',
    '',
    '-----BEGIN USER NKEY SEED-----',
    seed,
    '------END USER NKEY SEED------',
    '',
  ].join('\n')
}
