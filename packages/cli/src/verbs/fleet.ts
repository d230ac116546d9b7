/**
 * `chimera fleet`: one role of the fleet, several or all six, as agents of a hub elsewhere, until
 * told to stop. What it prints for people goes to standard error, a line for each piece of work to
 * standard output.
 *
 *   E1  All of it lies in one folder: keys, work, what was published. Started again there, it goes
 *       on where it was, however it ended.
 *   E2  A hub that is not there yet is waited for: machines start in any order.
 *   E3  The hub that is named is the one whose orders are obeyed.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createHubClient, type HubClient } from '@chimera/agent/hub/client'
import { KEY_MESSAGES } from '@chimera/dialects/chimera'
import { LIMITS } from '@chimera/domain/limits'
import { type Fleet, isRole, ROLES, type Role, startFleet } from '@chimera/fleet'
import { skillNamesOf } from '@chimera/fleet/roles'
import { type Clock, createClock } from '@chimera/host/clock'
import { network } from '@chimera/host/guarded/allowance'
import { createLog } from '@chimera/host/log'
import { optional, setting, type Values } from '@chimera/host/settings/declare'
import { list, place, text, url } from '@chimera/host/settings/kinds'
import { stopOnSignals } from '@chimera/host/signals'
import { createStop, type Stop } from '@chimera/host/stop'
import { SKILL_NAMES } from '@chimera/skills/catalogue'
import { type OpenSkills, openSkills } from '@chimera/skills/providers/open'
import { Command } from 'commander'
import { type Opened, openKeep } from '../agent/keeping.ts'
import { logWriter } from '../agent/log-lines.ts'
import { telling } from '../agent/work-events.ts'
import { HUB_ADDRESS, HUB_TOKEN, readFlags } from '../flags.ts'
import { createLiveLine, type LiveLine } from '../live-line.ts'
import { readProviders, toTrouble } from '../providers-file.ts'
import { plain } from '../show.ts'
import { MISUSED, Trouble } from '../trouble.ts'
import { lineOf } from './agent.ts'

const ASKED = {
  ...HUB_ADDRESS,
  ...HUB_TOKEN,
  owner: optional(text({ least: 1, most: LIMITS.ownerChars }), {
    about: 'Whose agents they are, and who is paid; CHIMERA_OWNER says it for all commands.',
  }),
  data: setting(text(), {
    fallback: join('.chimera', 'fleet'),
    about: 'Where keys, work and what was published are kept; .chimera/fleet unless given.',
  }),
  database: optional(url('postgres', 'postgresql'), {
    about: 'A PostgreSQL for their work instead of files, for several instances of a role.',
  }),
  listen: optional(place(), {
    about:
      'Where others reach them, such as 10.0.0.7:4700: the first role on this port, the others ' +
      'on those after it. Free ports of this machine unless given.',
  }),
  publicUrl: optional(url('http', 'https'), {
    about: 'Where a proxy shows them, each under its name: https://agents.example.org/judge.',
  }),
  allowNet: setting(list(network(), 32), {
    fallback: [],
    about: 'Private networks where they may ask other agents: 10.0.0.0/8, localhost.',
  }),
} as const

export function fleetVerb(): Command {
  return new Command('fleet')
    .description('Run roles of the fleet as agents of a hub elsewhere')
    .argument('[roles...]', `Some of ${ROLES.join(', ')}; all six unless given`)
    .option('--hub <address>', ASKED.hub.about)
    .option('--owner <name>', ASKED.owner.about)
    .option('--token-file <file>', ASKED.token.about)
    .option('--data <directory>', ASKED.data.about)
    .option('--database <address>', ASKED.database.about)
    .option(
      '--bus [address]',
      'Speak over NATS: at this address, or where the hub says and lets them in.',
    )
    .option('--listen <place>', ASKED.listen.about)
    .option('--public-url <address>', ASKED.publicUrl.about)
    .option('--allow-net <networks>', ASKED.allowNet.about)
    .option('--config <file>', 'Providers for the skills; chimera.config.ts if it is here.')
    .option('--quiet', 'Print no line for each piece of work.')
    .addHelpText(
      'after',
      `
Examples:
  chimera fleet --hub https://hub.example.org --owner acme --token-file acme.token
  chimera fleet orchestrator --listen 10.0.0.7:4700 --allow-net 10.0.0.0/8 --bus
  chimera fleet trend-analyst content-creator judge --data ./writers

Each role registers with its own key and is found, hired and paid like any other agent.
Ctrl-C or SIGTERM lets work under way end and stops; the next start goes on where it was.
Exit status: 0 stopped by you, 1 it could not start, 2 the words make no sense.`,
    )
    .action(run)
}

type Options = Readonly<Record<string, unknown>> & {
  readonly bus?: string | true
  readonly config?: string
  readonly quiet?: boolean
}
type Asked = Values<typeof ASKED>

async function run(words: readonly string[], options: Options): Promise<void> {
  const { bus, config, quiet = false, ...flags } = options
  const roles = rolesIn(words)
  const asked = await readFlags(ASKED, flags)
  const { owner } = asked
  if (owner === undefined) {
    throw new Trouble('--owner: expected whose agents they are; CHIMERA_OWNER says it.', MISUSED)
  }
  const token = asked.token?.reveal() ?? (process.env.CHIMERA_TOKEN || undefined)
  const clock = createClock()
  const stop = createStop({ clock, totalMs: 9_500 })
  const line = createLiveLine(process.stderr)
  stopOnSignals(stop, { clock, source: process, exit: (status) => process.exit(status) })
  stop.stopping.addEventListener('abort', () => line.note('Stopping: work under way may end…'))
  try {
    const hands = { clock, stop, line }
    const hubKey = await findHub(asked.hub, hands)
    if (stop.stopping.aborted) return
    const opened = await openBehind(roles, asked, token, { ...hands, config })
    line.show('starting the fleet…')
    const { database } = asked
    const shared = database === undefined ? undefined : openShared(database, hands)
    const fleet = await startFleet({
      hub: asked.hub,
      owner,
      token: token ?? '',
      directory: asked.data,
      skills: opened.skills,
      roles,
      clock,
      log: createLog({
        clock,
        name: 'fleet',
        level: 'info',
        destination: logWriter({ json: false }),
        showInside: true,
      }),
      allowNet: netsOf(asked),
      place: (role) => placeOf(role, roles, asked),
      open: async (role, directory) => {
        const kept = await (shared ?? openKeep(directory, { clock }))
        if (quiet) return kept
        const tell = (event: Parameters<typeof lineOf>[0]): void =>
          console.log(plain(`${role}  ${lineOf(event)}`))
        return { ...kept, keep: telling(kept.keep, { clock, tell }) }
      },
      onStarted: (role, agent) => line.note(`${role} is at work on ${agent.address()}`),
      ...(hubKey !== undefined && { hubKey }),
      ...(bus !== undefined && { bus: await busAt(bus) }),
    })
    stop.register({ name: 'fleet', boundMs: FLEET_MS, close: () => leave(fleet) })
    line.clear()
    console.error(`The fleet is at work at the hub ${asked.hub}, for ${owner}.`)
    console.error(`Its keys and its work are in ${asked.data}. Ctrl-C lets work end and stops.`)
  } catch (error) {
    line.clear()
    await stop.stop('could not start')
    throw toTrouble(error, asked.data)
  }
}

/** Of the nine and a half seconds of a stop: the rest is for what the skills have open. */
const FLEET_MS = 8_500

const leave = (fleet: Fleet): Promise<void> => fleet.stop('the command was stopped')

function rolesIn(words: readonly string[]): readonly Role[] {
  const wrong = words.filter((word) => !isRole(word))
  if (wrong.length > 0) {
    const came = wrong.map((word) => JSON.stringify(word)).join(', ')
    throw new Trouble(`[roles...]: expected some of ${ROLES.join(', ')}; came ${came}.`, MISUSED)
  }
  return words.length === 0 ? ROLES : ROLES.filter((role) => words.includes(role))
}

type Hands = { readonly clock: Clock; readonly stop: Stop; readonly line: LiveLine }

const LOOK_MS = 1_000

/** E2, E3. An open hub has no key, and gives no orders. */
async function findHub(address: string, { clock, stop, line }: Hands): Promise<string | undefined> {
  const hub: HubClient = createHubClient({ hub: address, clock, tries: 1 })
  try {
    for (;;) {
      const answer = await hub.get('/v1/keys/hub', { signal: stop.stopping })
      if (answer.ok) {
        const read = KEY_MESSAGES['hub-keys'].read(answer.body)
        if (!read.ok) throw new Trouble(`What answers on ${address} is no hub of this version.`)
        return read.value.public_key
      }
      if (answer.kind === 'refused') return undefined
      line.show(`waiting for the hub on ${address}…`)
      await clock.sleep(LOOK_MS, stop.stopping).catch(() => undefined)
      if (stop.stopping.aborted) return undefined
    }
  } finally {
    await hub.close()
  }
}

/** A name of our own, so that no variable of the user's is touched. */
const TOKEN_NAME = 'CHIMERA_FLEET_OWNER_TOKEN'

/** The skills of these roles on the user's providers, and nothing that the others need. */
async function openBehind(
  roles: readonly Role[],
  { hub, data }: Asked,
  token: string | undefined,
  { clock, stop, line, config }: Hands & { readonly config: string | undefined },
): Promise<OpenSkills> {
  const { settings } = await readProviders({ ...(config !== undefined && { config }) })
  await mkdir(data, { recursive: true, mode: 0o700 })
  const needed = skillNamesOf(roles)
  const proof = token === undefined ? {} : { token: { env: TOKEN_NAME } }
  const opened = await openSkills(
    { ...settings, hub: { url: hub, ...proof } },
    {
      clock,
      environment: { ...process.env, ...(token !== undefined && { [TOKEN_NAME]: token }) },
      directory: join(data, 'skills'),
      only: SKILL_NAMES.filter((name) => needed.has(name)),
    },
  )
  stop.register({ name: 'skills', close: () => opened.close() })
  void opened.warm().catch((error: unknown) => line.note(`not warmed up: ${String(error)}`))
  return opened
}

/** One for all roles of this process, which is closed after them. */
async function openShared(database: string, { clock, stop }: Hands): Promise<Opened> {
  const opened = await openKeep(database, { clock })
  stop.register({ name: 'database', close: opened.close })
  return { ...opened, close: async () => undefined }
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

function netsOf({ hub, allowNet }: Asked): readonly string[] {
  return LOOPBACK.test(new URL(hub).hostname) ? ['localhost', ...allowNet] : allowNet
}

function placeOf(role: Role, roles: readonly Role[], { listen, publicUrl }: Asked) {
  const port = listen && (listen.port === 0 ? 0 : listen.port + roles.indexOf(role))
  return {
    ...(listen && port !== undefined && { listen: { host: listen.host, port } }),
    ...(publicUrl !== undefined && { publicUrl: `${publicUrl.replace(/\/+$/, '')}/${role}` }),
  }
}

/** Much to load for whoever has no broker. */
async function busAt(address: string | true) {
  const { onNats } = await import('@chimera/bus/nats/for-agents')
  return onNats(address === true ? undefined : address)
}
