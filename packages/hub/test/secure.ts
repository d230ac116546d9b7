/** A hub behind TLS, and requests to it with and without a certificate. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Certified, createAuthority } from '@chimera/host/testing/certificates'
import type { KeyPair } from '@chimera/identity/keys'
import type { Answered, TestHub } from './running.ts'

export type Sent = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** What the caller shows, if anything. */
  readonly certificate?: Certified | undefined
  readonly agent?: Agent
  /** Whose certificate the caller believes; the first authority's if nothing is said. */
  readonly ca?: string
}

export function createSecure() {
  const authority = createAuthority('hub authority')
  const callers = createAuthority('caller authority')
  const home = mkdtempSync(join(tmpdir(), 'chimera-tls-'))
  const [tlsCert, tlsKey, clientCa] = ['cert', 'key', 'ca'].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ]
  function write({ cert, key }: Certified, ca: string = callers.cert): void {
    writeFileSync(tlsCert, cert)
    writeFileSync(tlsKey, key)
    writeFileSync(clientCa, ca)
  }
  write(authority.certify('hub', ['127.0.0.1']))

  function call(url: string, sent: Sent = {}): Promise<Answered> {
    const { method = 'GET', headers = {}, body, certificate, agent, ca = authority.cert } = sent
    return new Promise((resolve, reject) => {
      const asked = request(
        url,
        { method, headers, ca, ...certificate, agent: agent ?? false },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8').on('data', (part: string) => {
            text += part
          })
          answer.on('error', reject)
          answer.on('end', () => {
            resolve({
              status: answer.statusCode ?? 0,
              body: text.startsWith('{') ? JSON.parse(text) : {},
            })
          })
        },
      )
      asked.on('error', reject)
      asked.end(body)
    })
  }

  return {
    authority,
    callers,
    files: { tlsCert, tlsKey, clientCa },
    home,
    write,
    call,
    /** For those who know only how to ask a hub. */
    speaking: (hub: TestHub): TestHub => ({
      ...hub,
      call: (path, { method, headers, body }) =>
        call(hub.address + path, {
          ...(method !== undefined && { method }),
          headers: { ...(headers as Record<string, string>) },
          ...(typeof body === 'string' && { body }),
        }),
    }),
    certificateOf: (pair: KeyPair, valid?: readonly [from: string, until: string]): Certified =>
      callers.certify('agent', [], { key: pair.privateKey, ...(valid && { valid }) }),
    end: () => rmSync(home, { recursive: true, force: true }),
  }
}
