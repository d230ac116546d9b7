/**
 * `chimera broker`: makes the authority by which hubs let agents onto a NATS server, and the lines
 * of configuration by which the server believes it.
 */
import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type AuthoritySeeds,
  createAuthority,
  encodeServerConfig,
  granterOf,
  readAuthority,
  renewSigning,
} from '@chimera/bus/nats/authority'
import { encodeHubCreds } from '@chimera/bus/nats/hub-creds'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { Command } from 'commander'
import { refuseTaken } from '../line-file.ts'
import { codeOf, MISUSED, Trouble } from '../trouble.ts'

export function brokerVerb(): Command {
  return new Command('broker')
    .description('A NATS server that lets in whom the hubs let in')
    .addCommand(
      new Command('init')
        .description('Make the authority, and write what the server and the hubs need')
        .argument('<folder>', 'Where the four files are written; none of them may be there')
        .option('--disk <GiB>', 'What streams may take on the disk of the server.', '8')
        .action(init),
    )
    .addCommand(
      new Command('renew')
        .description('The same authority with another key that lets agents in: the old one leaked')
        .argument('<authority>', 'The authority.json of before')
        .argument('<folder>', 'Where the four files are written; none of them may be there')
        .option('--disk <GiB>', 'What streams may take on the disk of the server.', '8')
        .action(renew),
    )
    .addHelpText(
      'after',
      `
The files:
  nats.conf       lines for the configuration of every server; no secret
  hub.creds       for each hub, as --bus-creds; whoever has it is a hub to the broker
  granter.json    for each hub, as --bus-granter; whoever has it lets in whom it wants
  authority.json  for the verb renew; keep it off the network

Examples:
  chimera broker init ./broker
  chimera broker renew broker/authority.json ./broker-2
  chimera hub --bus tls://broker.example.org:4222 --bus-creds broker/hub.creds \\
    --bus-granter broker/granter.json --bus-held yes`,
    )
}

const GIB = 1024 ** 3
// For readers of streams; what is kept is on the disk.
const MEMORY_BYTES = GIB / 4
const MOST_GIB = 1_000_000

type Options = { readonly disk: string }

async function init(folder: string, options: Options): Promise<void> {
  await writeAll(createAuthority(createChance().bytes), folder, options)
}

async function renew(path: string, folder: string, options: Options): Promise<void> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Trouble(`${path} cannot be read (${codeOf(cause)}).`, MISUSED)
  })
  const seeds = readAuthority(text)
  if (seeds === undefined) {
    throw new Trouble(`${path} is no authority.json of \`chimera broker init\`.`, MISUSED)
  }
  await writeAll(renewSigning(seeds, createChance().bytes), folder, options)
}

async function writeAll(seeds: AuthoritySeeds, folder: string, { disk }: Options): Promise<void> {
  const gib = Number(disk)
  if (!/^\d+$/.test(disk) || gib < 1 || gib > MOST_GIB) {
    throw new Trouble(`--disk: expected a whole number of GiB, got ${disk}.`, MISUSED)
  }
  const draw = createChance().bytes
  const now = createClock().now()
  const granter = granterOf(seeds)
  const { account, signingSeed } = granter
  const limits = { diskBytes: gib * GIB, memoryBytes: MEMORY_BYTES }
  const json = (value: object) => `${JSON.stringify(value, undefined, 2)}\n`
  const files = {
    'nats.conf': encodeServerConfig(seeds, { now, ...limits }),
    'hub.creds': encodeHubCreds(granter, { draw, now }),
    'granter.json': json({ account, signing_seed: signingSeed }),
    'authority.json': json(seeds),
  }
  for (const name of Object.keys(files)) refuseTaken(join(folder, name))
  for (const [name, text] of Object.entries(files)) await write(folder, name, text)
  console.error(`Written to ${folder}. Keep authority.json off the network.`)
}

/** Of a secret, nobody else may read anything from its first byte on. */
async function write(folder: string, name: string, text: string): Promise<void> {
  const path = join(folder, name)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = await open(path, 'wx', name === 'nats.conf' ? 0o644 : 0o600)
    try {
      await file.writeFile(text)
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw new Trouble(`${path} cannot be written (${codeOf(cause)}).`, MISUSED)
  }
}
