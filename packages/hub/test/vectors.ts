/** The vectors of a message, sent to a hub: what must be understood, and what must be complained of. */
import assert from 'node:assert/strict'
import { loadVectors } from '@chimera/conformance/vectors'
import { test } from 'vitest'
import type { Answered } from './running.ts'

export type Sent = {
  readonly dialect: string
  /** By message. */
  readonly routes: Readonly<Record<string, (wire: unknown) => Promise<Answered>>>
  /** The code of a message that does not fit its schema. */
  readonly code: string
}

export function testVectors({ dialect, routes, code }: Sent): void {
  for (const vector of loadVectors()) {
    const send = vector.dialect === dialect ? routes[vector.message] : undefined
    if (send === undefined) continue
    test(`${vector.message} ${vector.verdict}: ${vector.name}`, async () => {
      const { status, body } = await send(vector.wire)
      if (vector.verdict === 'accept') {
        assert.ok(status !== 400 && status < 500, `${status} ${JSON.stringify(body)}`)
        return
      }
      assert.deepEqual([status, body.code], [400, code])
      const { issues } = body.details as { issues: readonly { path: string }[] }
      for (const path of (vector.expect as { paths: readonly string[] }).paths) {
        const named = issues.some((issue) => issue.path === path)
        assert.ok(named, `${path} in ${JSON.stringify(body)}`)
      }
    })
  }
}

export const queryOf = (wire: unknown): string =>
  new URLSearchParams(
    Object.entries(wire as Record<string, unknown>).flatMap(([name, value]) =>
      [value].flat().map((each) => [name, String(each)]),
    ),
  ).toString()
