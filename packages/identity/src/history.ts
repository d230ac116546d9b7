/**
 * Signatures that outlive their key (P-15): a message is checked against the key that spoke for its
 * signer when it was signed, which may long have been replaced.
 *
 * The time is the signer's own word. A stolen old key can still back-date, as it can with any
 * scheme that has no third party's stamp; where that matters, the time to use is the one of the
 * fact in the audit trail.
 */

import { type KeyHistory, keyAt } from '@chimera/domain/agent/keys'
import { refuse } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import type { Keyring } from './keyring.ts'
import { type MessageVerdict, verifyMessage } from './message.ts'

export function verifyByHistory(
  message: object,
  { history, signedAt }: { readonly history: KeyHistory; readonly signedAt: Instant },
  keyring: Keyring,
): MessageVerdict {
  const key = keyAt(history, signedAt)
  return key === undefined
    ? refuse('signature_invalid')
    : verifyMessage(message, key.publicKey, keyring)
}
