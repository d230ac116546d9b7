/**
 * `chimera keys`: makes keys, hands an agent over to a new one, replaces a lost one, and shows who
 * spoke for an agent when.
 */
import { join } from 'node:path'
import { checker } from '@chimera/dialects/check'
import { HubKeysShown, KeyHistoryShown } from '@chimera/dialects/chimera'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import type { AgentId } from '@chimera/domain/ids'
import { createClock } from '@chimera/host/clock'
import { required } from '@chimera/host/settings/declare'
import { text } from '@chimera/host/settings/kinds'
import { createKeyFile, rotateKeyFile } from '@chimera/identity/key-file'
import { generateKeyPair } from '@chimera/identity/keys'
import { signRecovery } from '@chimera/identity/recovery'
import { signRotation } from '@chimera/identity/rotation'
import { Command } from 'commander'
import { askHub, type Sent, understand } from '../ask.ts'
import { HUB_ADDRESS, HUB_TOKEN, readFlags } from '../flags.ts'
import { explained, readKey, readOrMakeKey, tellMade } from '../key-pair.ts'
import { printJson, printTable } from '../show.ts'
import type { StorageFlags } from '../storage.ts'
import { withHubFlags } from '../token-terms.ts'
import { MISUSED, Trouble } from '../trouble.ts'

const OLD = {
  keyFile: required(text(), { about: 'The file of the key that speaks for the agent now.' }),
} as const
const NEXT = {
  newKeyFile: required(text(), {
    about: 'The file of the key that is to speak for it; made if it is not there.',
  }),
} as const

export function keysVerb(): Command {
  return new Command('keys')
    .description('Keys of agents and of the hub: make, rotate, recover, show')
    .addCommand(
      new Command('new')
        .description('Make a key in a new file that only you can read')
        .argument('<file>', 'A new file')
        .option('--json', 'Print one JSON object.')
        .action(make),
    )
    .addCommand(
      withHubFlags(new Command('show'))
        .description('The keys of an agent, or of the hub, each with its time')
        .argument('<agent>', "The agent's id, or the word hub")
        .action(show),
    )
    .addCommand(
      withHubFlags(new Command('rotate'))
        .description('Hand the agent over to a new key; both keys sign')
        .argument('<agent>', "The agent's id")
        .requiredOption('--key-file <file>', OLD.keyFile.about)
        .requiredOption('--new-key-file <file>', NEXT.newKeyFile.about)
        .action(rotate),
    )
    .addCommand(
      withHubFlags(new Command('recover'))
        .description("Replace a lost key, by the owner's token; takes effect after a delay")
        .argument('<agent>', "The agent's id")
        .requiredOption('--new-key-file <file>', NEXT.newKeyFile.about)
        .action(recover),
    )
    .addCommand(
      withHubFlags(new Command('finish'))
        .description('Let a replacement take effect, if its time has come')
        .argument('<agent>', "The agent's id")
        .action(finish),
    )
    .addCommand(
      withHubFlags(new Command('call-off'))
        .description('End a replacement that is under way, by the key that speaks now')
        .argument('<agent>', "The agent's id")
        .requiredOption('--key-file <file>', OLD.keyFile.about)
        .action(callOff),
    )
    .addCommand(
      new Command('rotate-hub')
        .description('Give the hub on this machine a new key; takes effect when it is restarted')
        .option('--data <directory>', 'The data directory of the hub.')
        .option('--config <file>', 'The settings file of the hub.')
        .option('--key-file <file>', 'The key file of the hub, if it is not in its data directory.')
        .option('--json', 'Print one JSON object.')
        .action(rotateHub),
    )
    .addHelpText(
      'after',
      `
Examples:
  chimera keys new agent.json
  chimera keys show 7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11
  chimera keys rotate <agent> --key-file agent.json --new-key-file next.json
  chimera keys recover <agent> --new-key-file next.json --token-file alice.token
  chimera keys call-off <agent> --key-file agent.json
  chimera keys show hub`,
    )
}

type Options = Readonly<Record<string, unknown>> & { readonly json?: boolean }

async function make(file: string, { json = false }: Options): Promise<void> {
  const kept = await explained(createKeyFile(file, generateKeyPair()))
  const { id, publicKey } = kept.pair
  if (json) return printJson({ key_id: id, public_key: publicKey, file })
  printTable([{ title: 'KEY' }, { title: 'PUBLIC KEY' }], [[id, publicKey]])
  tellMade(file, kept)
}

async function show(agent: string, { json = false, ...flags }: Options): Promise<void> {
  const { hub, token } = await readFlags({ ...HUB_ADDRESS, ...HUB_TOKEN }, flags)
  if (agent !== 'hub') return changed({ hub, agent, path: '', sent: { token } }, { json })
  const answer = await askHub(hub, '/v1/keys/hub', { token })
  const { keys } = understand(answer, { check: checker(HubKeysShown), hub })
  if (json) printJson(answer)
  else showPeriods(keys)
}

async function rotate(agent: string, { json = false, ...flags }: Options): Promise<void> {
  const asked = await readFlags({ ...HUB_ADDRESS, ...HUB_TOKEN, ...OLD, ...NEXT }, flags)
  const id = agentId(agent)
  const pairs = {
    old: await readKey(asked.keyFile),
    next: await readOrMakeKey(asked.newKeyFile),
  }
  const body = signRotation(id, pairs, createClock().now())
  await changed({ hub: asked.hub, agent, path: '/rotate', sent: { body } }, { json })
  if (!json) console.error(`The agent speaks with ${asked.newKeyFile} now; the old key is refused.`)
}

async function recover(agent: string, { json = false, ...flags }: Options): Promise<void> {
  const asked = await readFlags({ ...HUB_ADDRESS, ...HUB_TOKEN, ...NEXT }, flags)
  const id = agentId(agent)
  const next = await readOrMakeKey(asked.newKeyFile)
  const body = signRecovery(id, next, createClock().now())
  const sent = { body, token: asked.token }
  await changed({ hub: asked.hub, agent, path: '/recover', sent }, { json })
  if (!json) console.error('Until then the present key speaks, and can call this off.')
}

async function finish(agent: string, { json = false, ...flags }: Options): Promise<void> {
  const { hub, token } = await readFlags({ ...HUB_ADDRESS, ...HUB_TOKEN }, flags)
  const sent = { method: 'POST', token } as const
  await changed({ hub, agent, path: '/recover/finish', sent }, { json })
}

async function callOff(agent: string, { json = false, ...flags }: Options): Promise<void> {
  const { hub, keyFile } = await readFlags({ ...HUB_ADDRESS, ...HUB_TOKEN, ...OLD }, flags)
  const sent = { method: 'POST', key: await readKey(keyFile) } as const
  await changed({ hub, agent, path: '/recover/call-off', sent }, { json })
}

type Asked = {
  readonly hub: string
  readonly agent: string
  readonly path: string
  readonly sent: Sent
}

/** Every call about an agent's keys is answered with all of them. */
async function changed({ hub, agent, path, sent }: Asked, { json }: { json: boolean }) {
  const answer = await askHub(hub, `/v1/keys/${agentId(agent)}${path}`, sent)
  const { keys, recovery } = understand(answer, { check: checker(KeyHistoryShown), hub })
  if (json) return printJson(answer)
  showPeriods(keys)
  if (recovery === undefined) return
  console.error(`${recovery.key_id} takes its place on ${recovery.takes_effect_at}.`)
}

type Shown = {
  readonly key_id: string
  readonly public_key: string
  readonly from: string
  readonly until?: string
}

function showPeriods(keys: readonly Shown[]): void {
  printTable(
    [{ title: 'KEY' }, { title: 'PUBLIC KEY' }, { title: 'FROM' }, { title: 'UNTIL' }],
    keys.map((each) => [each.key_id, each.public_key, each.from, each.until ?? 'now']),
  )
  if (keys.length === 0) console.error('It has no key yet: nothing was signed.')
}

function agentId(agent: string): AgentId {
  if (isUuid(agent)) return readUuid<AgentId>(agent)
  throw new Trouble('An agent is named by its id, a UUID.', MISUSED)
}

type HubFlags = StorageFlags & { readonly keyFile?: string; readonly json?: boolean }

async function rotateHub({ json = false, ...flags }: HubFlags): Promise<void> {
  // Loads a database with it, which no other of these commands needs.
  const { readHubSettings } = await import('../storage.ts')
  const settings = await readHubSettings(flags)
  const file = settings.keyFile ?? join(settings.data, 'keys', 'hub.json')
  const { old, next, retired } = await explained(rotateKeyFile(file))
  if (json) return printJson({ old_key: old.id, new_key: next.id, file, retired })
  printTable([{ title: 'OLD KEY' }, { title: 'NEW KEY' }], [[old.id, next.id]])
  console.error(`Stop every hub that uses ${file}, then start them: they sign with the new key.`)
  console.error(`The old one is in ${retired}: delete it when they run.`)
  console.error('What it signed still verifies; `chimera keys show hub` shows both.')
}
