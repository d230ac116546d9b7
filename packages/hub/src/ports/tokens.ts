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
  /** The token that this one was made with. */
  readonly parent?: string
}

export type Token = TokenTerms & {
  readonly issuedAt: Instant
  readonly spentCents: number
  readonly revokedAt?: Instant
}

export type Tokens = {
  /** Whether it was: not, if the token that it is made with has been revoked. */
  readonly issue: (terms: TokenTerms, correlation: CorrelationId) => Promise<boolean>
  readonly find: (digest: Digest) => Promise<Token | undefined>
  readonly listOf: (owner: OwnerId) => Promise<readonly Token[]>
  /**
   * With those of its kind that were made with it, and so on, but not `by`, the token that orders
   * it. Answers whether there is such a token.
   */
  readonly revoke: (
    asked: { readonly id: string; readonly by?: string },
    correlation: CorrelationId,
  ) => Promise<boolean>
  /** Whether some operator's token still counts. */
  readonly hasOperator: () => Promise<boolean>
}
