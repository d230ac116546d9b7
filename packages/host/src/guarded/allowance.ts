/**
 * What an operator allows beyond public addresses (`--allow-net`): single addresses, blocks such
 * as 10.0.0.0/8, `localhost` for this machine, and `*` for everything, for development.
 */
import type { Kind } from '../settings/kinds.ts'
import { readIp } from './address.ts'
import { type Ip, isWithin } from './ranges.ts'

export type Allowance = { readonly covers: (ip: Ip) => boolean }

export type AllowanceRead =
  | { readonly ok: true; readonly allowance: Allowance }
  | { readonly ok: false; readonly wrong: readonly string[] }

const EVERYTHING = ['0.0.0.0/0', '::/0']
const THIS_MACHINE = ['127.0.0.0/8', '::1/128']

export function readAllowance(entries: readonly string[]): AllowanceRead {
  const wrong = entries.filter((entry) => blocksOf(entry) === undefined)
  if (wrong.length > 0) return { ok: false, wrong }
  const blocks = entries.flatMap((entry) => blocksOf(entry) ?? [])
  return {
    ok: true,
    allowance: { covers: (ip) => blocks.some((block) => isWithin(ip, block)) },
  }
}

/** One entry of the list, as a kind of setting. */
export function network(): Kind<string> {
  return {
    expected: 'an IP address, a block such as 10.0.0.0/8, localhost, or * for everything',
    read: (raw) => (typeof raw === 'string' && blocksOf(raw) ? raw : undefined),
    show: (value) => value,
  }
}

function blocksOf(entry: string): readonly string[] | undefined {
  if (entry === '*') return EVERYTHING
  if (entry === 'localhost') return THIS_MACHINE
  const [, text = '', bits] = /^([0-9a-fA-F.:]{2,45})(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  const ip = readIp(text)
  if (!ip) return undefined
  const most = ip.kind() === 'ipv4' ? 32 : 128
  const wanted = bits === undefined ? most : Number(bits)
  return wanted <= most ? [`${ip.toString()}/${wanted}`] : undefined
}
