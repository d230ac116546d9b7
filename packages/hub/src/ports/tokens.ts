/** The tokens of owners and operators, by digest. */
import type { CorrelationId, Digest, Instant, OwnerId } from '@chimera/domain/ids'

export type TokenTerms = {
  readonly digest: Digest
  readonly id: string
  readonly kind: 'owner' | 'operator'
  /** Absent on operators' tokens. */
  readonly owner?: OwnerId
  readonly scopes: readonly string[]
  readonly expiresAt?: Instant
  readonly capCents?: number
}

export type Token = TokenTerms & {
  readonly issuedAt: Instant
  readonly spentCents: number
  readonly revokedAt?: Instant
}

export type Tokens = {
  readonly issue: (terms: TokenTerms, correlation: CorrelationId) => Promise<void>
  readonly find: (digest: Digest) => Promise<Token | undefined>
  readonly listOf: (owner: OwnerId) => Promise<readonly Token[]>
  /** Whether there is such a token. */
  readonly revoke: (id: string, correlation: CorrelationId) => Promise<boolean>
  /** Whether some operator's token still counts. */
  readonly hasOperator: () => Promise<boolean>
}
