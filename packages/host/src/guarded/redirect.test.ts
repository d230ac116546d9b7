/** The table is the specification: one row, one rule. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { decideRedirect, type Hop } from './redirect.ts'

const token = `chm_${'a1B2c3D4e5F6g7H8'}`
const headers = { 'content-type': 'application/json', traceparent: '00-x', authorization: token }
const hop = (method: string, url = 'https://a.example/x/y?z=1'): Hop => ({
  url: new URL(url),
  method,
  headers,
})
const redirect = (from: Hop, status: number, location: string | undefined) =>
  decideRedirect(from, { status, location })

describe('D1 the method never changes', () => {
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [method: string, status: number, followed: boolean])[] = [
    ['GET',    301, true],  ['GET',  302, true],  ['GET',  303, true],  ['GET',  307, true], ['GET',  308, true],
    ['HEAD',   301, true],  ['HEAD', 302, true],  ['HEAD', 303, true],  ['HEAD', 307, true], ['HEAD', 308, true],
    ['POST',   301, false], ['POST', 302, false], ['POST', 303, false], ['POST', 307, true], ['POST', 308, true],
    ['DELETE', 302, false], ['PUT',  303, false], ['PUT',  307, true],
    ['GET',    200, false], ['GET',  201, false], ['GET',  300, false], ['GET',  304, false], ['GET', 404, false],
  ]
  for (const [method, status, followed] of rows) {
    test(`${method} and ${status}: ${followed ? 'followed' : 'handed back'}`, () => {
      assert.equal(redirect(hop(method), status, '/there')?.method, followed ? method : undefined)
    })
  }

  test('without a place to go there is no redirect', () => {
    assert.equal(redirect(hop('GET'), 302, undefined), undefined)
  })
})

test('a relative place is meant from where it was said', () => {
  const places = ['/b', 'b', '?c', '//b.example/d', 'https://b.example:8443/']
  assert.deepEqual(
    places.map((place) => redirect(hop('GET'), 302, place)?.url.href),
    [
      'https://a.example/b',
      'https://a.example/x/b',
      'https://a.example/x/y?c',
      'https://b.example/d',
      'https://b.example:8443/',
    ],
  )
})

describe('D2 from https to', () => {
  for (const place of [
    'http://a.example/',
    'HTTP://b.example',
    'ftp://a.example/',
    'file:///x',
    'https://',
  ]) {
    test(`${place} is refused`, () => {
      assert.throws(() => redirect(hop('GET'), 302, place), { code: 'refused_address' })
    })
  }
  test('while from http to https is welcome', () => {
    const next = redirect(hop('GET', 'http://a.example/'), 301, 'https://a.example/')
    assert.equal(next?.url.href, 'https://a.example/')
  })
})

describe('D3 to another origin nothing goes that proves who we are', () => {
  const proofs = {
    Authorization: token,
    cookie: 'a=1',
    'Proxy-Authorization': token,
    'X-Api-Key': 'k',
    'x-auth-token': 't',
    Signature: 's',
    'signature-input': 's',
    'X-Signature': 's',
  }
  const plain = { 'content-type': 'application/json', traceparent: '00-x', 'x-message-id': '1' }
  const from: Hop = { ...hop('POST'), headers: { ...proofs, ...plain } }

  test('within the origin all goes along', () => {
    assert.deepEqual(redirect(from, 307, '/b')?.headers, from.headers)
  })

  for (const place of ['https://b.example/', 'https://a.example:8443/', 'https://sub.a.example/']) {
    test(place, () => assert.deepEqual(redirect(from, 307, place)?.headers, plain))
  }
})
