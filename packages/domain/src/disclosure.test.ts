/**
 * planted secrets and inside names are found, and ordinary words are not. The planted values
 * are put together here from harmless parts, so that no scanner takes this file for a leak.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  blacken,
  clearWords,
  findInside,
  findPeople,
  findSecrets,
  isSecretName,
  mayHoldSecret,
  mayNameInside,
} from './disclosure.ts'

const random = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6'
const jwt = ['eyJhbGciOiJFZERTQSJ9', 'eyJzdWIiOiJ0ZXN0In0', random].join('.')

const pem = (end: string, body: string) => `-----${end} ${'PRIVATE KEY'}-----${body}`

const planted: Record<string, string> = {
  'a PEM private key': pem('BEGIN', `\nMC4CAQAw${random}\n`) + pem('END', ''),
  'a PEM key that is cut off': `-----BEGIN EC ${'PRIVATE KEY'}-----\n${random}`,
  'a private JWK': `{"kty":"OKP","crv":"Ed25519","d":"${random}${random}"}`,
  'a JWT': jwt,
  'a token of ours': `chm_${random}`,
  'a model key': `sk-${random}`,
  'a payment key': `sk_${'live'}_${random}`,
  'a cloud access key': `AKIA${'IOSFODNN7EXAMPLE'}`,
  'a maps key': `AIza${random}xyz12`,
  'a forge token': `ghp_${random}`,
  'a chat token': `xoxb-${random}`,
  'a bearer header': `Authorization: Bearer ${random}`,
  'a password in an address': `postgres://chimera:${'hunter2'}@db.example.org/chimera`,
  'an address with an empty user': `redis://:${'hunter2'}@cache.example.org`,
  'a telling name': `api_key=${random}`,
  'a telling name in JSON': `{"client_secret": "${random}"}`,
}

describe('X-5 secrets', () => {
  for (const [what, text] of Object.entries(planted)) {
    test(`${what} is found and blackened`, () => {
      const around = `before ${text} after`
      const leaks = findSecrets(around)
      assert.ok(leaks.length > 0)
      const clean = blacken(around, leaks)
      assert.ok(clean.startsWith('before ') && clean.includes('[secret removed]'), clean)
      assert.ok(!clean.includes(random) && !clean.includes('hunter2'), clean)
    })
  }
})

// biome-ignore format: a table is read by its columns
const inside: [what: string, kind: string, text: string][] = [
  ['localhost with a port',        'host',  'could not reach localhost:5432'],
  ['a loopback address',           'host',  'connect 127.0.0.1:4600 failed'],
  ['a private address',            'host',  'the host 10.1.2.3 does not answer'],
  ['another private address',      'host',  'the host 192.168.7.1 does not answer'],
  ['a private address in the 172s','host',  'dial 172.31.0.9'],
  ['a link-local address',         'host',  'metadata at 169.254.169.254'],
  ['a carrier-grade address',      'host',  'from 100.64.0.1'],
  ['IPv6 loopback',                'host',  'listening on [::1]:80'],
  ['an IPv6 private address',      'host',  'peer fd12:3456:789a::1 left'],
  ['an internal name',             'host',  'see https://wiki.corp.internal/runbook'],
  ['a cluster name',               'host',  'hub.default.svc did not answer'],
  ['a name without a dot',         'host',  'POST http://planner/ingest was refused'],
  ['a machine and its port',       'host',  'pool for db-primary-1:5432 is empty'],
  ['a driver error',               'host',  'getaddrinfo ENOTFOUND broker'],
  ['a file path',                  'path',  'cannot open /etc/chimera/hub.yaml'],
  ['a home path',                  'path',  'read /home/someone/.chimera/key.json'],
  ['a Windows path',               'path',  'cannot open C:\\chimera\\key.json'],
  ['a file address',               'path',  'import of file:///srv/app/main.js failed'],
  ['a module path',                'path',  'thrown in node_modules/pg/lib/client.js'],
  ['a stack trace',                'trace', 'Error: no\n    at decode (decode.ts:12:5)\n    at main.ts:3:1'],
  ['a Python trace',               'trace', 'Traceback (most recent call last)'],
]

describe('X-5 names of the inside', () => {
  for (const [what, kind, text] of inside) {
    test(`${what} is found`, () => {
      const kinds = findInside(text).map((leak) => leak.kind)
      assert.ok(
        kinds.some((each) => each === kind),
        `${what}: ${kinds.join()}`,
      )
    })
  }
})

const harmless = [
  'Agent is at maximum concurrent task capacity',
  'Trend aggregation service returned 503',
  'Waiting for a reviewer since 16:30:00, 3 of 5 slots are free',
  'The skill word_count@v1.0 is removed on 2026-03-01T00:00:00Z',
  'Version 10.1.2 is out; ratio 0.92; 1.5× faster',
  'See https://example.org/docs/errors#slots for the list',
  'The token has expired. Ask for a new one.',
  'password: required',
  'input/output schemas differ and/or are missing',
  'Basic understanding of the bearer of news',
  'hashtags #AI and 2/3 of 100.5 million',
]
describe('X-5 ordinary words are left alone', () => {
  for (const text of harmless) {
    test(text, () => assert.deepEqual([...findSecrets(text), ...findInside(text)], []))
  }
})

test('SF-2 personal data is found', () => {
  const found = (text: string) => findPeople(text).length
  assert.equal(found('write to someone@example.org today'), 1)
  assert.equal(found('call +251 911 234 567 now'), 1)
  assert.equal(found('card 4111 1111 1111 1111'), 1)
  assert.equal(found('uptime 3600 s, 12 tasks, at 2026-02-06T12:00:00Z'), 0)
})

test('X-5 fields that hold secrets are known by name', () => {
  for (const name of [
    'password',
    'api_key',
    'apiKey',
    'Authorization',
    'client-secret',
    'hub_token',
    'x-api-key',
    'signing_key',
    'passphrase',
  ]) {
    assert.ok(isSecretName(name), name)
  }
  for (const name of ['agent_id', 'notes', 'tokens_used', 'signature', 'public_key', 'author']) {
    assert.ok(!isSecretName(name), name)
  }
})

test('S3 blackened text has nothing more to find, and nothing else is lost', () => {
  const piece = fc.oneof(
    fc.constantFrom(...Object.values(planted), ...inside.map(([, , text]) => text), ...harmless),
    fc.string({ maxLength: 20 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const once = blacken(pieces.join(' '), findSecrets(pieces.join(' ')))
      assert.deepEqual(findSecrets(once), [])
    }),
  )
})

test('X-5 our own words are cleared of both kinds, and plain ones are left alone', () => {
  for (const text of [...Object.values(planted), ...inside.map(([, , each]) => each)]) {
    const clear = clearWords(`it said ${text}`)
    assert.deepEqual([findSecrets(clear), findInside(clear)], [[], []], text)
    assert.ok(clear.includes('it said '))
  }
  for (const text of harmless) assert.equal(clearWords(text), text)
})

test('S1 hostile texts end: a quadratic pattern would outlast this test by far', () => {
  for (const part of ['a-', '/home/', 'eyJ', ':a@', '1 ', '::', 'at (', 'x://', '"d":', 'a.']) {
    const text = part.repeat(200_000 / part.length)
    const finds = [findSecrets(text), findInside(text), findPeople(text)].flat()
    assert.ok(finds.length <= text.length)
  }
})

/** As short as each pattern takes it, and alone: the quick look has nothing else to go by. */
const shortest = {
  'a cut PEM key': `-----BEGIN ${'PRIVATE KEY'}-----`,
  'a JWK member': `"d":"${random}"`,
  'a JWT': `eyJ${'a'.repeat(8)}.${'b'.repeat(8)}.${'c'.repeat(8)}`,
  'our token': `chm_${'a'.repeat(16)}`,
  'a model key': `rk-${'a'.repeat(16)}`,
  'a payment key': `rk_test_${'a'.repeat(16)}`,
  'an access key': `AKIA${'A'.repeat(16)}`,
  'a maps key': `AIza${'a'.repeat(30)}`,
  'forge tokens': `ghr_${'a'.repeat(20)}`,
  'a fine forge token': `github_pat_${'a'.repeat(20)}`,
  'another forge': `glpat-${'a'.repeat(16)}`,
  'a chat token': `xoxs-${'a'.repeat(10)}`,
  'a registry token': `npm_${'a'.repeat(30)}`,
  'a header': `BASIC\t${'a'.repeat(15)}1`,
  'an address': 'ab://:x@',
  'a telling name': 'PWD:abcdefg1',
  'a quoted name': `auth-token"  =  'abcdefg1`,
}

describe('S4 the quick look', () => {
  for (const [what, text] of Object.entries(shortest)) {
    test(`does not miss ${what}`, () => {
      assert.ok(mayHoldSecret(text))
      assert.ok(findSecrets(text).length > 0)
    })
  }

  test('does not miss a name of the inside, alone', () => {
    const alone = ['localhost', '127.0.0.1', '::1', 'fe80:1:2', 'a.svc', 'xy://y', 'a-b:80']
    const more = [
      'EAI_AGAIN x',
      '/tmp/x',
      'C:\\x',
      '\\\\a\\b',
      'node_modules/x',
      'at a:1:2',
      'at a (b)',
    ]
    for (const text of [
      ...alone,
      ...more,
      'File "a", line 1',
      'node:internal/x',
      'hub.home.arpa',
    ]) {
      assert.ok(mayNameInside(text), text)
      assert.ok(findInside(text).length > 0, text)
    }
  })

  test('lets most of what is said pass', () => {
    const said = ['a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f', '2026-02-06T12:00:00Z', 'online', 'ann']
    for (const text of [
      ...said,
      'https://counter.example.org/jobs',
      'Counts the words of a text',
    ]) {
      assert.ok(!mayHoldSecret(text), text)
    }
    assert.ok(!mayNameInside('score 51.00 from 3 done and 0 failed'))
  })
})
