/** One connection for one request at a time, for whoever asks again and again. */
import { Agent, request } from 'node:http'

export type Wire = {
  readonly ask: (path: string, body?: Buffer) => Promise<Answer>
  readonly close: () => void
}

export type Answer = { readonly status: number; readonly body: string }

export function openWire(port: number): Wire {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, noDelay: true })
  return {
    ask: (path, body) =>
      new Promise((resolve, reject) => {
        const headers = {
          'content-type': 'application/json',
          ...(body && { 'content-length': body.length }),
        }
        const method = body === undefined ? 'GET' : 'POST'
        const asked = request(
          { host: '127.0.0.1', port, path, method, agent, headers },
          (answer) => {
            let text = ''
            answer.setEncoding('utf8').on('data', (more: string) => {
              text += more
            })
            answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: text }))
          },
        )
        asked.once('error', reject)
        asked.end(body)
      }),
    close: () => agent.destroy(),
  }
}
