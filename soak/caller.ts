/** Asks the hub as somebody, and reads what it answers; a refusal is an error with its words. */
export type Caller = <Answer>(path: string, body?: unknown) => Promise<Answer>

export function createCaller(hub: string, token: string): Caller {
  return async <Answer>(path: string, body?: unknown): Promise<Answer> => {
    const answer = await fetch(hub + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as Answer
  }
}
