/** The five dialects by name, each with its messages: what is published, served and tested. */
import { MESSAGES as chorus } from './chorus/index.ts'
import type { Messages } from './messages.ts'

export const DIALECTS = { chorus } as const satisfies Record<string, Messages>
export type DialectName = keyof typeof DIALECTS
