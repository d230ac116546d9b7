/** How a hub lets agents onto the broker; absent where it has no authority to. */
import type { Instant } from '@chimera/domain/ids'

export type Granting = {
  /** Where agents find the broker. */
  readonly addresses: readonly string[]
  /** Undefined for what is no key of a connection. */
  readonly sign: (asked: {
    readonly connection: string
    readonly name: string
    readonly publish: readonly string[]
    readonly subscribe: readonly string[]
    readonly now: Instant
    readonly expiresAt: Instant
  }) => { readonly grant: string; readonly inbox: string } | undefined
}
