/** The examples of RFC 9421 are the table. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type InnerList, isInnerList, parseList } from 'structured-headers'
import { describe, test } from 'vitest'
import { contentDigest, fitsContentDigest } from './content-digest.ts'
import type { HttpMessage } from './http-message.ts'
import { signCovered, verifyCovered } from './http-signature.ts'
import { keyPairFromJwk, readVerifyingKey } from './keys.ts'
import { carriedSignatures, signatureBase } from './signature-base.ts'

type Rfc9421 = {
  readonly key: unknown
  readonly bases: readonly {
    readonly name: string
    readonly message: HttpMessage
    readonly input: string
    readonly base: readonly string[]
  }[]
  readonly baseless: readonly {
    readonly why: string
    readonly message: HttpMessage
    readonly input: string
  }[]
  readonly signed: readonly {
    readonly name: string
    readonly label: string
    readonly message: HttpMessage
    readonly input: string
    readonly signature: string
  }[]
  readonly transformed: readonly {
    readonly why: string
    readonly fits: boolean
    readonly message: HttpMessage
  }[]
  readonly digests: readonly {
    readonly name: string
    readonly body: string
    readonly field: string
    readonly ours: boolean
  }[]
}

const rfc = JSON.parse(
  readFileSync(new URL('../vectors/rfc9421.json', import.meta.url), 'utf8'),
) as Rfc9421

const pair = keyPairFromJwk(rfc.key)
const key = readVerifyingKey(pair.publicKey)
assert.ok(key)

const innerList = (text: string): InnerList => {
  const [list] = parseList(text)
  assert.ok(list !== undefined && isInnerList(list))
  return list
}

const carrying = (message: HttpMessage, at: number): HttpMessage => {
  const { label, input, signature } = rfc.signed[at] ?? assert.fail()
  const fields = { 'Signature-Input': `${label}=${input}`, Signature: `${label}=:${signature}:` }
  return { ...message, headers: { ...message.headers, ...fields } }
}

const fits = (message: HttpMessage): boolean => {
  const [carried, ...more] = carriedSignatures(message)
  assert.ok(carried !== undefined && more.length === 0)
  return verifyCovered(message, carried, key)
}

describe('X-9 the signature base of RFC 9421', () => {
  for (const { name, message, input, base } of rfc.bases) {
    test(name, () => {
      assert.equal(signatureBase(message, innerList(input)), base.join('\n'))
    })
  }

  for (const { why, message, input } of rfc.baseless) {
    test(`no base: ${why}`, () => {
      assert.equal(signatureBase(message, innerList(input)), undefined)
    })
  }

  test('no base: a list so long that it is there to cost time', () => {
    const names = Array.from({ length: 33 }, (_, at) => `x-${at}`)
    const headers = Object.fromEntries(names.map((name) => [name, '1']))
    const input = innerList(`(${names.map((name) => `"${name}"`).join(' ')})`)
    assert.equal(signatureBase({ method: 'GET', url: 'https://a/', headers }, input), undefined)
  })
})

test('a field of a megabyte of blanks is read in no time', () => {
  const value = `a${' '.repeat(1_000_000)}b`
  const message = { method: 'GET', url: 'https://a/', headers: { x: value } }
  const started = performance.now()
  assert.equal(
    signatureBase(message, innerList('("x")')),
    `"x": ${value}\n"@signature-params": ("x")`,
  )
  // A quadratic reader would take minutes.
  assert.ok(performance.now() - started < 2_000)
})

describe('X-9 the ed25519 signatures of RFC 9421', () => {
  for (const [at, { name, label, message, input, signature }] of rfc.signed.entries()) {
    test(`${name} is reproduced`, () => {
      const fields = signCovered(message, innerList(input), pair, label)
      assert.equal(fields['signature-input'], `${label}=${input}`)
      assert.equal(fields.signature, `${label}=:${signature}:`)
    })

    test(`${name} is verified`, () => assert.equal(fits(carrying(message, at)), true))
  }

  for (const { why, fits: expected, message } of rfc.transformed) {
    test(`B.4 ${expected ? 'still fits' : 'no longer fits'}: ${why}`, () => {
      assert.equal(fits(carrying(message, 1)), expected)
    })
  }
})

describe('signatures that a message carries', () => {
  const input = 'sig=("@method");created=1'
  const bytes = `:${Buffer.alloc(64, 1).toString('base64')}:`
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [why: string, headers: Record<string, string | string[]>, labels: string[]])[] = [
    ['one',                              { 'Signature-Input': input, Signature: `sig=${bytes}` },            ['sig']],
    ['two, in lines of their own',       { 'signature-input': [input, 'b=()'], signature: [`sig=${bytes}`, `b=${bytes}`] }, ['sig', 'b']],
    ['an input without a signature',     { 'signature-input': input },                                       []],
    ['a signature without an input',     { signature: `sig=${bytes}` },                                      []],
    ['under different labels',           { 'signature-input': input, signature: `other=${bytes}` },          []],
    ['an input that is no list',         { 'signature-input': 'sig=1', signature: `sig=${bytes}` },          []],
    ['a signature that is no bytes',     { 'signature-input': input, signature: 'sig="text"' },              []],
    ['a signature of another length',    { 'signature-input': input, signature: 'sig=:AAAA:' },              []],
    ['a field that is no dictionary',    { 'signature-input': '(((', signature: `sig=${bytes}` },            []],
  ]
  for (const [why, headers, labels] of rows) {
    test(why, () => {
      const carried = carriedSignatures({ method: 'GET', url: 'https://a/', headers })
      assert.deepEqual(
        carried.map(({ label }) => label),
        labels,
      )
    })
  }
})

describe('X-9 Content-Digest', () => {
  for (const { name, body, field, ours } of rfc.digests) {
    test(name, () => {
      if (ours) assert.equal(contentDigest(Buffer.from(body)), field)
      assert.equal(fitsContentDigest(field, Buffer.from(body)), true)
      assert.equal(fitsContentDigest(field, Buffer.from(`${body} `)), false)
    })
  }

  const body = Buffer.from('body')
  const good = contentDigest(body)
  const wrong = contentDigest(Buffer.from('other'))
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [why: string, field: string, fits: boolean])[] = [
    ['an algorithm that we do not know is skipped', `${good}, sha-1024=:AAAA:`,             true],
    ['but proves nothing by itself',                'sha-1024=:AAAA:',                      false],
    ['a broken algorithm proves nothing',           'md5=:hBotaJrKa9FhFEdFPCLG/A==:',       false],
    ['every one that we know must fit',             `${good}, sha-512=:AAAA:`,              false],
    ['of two of one kind the last counts',          `${good}, ${wrong}`,                    false],
    ['a text in place of bytes',                    'sha-256="text"',                       false],
    ['no dictionary',                               '((',                                   false],
    ['nothing',                                     '',                                     false],
  ]
  for (const [why, field, expected] of rows) {
    test(why, () => assert.equal(fitsContentDigest(field, body), expected))
  }
})
