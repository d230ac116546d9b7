/**
 * How a client shows who it is. What is given is a function, asked on every dialling: short-lived
 * credentials are renewed that way, and rotated ones taken up, without a restart.
 */
import {
  type Authenticator,
  credsAuthenticator,
  jwtAuthenticator,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node'
import { Failure } from '../failure.ts'

export type Credentials =
  | { readonly kind: 'password'; readonly user: string; readonly password: string }
  | { readonly kind: 'token'; readonly token: string }
  /** A key whose public half is in the server's list of users. */
  | { readonly kind: 'nkey'; readonly seed: string }
  /** What a grant says, and the key that it was given to. */
  | { readonly kind: 'grant'; readonly jwt: string; readonly seed: string }
  /** The text of a `.creds` file: a grant and its key. */
  | { readonly kind: 'creds'; readonly text: string }

export type GetCredentials = () => Credentials | Promise<Credentials>

export async function authenticatorFrom(get: GetCredentials): Promise<Authenticator> {
  const given = await get()
  try {
    const authenticator = authenticatorOf(given)
    // Tried here, since the client would give up in the middle of its greeting.
    authenticator('a nonce')
    return authenticator
  } catch {
    // Whatever was thrown may hold what was given, so it is not passed on.
    throw new Failure('credentials_broken', `credentials of kind ${given.kind}`)
  }
}

function authenticatorOf(given: Credentials): Authenticator {
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
  switch (given.kind) {
    case 'password':
      return usernamePasswordAuthenticator(given.user, given.password)
    case 'token':
      return tokenAuthenticator(given.token)
    case 'nkey':
      return nkeyAuthenticator(encode(given.seed))
    case 'grant':
      return jwtAuthenticator(given.jwt, encode(given.seed))
    case 'creds':
      return credsAuthenticator(encode(given.text))
  }
}
