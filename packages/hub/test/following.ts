/** A reader of the live feed as a program is one: it reads a stream of text, and counts lines. */
import assert from 'node:assert/strict'
import type { TestHub } from './running.ts'

export type Told = {
  readonly id: string | undefined
  readonly event: string
  readonly data: Record<string, unknown>
}

export type Reading = {
  readonly status: number
  readonly headers: Headers
  /** The next so many events, comments and beats aside. */
  readonly take: (count: number) => Promise<readonly Told[]>
  /** Until one that fits has come; all that came until then, it included. */
  readonly until: (fits: (told: Told) => boolean) => Promise<readonly Told[]>
  /** Everything that still comes, when the hub ends the stream. */
  readonly rest: () => Promise<readonly Told[]>
  /** The last id that was said, with an event or with a beat. */
  readonly lastId: () => string | undefined
  readonly text: () => string
  readonly leave: () => void
}

export type Followed = { readonly token?: string; readonly lastId?: string; readonly most?: number }

export async function follow(
  { address }: Pick<TestHub, 'address'>,
  query = '',
  { token, lastId }: Followed = {},
): Promise<Reading> {
  const over = new AbortController()
  const answer = await fetch(`${address}/v1/live${query}`, {
    signal: over.signal,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(lastId !== undefined && { 'last-event-id': lastId }),
    },
  })
  const events: Told[] = []
  let heard = ''
  let rest = ''
  let last: string | undefined
  let ended = false
  let wake = () => {}
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const part of answer.body ?? []) {
      const text = decoder.decode(part, { stream: true })
      heard += text
      rest += text
      for (let at = rest.indexOf('\n\n'); at >= 0; at = rest.indexOf('\n\n')) {
        const told = readFrame(rest.slice(0, at))
        rest = rest.slice(at + 2)
        last = told.id ?? last
        if (told.data !== undefined) {
          events.push({ id: told.id, event: told.event ?? 'message', data: JSON.parse(told.data) })
        }
      }
      wake()
    }
  })()
    .catch(() => undefined)
    .finally(() => {
      ended = true
      wake()
    })

  async function until(enough: () => boolean): Promise<void> {
    while (!enough()) {
      assert.ok(!ended, `the stream ended after ${events.length} events: ${heard.slice(-500)}`)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return {
    status: answer.status,
    headers: answer.headers,
    async take(count) {
      await until(() => events.length >= count)
      return events.splice(0, count)
    },
    async until(fits) {
      await until(() => events.some(fits))
      return events.splice(0, events.findIndex(fits) + 1)
    },
    async rest() {
      await reading
      return events.splice(0)
    },
    lastId: () => last,
    text: () => heard,
    leave: () => over.abort(),
  }
}

function readFrame(text: string) {
  const fields = text.split('\n').map((line) => {
    const at = line.indexOf(': ')
    return [line.slice(0, at), line.slice(at + 2)] as const
  })
  return Object.fromEntries(fields.filter(([name]) => name !== '')) as {
    id?: string
    event?: string
    data?: string
  }
}
