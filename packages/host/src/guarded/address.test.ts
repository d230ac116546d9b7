/** P-8: the table of addresses that strangers try, in every disguise, and those that are public. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { checkAddress, literalIn, readIp } from './address.ts'
import { readAllowance } from './allowance.ts'
import { reachedBy, specialRange } from './ranges.ts'

const allowanceOf = (...entries: readonly string[]) => {
  const read = readAllowance(entries)
  assert.ok(read.ok)
  return read.allowance
}
const nothing = allowanceOf()

// biome-ignore format: a table is read by its columns
const refused: readonly (readonly [address: string, why: string])[] = [
  ['0.0.0.0',                        'this network'],
  ['0.255.255.255',                  'this network'],
  ['10.0.0.0',                       'private'],
  ['10.255.255.255',                 'private'],
  ['100.64.0.0',                     'carrier-grade NAT'],
  ['100.100.100.200',                'carrier-grade NAT'],
  ['100.127.255.255',                'carrier-grade NAT'],
  ['127.0.0.1',                      'loopback'],
  ['127.255.255.254',                'loopback'],
  ['168.63.129.16',                  'cloud platform'],
  ['169.254.169.254',                'link-local'],
  ['172.16.0.1',                     'private'],
  ['172.31.255.255',                 'private'],
  ['192.0.0.192',                    'protocol assignments'],
  ['192.0.2.1',                      'documentation'],
  ['192.88.99.1',                    '6to4 relay'],
  ['192.168.255.255',                'private'],
  ['198.18.0.1',                     'benchmarking'],
  ['198.19.255.255',                 'benchmarking'],
  ['198.51.100.7',                   'documentation'],
  ['203.0.113.7',                    'documentation'],
  ['224.0.0.1',                      'multicast'],
  ['239.255.255.255',                'multicast'],
  ['240.0.0.1',                      'reserved'],
  ['255.255.255.255',                'reserved'],
  ['::',                             'unspecified'],
  ['::1',                            'loopback'],
  ['0:0:0:0:0:0:0:1',                'loopback'],
  ['::127.0.0.1',                    'IPv4-compatible'],
  ['::7f00:1',                       'IPv4-compatible'],
  ['::8.8.8.8',                      'IPv4-compatible'],
  ['::ffff:127.0.0.1',               'loopback'],
  ['::ffff:7f00:1',                  'loopback'],
  ['::ffff:a9fe:a9fe',               'link-local'],
  ['::ffff:10.0.0.1',                'private'],
  ['::ffff:0:127.0.0.1',             'IPv4-translated'],
  ['64:ff9b::127.0.0.1',             'loopback'],
  ['64:ff9b::a00:1',                 'private'],
  ['64:ff9b:1::8.8.8.8',             'local NAT64'],
  ['100::1',                         'discard'],
  ['2001:0:7f00:1::',                'Teredo'],
  ['2001:0:4136:e378::',             'Teredo'],
  ['2001:2::1',                      'protocol assignments'],
  ['2001:20::1',                     'protocol assignments'],
  ['2001:db8::1',                    'documentation'],
  ['2002:7f00:1::',                  '6to4'],
  ['2002:808:808::',                 '6to4'],
  ['3fff::1',                        'documentation'],
  ['5f00::1',                        'segment routing'],
  ['4000::1',                        'not public'],
  ['fc00::1',                        'unique local'],
  ['fd00:ec2::254',                  'unique local'],
  ['fe80::1',                        'link-local'],
  ['febf::1',                        'link-local'],
  ['fec0::1',                        'site-local'],
  ['ff02::1',                        'multicast'],
  ['fe80::1%eth0',                   'not an IP'],
  ['::1%1',                          'not an IP'],
  ['2606:4700::1%eth0',              'not an IP'],
  ['127.1',                          'not an IP'],
  ['2130706433',                     'not an IP'],
  ['0x7f000001',                     'not an IP'],
  ['0177.0.0.1',                     'not an IP'],
  ['127.0.0.1 ',                     'not an IP'],
  ['localhost',                      'not an IP'],
  ['',                               'not an IP'],
]

// biome-ignore format: a table is read by its columns
const dialled: readonly (readonly [address: string, as: string])[] = [
  ['8.8.8.8',              '8.8.8.8'],
  ['9.255.255.255',        '9.255.255.255'],
  ['11.0.0.0',             '11.0.0.0'],
  ['100.63.255.255',       '100.63.255.255'],
  ['100.128.0.0',          '100.128.0.0'],
  ['126.255.255.255',      '126.255.255.255'],
  ['128.0.0.0',            '128.0.0.0'],
  ['168.63.129.15',        '168.63.129.15'],
  ['172.15.255.255',       '172.15.255.255'],
  ['172.32.0.0',           '172.32.0.0'],
  ['192.167.255.255',      '192.167.255.255'],
  ['223.255.255.255',      '223.255.255.255'],
  ['2606:4700:0::1111',    '2606:4700::1111'],
  ['2A00:1450:4001::200E', '2a00:1450:4001::200e'],
  ['::ffff:8.8.8.8',       '8.8.8.8'],
  ['::ffff:808:808',       '8.8.8.8'],
  ['64:ff9b::8.8.8.8',     '64:ff9b::808:808'],
]

describe('P-8 an address', () => {
  for (const [address, why] of refused) {
    test(`${address || '(empty)'} is refused: ${why}`, () => {
      const checked = checkAddress(address, nothing)
      assert.ok(!checked.ok && checked.why.startsWith(why), JSON.stringify(checked))
    })
  }
  for (const [address, as] of dialled) {
    test(`${address} is dialled as ${as}`, () => {
      assert.deepEqual(checkAddress(address, nothing), { ok: true, address: as, listed: false })
    })
  }
})

describe('P-8 disguises are read as the system would read them', () => {
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [host: string, literal: string | undefined])[] = [
    ['127.1',                 '127.0.0.1'],
    ['127.0.1',               '127.0.0.1'],
    ['2130706433',            '127.0.0.1'],
    ['0x7f000001',            '127.0.0.1'],
    ['0x7f.1',                '127.0.0.1'],
    ['0X7F.0.0.1',            '127.0.0.1'],
    ['0177.0.0.1',            '127.0.0.1'],
    ['017700000001',          '127.0.0.1'],
    ['127.0.0.1.',            '127.0.0.1'],
    ['１２７.０.０.１',           '127.0.0.1'],
    ['127。0。0。1',           '127.0.0.1'],
    ['%31%32%37.0.0.1',       '127.0.0.1'],
    ['0',                     '0.0.0.0'],
    ['0xa9fea9fe',            '169.254.169.254'],
    ['[::ffff:127.0.0.1]',    '::ffff:7f00:1'],
    ['[0:0:0:0:0:0:0:1]',     '::1'],
    ['example.org',           undefined],
    ['localhost',             undefined],
    ['127.0.0.1.example.org', undefined],
  ]
  for (const [host, literal] of rows) {
    test(host, () => {
      assert.equal(literalIn(new URL(`http://${host}/`).hostname), literal)
      if (literal !== undefined) assert.equal(checkAddress(literal, nothing).ok, false)
    })
  }
})

describe('what the operator lists', () => {
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [entries: string, address: string, ok: boolean])[] = [
    ['127.0.0.1',         '127.0.0.1',          true],
    ['127.0.0.1',         '::ffff:127.0.0.1',   true],
    ['127.0.0.1',         '127.0.0.2',          false],
    ['127.0.0.1',         '::1',                false],
    ['localhost',         '127.0.0.2',          true],
    ['localhost',         '::1',                true],
    ['localhost',         '10.0.0.1',           false],
    ['10.0.0.0/8',        '10.9.8.7',           true],
    ['10.0.0.0/8',        '64:ff9b::10.9.8.7',  true],
    ['10.0.0.0/8',        '11.0.0.1',           true],
    ['10.0.0.0/8',        '172.16.0.1',         false],
    ['10.0.0.0/8',        '169.254.169.254',    false],
    ['fd00::/8',          'fd12::1',            true],
    ['fd00::/8',          'fe80::1',            false],
    ['::1',               '::1',                true],
    ['::1',               '127.0.0.1',          false],
    ['*',                 '169.254.169.254',    true],
    ['*',                 'fe80::1',            true],
    ['*',                 'fe80::1%eth0',       false],
  ]
  for (const [entries, address, ok] of rows) {
    test(`${entries} and ${address}`, () => {
      assert.equal(checkAddress(address, allowanceOf(entries)).ok, ok)
    })
  }

  test('what is not an address or a block is not taken', () => {
    const entries = [
      '10.0.0.0/33',
      '::/129',
      '10.0.0',
      'intranet',
      '10.0.0.0/',
      '',
      '**',
      'fe80::1%1',
    ]
    assert.deepEqual(readAllowance(['::1', ...entries]), { ok: false, wrong: entries })
  })
})

test('P-8 no IPv4 address changes its judgement by being dressed as IPv6', () => {
  const byte = fc.integer({ min: 0, max: 255 })
  fc.assert(
    fc.property(fc.tuple(byte, byte, byte, byte), (bytes) => {
      const bare = bytes.join('.')
      const known = checkAddress(bare, nothing)
      for (const dressed of [`::ffff:${bare}`, `64:ff9b::${bare}`]) {
        assert.equal(checkAddress(dressed, nothing).ok, known.ok, dressed)
      }
      assert.equal(checkAddress(`::${bare}`, nothing).ok, false)
    }),
    { numRuns: 2_000 },
  )
})

test('A2 what is dialled is judged the same when it is read again', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
      const checked = checkAddress(address, nothing)
      if (!checked.ok) return
      assert.deepEqual(checkAddress(checked.address, nothing), checked)
      const ip = readIp(checked.address)
      assert.ok(ip && specialRange(reachedBy(ip)) === undefined)
    }),
    { numRuns: 2_000 },
  )
})
