/** An address that is given is judged as it will be when it is dialled. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createVirtualClock } from '../virtual-clock.ts'
import { createJudge } from './judge.ts'

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['93.184.216.34'],
  'inside.example': ['10.0.0.1'],
  'mixed.example': ['93.184.216.34', '10.0.0.1'],
}
const judge = createJudge({
  clock: createVirtualClock(),
  allowNet: ['127.0.0.1'],
  resolve: async (host) => {
    const found = NAMES[host]
    if (found === undefined) throw Object.assign(new Error(host), { code: 'ENOTFOUND' })
    return found
  },
})

describe('P-8 an address that is given', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, url: string, answer: string][] = [
    ['a public name is dialled',              'https://public.example/in',        'https://public.example/in'],
    ['as it is spelled when dialled',         'HTTPS://Public.Example.:443/a b#c', 'https://public.example/a%20b'],
    ['an address that is allowed too',        'http://127.0.0.1:9/x',             'http://127.0.0.1:9/x'],
    ['a private address is not',              'http://10.1.2.3/',                 'refused_address'],
    ['nor in another spelling',               'http://0x0a010203/',               'refused_address'],
    ['nor behind a name',                     'http://inside.example/',           'refused_address'],
    ['nor beside a public one',               'http://mixed.example:8080/',       'refused_address'],
    ['a port that is not for the web is not', 'http://public.example:25/',        'refused_address'],
    ['a password in it is not',               'https://a:b@public.example/',      'refused_address'],
    ['another scheme is not',                 'ftp://public.example/',            'refused_address'],
    ['what is no address is not',             'nonsense',                         'refused_address'],
    ['a name that nobody knows is a failure', 'https://nobody.example/',          'network'],
  ]
  for (const [rule, url, answer] of rows) {
    test(rule, async () => {
      const judged = await judge(url)
      assert.equal(judged.ok ? judged.url : judged.failure.code, answer)
    })
  }
})
