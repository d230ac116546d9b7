/** One honest request, and every way in which it could be played again, moved or changed. */
import assert from 'node:assert/strict'
import type { KeyId, PublicKey } from '@chimera/domain/ids'
import fc from 'fast-check'
import { type InnerList, isInnerList, parseList } from 'structured-headers'
import { describe, test } from 'vitest'
import { contentDigest } from './content-digest.ts'
import { createSeenNonces } from './freshness.ts'
import type { HeaderFields } from './http-message.ts'
import {
  type RequestPolicy,
  type RequestWithBody,
  signCovered,
  signRequest,
  verifyRequest,
} from './http-signature.ts'
import { createKeyring } from './keyring.ts'
import { keyPairFromSeed } from './keys.ts'

const NOW = 1_700_000_000_000
const keyring = createKeyring()
const pair = keyPairFromSeed(Buffer.alloc(32, 1))
const stranger = keyPairFromSeed(Buffer.alloc(32, 2))
const known = new Map<KeyId, PublicKey>([[pair.id, pair.publicKey]])

const policy = (change: Partial<RequestPolicy> = {}): RequestPolicy => ({
  now: NOW,
  keyOf: (id) => known.get(id),
  keyring,
  nonces: createSeenNonces(),
  ...change,
})

const bare = {
  method: 'POST',
  url: 'https://hub.example/v1/jobs?dry=1',
  headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'k1' } as HeaderFields,
  body: Buffer.from('{"skill":"x"}'),
}

const signed = (request: RequestWithBody = bare, by = pair, at = NOW): RequestWithBody => ({
  ...request,
  headers: {
    ...request.headers,
    ...signRequest(request, by, { now: at, nonce: 'n1', also: ['idempotency-key'] }),
  },
})

/** Signs what `input` lists, as a foreign client may. */
const signedAs = (input: string, request: RequestWithBody = bare, by = pair): RequestWithBody => {
  const headers = {
    ...request.headers,
    'content-digest': contentDigest(request.body ?? Buffer.of()),
  }
  const [list] = parseList(input)
  assert.ok(list !== undefined && isInnerList(list))
  const fields = signCovered({ ...request, headers }, list satisfies InnerList, by, 'sig')
  return { ...request, headers: { ...headers, ...fields } }
}

const outcome = async (request: RequestWithBody, change: Partial<RequestPolicy> = {}) => {
  const verdict = await verifyRequest(request, policy(change))
  return verdict.ok ? 'verified' : verdict.refusal
}

const header = (request: RequestWithBody, name: string, value: string | undefined) => ({
  ...request,
  headers: { ...request.headers, [name]: value },
})

describe('X-9 a signed request', () => {
  test('covers method, target and body, and says when, once and by whom', () => {
    const fields = signRequest(bare, pair, { now: NOW, nonce: 'n1', expiresAt: NOW + 20_000 })
    assert.equal(
      fields['signature-input'],
      'sig=("@method" "@target-uri" "content-digest");created=1700000000;expires=1700000020' +
        `;nonce="n1";keyid="${pair.id}";alg="ed25519"`,
    )
    assert.equal(fields['content-digest'], contentDigest(bare.body))
    assert.match(fields.signature, /^sig=:[A-Za-z0-9+/]{86}==:$/)
  })

  test('tells whose it is and what it covers', async () => {
    const verdict = await verifyRequest(signed(), policy())
    assert.deepEqual(verdict, {
      ok: true,
      key: pair.id,
      signedAt: NOW,
      covered: new Set(['@method', '@target-uri', 'content-digest', 'idempotency-key']),
    })
  })

  test('without a body needs no digest', async () => {
    const get = { method: 'GET', url: 'https://hub.example/v1/jobs', headers: {} }
    const fields = signRequest(get, pair, { now: NOW, nonce: 'n1' })
    assert.equal(fields['content-digest'], undefined)
    const sent = { ...get, headers: { ...fields } }
    assert.equal(await outcome(sent), 'verified')
    assert.equal(await outcome({ ...sent, body: Buffer.of() }), 'verified')
    assert.equal(await outcome({ ...sent, body: Buffer.from('smuggled') }), 'signature_invalid')
  })

  test('replaces a digest that was there before', async () => {
    const stale = header(bare, 'Content-Digest', contentDigest(Buffer.from('other')))
    const fields = signRequest(stale, pair, { now: NOW, nonce: 'n1' })
    assert.equal(await outcome({ ...bare, headers: { ...bare.headers, ...fields } }), 'verified')
  })

  test('cannot be made over a field that is not there', () => {
    const options = { now: NOW, nonce: 'n1', also: ['x-not-there'] }
    assert.throws(() => signRequest(bare, pair, options), { code: 'component_missing' })
  })

  // biome-ignore format: a table is read by its columns
  const edits: readonly (readonly [why: string, edit: (request: RequestWithBody) => RequestWithBody])[] = [
    ['another method',          (request) => ({ ...request, method: 'PUT' })],
    ['another host',            (request) => ({ ...request, url: 'https://evil.example/v1/jobs?dry=1' })],
    ['another port',            (request) => ({ ...request, url: 'https://hub.example:8443/v1/jobs?dry=1' })],
    ['another scheme',          (request) => ({ ...request, url: 'http://hub.example/v1/jobs?dry=1' })],
    ['another path',            (request) => ({ ...request, url: 'https://hub.example/v1/transfer?dry=1' })],
    ['another query',           (request) => ({ ...request, url: 'https://hub.example/v1/jobs?dry=0' })],
    ['no query',                (request) => ({ ...request, url: 'https://hub.example/v1/jobs' })],
    ['a path spelt differently', (request) => ({ ...request, url: 'https://hub.example/v1/%6aobs?dry=1' })],
    ['another body',            (request) => ({ ...request, body: Buffer.from('{"skill":"y"}') })],
    ['no body',                 (request) => ({ ...request, body: undefined })],
    ['another body and digest', (request) => header({ ...request, body: Buffer.from('x') }, 'content-digest', contentDigest(Buffer.from('x')))],
    ['a second digest',         (request) => header(request, 'Content-Digest', contentDigest(Buffer.from('x')))],
    ['a covered field changed', (request) => header(request, 'Idempotency-Key', 'k2')],
    ['a covered field removed', (request) => header(request, 'Idempotency-Key', undefined)],
    ['a covered field doubled', (request) => header(request, 'idempotency-key', 'k1')],
    ['no signature',            (request) => header(request, 'signature', 'sig=:AAAA:')],
    ['its parameters changed',  (request) => header(request, 'signature-input', String(request.headers['signature-input']).replace('n1', 'n2'))],
    ['its label changed',       (request) => header(request, 'signature-input', String(request.headers['signature-input']).replace('sig=', 'sug='))],
  ]
  for (const [why, edit] of edits) {
    test(`refused: ${why}`, async () => {
      assert.equal(await outcome(edit(signed())), 'signature_invalid')
    })
  }

  test('what is not covered may change on the way', async () => {
    assert.equal(await outcome(header(signed(), 'Content-Type', 'text/plain')), 'verified')
    assert.equal(await outcome(header(signed(), 'Via', '1.1 proxy')), 'verified')
  })

  test('H1 a target spelt with its default port or in capitals is the same', async () => {
    const other = { ...signed(), url: 'HTTPS://HUB.example:443/v1/jobs?dry=1' }
    assert.equal(await outcome(other), 'verified')
  })
})

describe('X-9 who, when and once', () => {
  test('nobody', async () => {
    assert.equal(await outcome(bare), 'caller_unknown')
  })

  test('somebody that the hub does not know', async () => {
    assert.equal(await outcome(signed(bare, stranger)), 'caller_unknown')
  })

  test('somebody under another’s name', async () => {
    const request = signed(bare, stranger)
    const claim = String(request.headers['signature-input']).replace(stranger.id, pair.id)
    assert.equal(await outcome(header(request, 'signature-input', claim)), 'signature_invalid')
  })

  // biome-ignore format: a table is read by its columns
  const times: readonly (readonly [rule: string, agoMs: number, outcome: string])[] = [
    ['60 s old',           60_000,  'verified'],
    ['more than 60 s old', 61_000,  'message_expired'],
    ['30 s ahead',         -30_000, 'verified'],
    ['more than 30 s ahead', -31_000, 'message_early'],
  ]
  for (const [rule, agoMs, expected] of times) {
    test(rule, async () => {
      assert.equal(await outcome(signed(bare, pair, NOW - agoMs)), expected)
    })
  }

  test('its own expiry holds', async () => {
    const fields = signRequest(bare, pair, { now: NOW, nonce: 'n1', expiresAt: NOW + 5_000 })
    const request = { ...bare, headers: { ...bare.headers, ...fields } }
    assert.equal(await outcome(request, { now: NOW + 4_999 }), 'verified')
    assert.equal(await outcome(request, { now: NOW + 5_000 }), 'message_expired')
  })

  test('a second time it is a replay', async () => {
    const nonces = createSeenNonces()
    assert.equal(await outcome(signed(), { nonces }), 'verified')
    assert.equal(await outcome(signed(), { nonces }), 'message_replayed')
    assert.equal(await outcome(signed(), { nonces, now: NOW + 50_000 }), 'message_replayed')
  })

  test('of ten at the same time one passes', async () => {
    const nonces = createSeenNonces()
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => outcome(signed(), { nonces })),
    )
    assert.equal(outcomes.filter((each) => each === 'verified').length, 1)
  })

  test('H4 a forgery does not use up the nonce', async () => {
    const nonces = createSeenNonces()
    const forged = { ...signed(), method: 'PUT' }
    assert.equal(await outcome(forged, { nonces }), 'signature_invalid')
    const smuggled = { ...signed(), body: Buffer.from('other') }
    assert.equal(await outcome(smuggled, { nonces }), 'signature_invalid')
    assert.equal(await outcome(signed(), { nonces }), 'verified')
  })

  test('a full memory of nonces refuses for now', async () => {
    assert.equal(await outcome(signed(), { nonces: createSeenNonces(0) }), 'service_unavailable')
  })
})

describe('X-9 what a foreign signer must have covered', () => {
  const whole = '"@method" "@target-uri" "content-digest"'
  const terms = `created=1700000000;nonce="n";keyid="${pair.id}"`
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [rule: string, input: string, outcome: string])[] = [
    ['target as a whole',                `(${whole});${terms}`,                                     'verified'],
    ['target in three parts',            `("@method" "@authority" "@path" "@query" "content-digest");${terms}`, 'verified'],
    ['parameters in another order',      `(${whole});keyid="${pair.id}";nonce="n";created=1700000000;tag="x"`, 'verified'],
    ['alg named',                        `(${whole});${terms};alg="ed25519"`,                       'verified'],
    ['without the method',               `("@target-uri" "content-digest");${terms}`,               'signature_invalid'],
    ['without the host',                 `("@method" "@path" "@query" "content-digest");${terms}`,  'signature_invalid'],
    ['without the query',                `("@method" "@authority" "@path" "content-digest");${terms}`, 'signature_invalid'],
    ['with one parameter of the query',  `("@method" "@authority" "@path" "@query-param";name="dry" "content-digest");${terms}`, 'signature_invalid'],
    ['without the body',                 `("@method" "@target-uri");${terms}`,                      'signature_invalid'],
    ['with a part of the digest',        `("@method" "@target-uri" "content-digest";key="sha-256");${terms}`, 'signature_invalid'],
    ['without a time',                   `(${whole});nonce="n";keyid="${pair.id}"`,                 'signature_invalid'],
    ['with a time that is no integer',   `(${whole});created="1700000000";nonce="n";keyid="${pair.id}"`, 'signature_invalid'],
    ['with an expiry that is none',      `(${whole});${terms};expires="soon"`,                      'signature_invalid'],
    ['without a nonce',                  `(${whole});created=1700000000;keyid="${pair.id}"`,        'signature_invalid'],
    ['with an empty nonce',              `(${whole});created=1700000000;nonce="";keyid="${pair.id}"`, 'signature_invalid'],
    ['with an endless nonce',            `(${whole});created=1700000000;nonce="${'n'.repeat(257)}";keyid="${pair.id}"`, 'signature_invalid'],
    ['without a key',                    `(${whole});created=1700000000;nonce="n"`,                 'signature_invalid'],
    ['with another algorithm',           `(${whole});${terms};alg="hmac-sha256"`,                   'signature_invalid'],
  ]
  for (const [rule, input, expected] of rows) {
    test(rule, async () => assert.equal(await outcome(signedAs(input)), expected))
  }

  test('and what the route asks for besides', async () => {
    const request = signedAs(`(${whole});${terms}`)
    assert.equal(await outcome(request, { also: ['idempotency-key'] }), 'signature_invalid')
    assert.equal(await outcome(signed(), { also: ['idempotency-key'] }), 'verified')
  })

  test('a proxy’s own signature beside it does no harm', async () => {
    const request = signed()
    const filler = Buffer.alloc(64, 1).toString('base64')
    const both = header(
      header(request, 'signature', `ttrp=:${filler}:, ${request.headers.signature}`),
      'signature-input',
      `ttrp=("@path");created=1700000000;keyid="proxy", ${request.headers['signature-input']}`,
    )
    assert.equal(await outcome(both), 'verified')
  })

  test('a row of signatures is not tried to its end', async () => {
    const labels = Array.from({ length: 50 }, (_, at) => `s${at}`)
    const filler = Buffer.alloc(64, 1).toString('base64')
    const inputs = labels.map((label) => `${label}=(${whole});${terms}`)
    const request = header(
      header(signed(), 'signature', labels.map((label) => `${label}=:${filler}:`).join(', ')),
      'signature-input',
      inputs.join(', '),
    )
    let asked = 0
    const keyOf = (id: KeyId) => {
      asked += 1
      return known.get(id)
    }
    assert.equal(await outcome(request, { keyOf }), 'signature_invalid')
    assert.equal(asked, 4)
  })
})

test('X-9 any request verifies as it was sent, and with another body it does not', async () => {
  const text = fc.string({ unit: 'grapheme-ascii' })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
      fc.webUrl({ withQueryParameters: true, validSchemes: ['http', 'https'] }),
      fc.uint8Array({ maxLength: 200 }),
      fc.uint8Array({ maxLength: 200 }),
      text,
      async (method, url, body, other, nonce) => {
        fc.pre(nonce !== '')
        const request = { method, url, headers: {}, body }
        const sent = { ...request, headers: { ...signRequest(request, pair, { now: NOW, nonce }) } }
        assert.equal(await outcome(sent), 'verified')
        const same = Buffer.from(body).equals(other)
        const swapped = await outcome({ ...sent, body: other })
        assert.equal(swapped, same ? 'verified' : 'signature_invalid')
      },
    ),
  )
})
