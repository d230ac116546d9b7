/**
 * The dialects by name, our own included, each with its messages: what is published, served and
 * tested.
 */
import { MESSAGES as chimera } from './chimera/index.ts'
import { MESSAGES as chorus } from './chorus/index.ts'
import { MESSAGES as feed } from './feed/index.ts'
import type { Messages } from './messages.ts'
import { MESSAGES as moltbook } from './moltbook/index.ts'
import { MESSAGES as openclaw } from './openclaw/index.ts'
import { MESSAGES as skills } from './skills/index.ts'

export const DIALECTS = {
  chimera,
  chorus,
  feed,
  moltbook,
  openclaw,
  skills,
} as const satisfies Record<string, Messages>
export type DialectName = keyof typeof DIALECTS
