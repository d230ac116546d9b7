/** P-8: hostile addresses, as far as they are recognised before a name is resolved. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { isWebPort } from './ports.ts'
import { readTarget } from './target.ts'

// biome-ignore format: a table is read by its columns
const refused: readonly (readonly [why: string, url: string])[] = [
  ['another scheme',           'ftp://example.org/'],
  ['a file',                   'file:///etc/passwd'],
  ['gopher',                   'gopher://127.0.0.1:6379/_x'],
  ['data',                     'data:text/plain,x'],
  ['a script',                 'javascript:alert(1)'],
  ['a websocket',              'wss://example.org/'],
  ['a name and password',      'http://user:secret@example.org/'],
  ['a name',                   'http://user@example.org/'],
  ['a password alone',         'http://:secret@example.org/'],
  ['a host hidden as a name',  'http://example.org@127.0.0.1/'],
  ['a blank in the name part', 'http://1.1.1.1 &@2.2.2.2# @3.3.3.3/'],
  ['no host',                  'http://'],
  ['nothing',                  ''],
  ['no scheme',                'example.org/x'],
  ['a path',                   '/etc/passwd'],
  ['a zone',                   'http://[fe80::1%25eth0]/'],
  ['five parts',               'http://1.2.3.4.5/'],
  ['a part over 255',          'http://256.1.1.1/'],
  ['an empty label',           'http://example..org/'],
  ['dots only',                'http://.../'],
  ['one dot',                  'http://./'],
  ['two dots at the end',      'http://example.org../'],
  ['a hyphen first',           'http://-example.org/'],
  ['an odd character',         'http://exa$mple.org/'],
  ['a label of 64',            `http://${'a'.repeat(64)}.org/`],
  ['a name of 254',            `http://${'a.'.repeat(126)}org/`],
  ['a port too high',          'http://example.org:65536/'],
  ['two ports',                'http://example.org:80:80/'],
  ['a line break in the host', 'http://exa%0ample.org/'],
  ['more than an address has', `http://example.org/${'x'.repeat(2_048)}`],
]

// biome-ignore format: a table is read by its columns
const accepted: readonly (readonly [url: string, host: string, port: number, href: string])[] = [
  ['http://example.org',               'example.org',   80,    'http://example.org/'],
  ['https://example.org/a?b=1#c',      'example.org',   443,   'https://example.org/a?b=1'],
  ['HTTPS://EXAMPLE.ORG:8443/',        'example.org',   8_443, 'https://example.org:8443/'],
  ['http://example.org./',             'example.org',   80,    'http://example.org/'],
  ['http://localhost.:4600/',          'localhost',     4_600, 'http://localhost:4600/'],
  ['http://2130706433/',               '127.0.0.1',     80,    'http://127.0.0.1/'],
  ['http://127.1.:81/',                '127.0.0.1',     81,    'http://127.0.0.1:81/'],
  ['http://[::1]:4600/',               '::1',           4_600, 'http://[::1]:4600/'],
  ['http://[::ffff:127.0.0.1]/',       '::ffff:7f00:1', 80,    'http://[::ffff:7f00:1]/'],
  ['http://bücher.example/',           'xn--bcher-kva.example', 80, 'http://xn--bcher-kva.example/'],
  ['http:\\\\example.org\\x',          'example.org',   80,    'http://example.org/x'],
  ['http://hub_1.planner/',            'hub_1.planner', 80,    'http://hub_1.planner/'],
]

describe('P-8 an address that strangers give', () => {
  for (const [why, url] of refused) {
    test(`is refused for ${why}`, () => {
      assert.throws(() => readTarget(url), { code: 'refused_address' })
    })
  }
  for (const [url, host, port, href] of accepted) {
    test(`${url} means ${host}`, () => {
      const target = readTarget(url)
      assert.deepEqual([target.host, target.port, target.url.href], [host, port, href])
      assert.equal(target.secure, href.startsWith('https:'))
    })
  }
})

test('X-5 the detail of a refusal shows no password', () => {
  assert.throws(
    () => readTarget('http://user:hunter2@example.org/'),
    (error: Error & { detail: string }) => !`${error.message} ${error.detail}`.includes('hunter2'),
  )
})

describe('SF-6 unknown hosts are refused when the known are listed', () => {
  const rules = { onlyHosts: ['openclaw.example.org', '127.0.0.1'] }
  for (const host of ['openclaw.example.org', 'OpenClaw.Example.org.', '127.1']) {
    test(`${host} is known`, () => assert.ok(readTarget(`https://${host}/`, rules)))
  }
  for (const host of [
    'example.org',
    'openclaw.example.org.evil.example',
    'x.openclaw.example.org',
  ]) {
    test(`${host} is not`, () => {
      assert.throws(() => readTarget(`https://${host}/`, rules), { code: 'refused_address' })
    })
  }
})

test('P-8 ports that are not for the web', () => {
  for (const port of [0, 1, 22, 25, 53, 110, 143, 465, 587, 993, 1_023, 2_049, 6_000, 6_667]) {
    assert.equal(isWebPort(port), false, String(port))
  }
  for (const port of [80, 443, 1_024, 3_000, 4_600, 8_080, 8_443, 65_535]) {
    assert.equal(isWebPort(port), true, String(port))
  }
})
