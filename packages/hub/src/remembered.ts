/**
 * Who is behind a key or a token, remembered where one process has the database to itself: then it
 * makes all changes, and knows of each before anybody is told that it is made.
 *
 *   M1  Whatever may change an answer forgets all of them, before it is asked for and after it was
 *       answered. What was read meanwhile is not remembered.
 *   M2  Only what was found is remembered, and not more than so many: strangers fill nothing.
 */
import type { Digest, KeyId } from '@chimera/domain/ids'
import type { Agents, KeyHolder } from './ports/agents.ts'
import type { Token, Tokens } from './ports/tokens.ts'

// A few hundred bytes each.
const MOST = 10_000

type Found<Key, Value> = (key: Key) => Promise<Value | undefined>

function createMemory<Key, Value>(find: Found<Key, Value>) {
  const known = new Map<Key, Value>()
  let changes = 0

  function forget(): void {
    changes += 1
    known.clear()
  }

  return {
    find: async (key: Key): Promise<Value | undefined> => {
      const before = known.get(key)
      if (before !== undefined) return before
      const since = changes
      const found = await find(key)
      if (found !== undefined && changes === since && known.size < MOST) known.set(key, found)
      return found
    },
    /** M1. */
    changing: <Args extends readonly unknown[], Answer>(
      change: (...args: Args) => Promise<Answer>,
    ): ((...args: Args) => Promise<Answer>) => {
      return async (...args) => {
        forget()
        try {
          return await change(...args)
        } finally {
          forget()
        }
      }
    },
  }
}

export function rememberKeys(agents: Agents): Agents {
  const { find, changing } = createMemory<KeyId, KeyHolder>(agents.withKey)
  return {
    ...agents,
    withKey: find,
    register: changing(agents.register),
    remove: changing(agents.remove),
    bind: changing(agents.bind),
    rotate: changing(agents.rotate),
    recover: changing(agents.recover),
    finishRecovery: changing(agents.finishRecovery),
    callOffRecovery: changing(agents.callOffRecovery),
  }
}

/** What was spent of a token changes with every payment, and is not read from here. */
export function rememberTokens(tokens: Tokens): Tokens {
  const { find, changing } = createMemory<Digest, Token>(tokens.find)
  return {
    ...tokens,
    find,
    issue: changing(tokens.issue),
    revoke: changing(tokens.revoke),
  }
}
