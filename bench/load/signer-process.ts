/**
 * The least that a server can do here: a plain server of Node that reads a message, verifies it if
 * it is told whose it is, signs it and sends it back. What ours takes beyond that is its rules.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { PublicKey } from '@chimera/domain/ids'
import { openBulk } from '@chimera/identity/bulk'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessageText } from '@chimera/identity/message'
import { createQuicken } from '@chimera/identity/quick'
import { answerIn } from './process-of.ts'

/** Whose messages come, where they are signed. */
export type SignerTold = { readonly from?: string }

answerIn(async ({ from }: SignerTold) => {
  const key = createQuicken()(generateKeyPair())
  const bulk = await openBulk()
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const message: object = JSON.parse(Buffer.concat(pieces).toString())
    const verdict = from && (await bulk.verifyMessage(message, from as PublicKey))
    if (verdict && !verdict.ok) throw new Error(verdict.refusal)
    const { text } = signMessageText(message, key)
    response.setHeader('content-length', Buffer.byteLength(text))
    response.end(text)
  }
  const server = createServer({ keepAliveTimeout: 600_000 }, (...both) => void serve(...both))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' ? address?.port : undefined
})
