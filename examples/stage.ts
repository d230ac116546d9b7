/**
 * What the examples have in common: a hub to speak to, and a voice. With CHIMERA_HUB in the
 * environment that hub is used, such as the one of `npm start -- hub`; without it the example
 * starts one of its own, in memory, and stops it at the end.
 */
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { createLog } from '@chimera/host/log'
import { defaultsOf } from '@chimera/host/settings/declare'
import { createStop } from '@chimera/host/stop'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import { startHub } from '@chimera/hub/start'

export type HubHere = {
  readonly address: string
  readonly get: (path: string) => Promise<Record<string, unknown>>
  readonly stop: () => Promise<unknown>
}

export async function openHub(): Promise<HubHere> {
  const given = process.env.CHIMERA_HUB
  const { address, stop } = given ? { address: given, stop: async () => undefined } : await start()
  const get = async (path: string) => {
    const answer = await fetch(address + path)
    return (await answer.json()) as Record<string, unknown>
  }
  return { address, get, stop }
}

async function start() {
  const clock = createClock()
  const stop = createStop({ clock })
  const { address } = await startHub({
    settings: {
      ...defaultsOf(HUB_SETTINGS),
      listen: { host: '127.0.0.1', port: 0 },
      data: ':memory:',
      // The agents of the examples are on this machine too.
      allowNet: ['127.0.0.1'],
    },
    clock,
    chance: createChance(),
    log: createLog({ clock, name: 'hub', level: 'silent' }),
    stop,
  })
  return { address, stop: () => stop.stop('the example is over') }
}

/** Colour only where somebody looks. */
const paint = (code: number) => (text: string) =>
  process.stdout.isTTY && process.env.NO_COLOR === undefined
    ? `\u001b[${code}m${text}\u001b[0m`
    : text
const bold = paint(1)
const dim = paint(2)

export const title = (text: string): void => console.log(`\n${bold(text)}`)
export const say = (text: string): void => console.log(`  ${text}`)
export const aside = (text: string): void => console.log(`  ${dim(text)}`)
