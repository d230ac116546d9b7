/**
 * `chimera campaign`: a fleet's campaigns, from a file to its posts.
 *
 *   G1  A campaign is hired like any other work, from whoever offers `run_campaign`. It goes on
 *       when this process ends: with --wait it is only looked at.
 *   G2  The same file is the same campaign: run again, it is found and not begun anew.
 */
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { HireFailure } from '@chimera/agent/hire/failure'
import { checker } from '@chimera/dialects/check'
import { CampaignList, CampaignSeen } from '@chimera/dialects/chimera'
import { centsOf, instantOf } from '@chimera/dialects/wire'
import { isCampaignOver } from '@chimera/domain/campaign/status'
import { createClock } from '@chimera/host/clock'
import { setting, type Values } from '@chimera/host/settings/declare'
import { choice, whole } from '@chimera/host/settings/kinds'
import { Command } from 'commander'
import { askHub, understand } from '../ask.ts'
import { beginCampaign, readSample, SAMPLES, type Sample } from '../campaign-begin.ts'
import { loadCampaign } from '../campaign-file.ts'
import { HUB_ADDRESS, HUB_TOKEN, readFlags } from '../flags.ts'
import { createLiveLine } from '../live-line.ts'
import { plain, printJson, printTable, writeCredits } from '../show.ts'
import { writeSpan, writeWhen } from '../span.ts'
import { withHubFlags } from '../token-terms.ts'
import { FAILED, MISUSED, Trouble } from '../trouble.ts'
import { writeNew } from '../write-new.ts'
import { connectAs, HIRER, reasonsOf, withHirerFlags } from './hire.ts'

const ASKED = { ...HUB_ADDRESS, ...HUB_TOKEN } as const
const NEW = {
  sample: setting<Sample>(choice(SAMPLES), {
    fallback: 'town-square',
    about: `Which sample to begin with: ${SAMPLES.join(', ')}.`,
  }),
} as const
const LISTED = {
  ...ASKED,
  limit: setting(whole({ least: 1, most: 100 }), { fallback: 20, about: 'How many to list.' }),
} as const

export function campaignVerb(): Command {
  return new Command('campaign')
    .description('Campaigns of a fleet: new, run, list, show, pause, resume')
    .addCommand(
      new Command('new')
        .description('A campaign file to begin with, and its persona beside it')
        .argument('[file]', 'Where to write it', 'campaign.yaml')
        .option('--sample <name>', NEW.sample.about)
        .action(makeNew),
    )
    .addCommand(
      withHirerFlags(new Command('run'))
        .description('Have a fleet run it; it goes on by itself until it needs you')
        .argument('<file>', 'YAML, JSON, or a TypeScript module that exports `campaign`')
        .option('--wait', 'Look at it until it is over.')
        .option('--json', 'Print its id and task.')
        .action(run),
    )
    .addCommand(
      withHubFlags(new Command('list'))
        .description('Your campaigns, the latest first')
        .option('--limit <count>', LISTED.limit.about)
        .action(list),
    )
    .addCommand(
      withHubFlags(new Command('show'))
        .description('One campaign: each piece and how far it came, each step and what it cost')
        .argument('<id>', 'As `campaign list` shows it, or its beginning')
        .action(show),
    )
    .addCommand(steer('pause', 'Stop before the next step'))
    .addCommand(steer('resume', 'Go on'))
    .addHelpText(
      'after',
      `
Examples:
  chimera campaign new my-campaign.yaml
  chimera campaign run my-campaign.yaml --owner acme --token-file acme.token
  chimera campaign show 7c1b
  chimera review list                              what it wants you to look at

A fleet runs with \`chimera up\`.`,
    )
}

function steer(wish: 'pause' | 'resume', about: string): Command {
  return withHubFlags(new Command(wish))
    .description(about)
    .argument('<id>', 'As `campaign list` shows it, or its beginning')
    .action((id: string, flags: Options) => wishOf(wish, id, flags))
}

type Options = Readonly<Record<string, unknown>> & {
  readonly json?: boolean
  readonly wait?: boolean
}
type Asked = Values<typeof ASKED>

const clock = createClock()

async function makeNew(file: string, flags: Options): Promise<void> {
  const { sample } = await readFlags(NEW, flags)
  const { campaign, persona } = await readSample(sample)
  const place = dirname(file)
  await writeNew(place, { [basename(file)]: campaign }, 'Name another file.')
  const beside = join(place, persona.file)
  await writeFile(beside, persona.text, { flag: 'wx' }).catch(kept)
  console.error(`Wrote ${file}, and its persona ${beside}.`)
  console.error(`Next: edit them, then \`chimera campaign run ${file}\`.`)
}

/** A persona that is there already is the user's own. */
function kept(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

async function run(file: string, { json = false, wait = false, ...flags }: Options) {
  const asked = await readFlags(HIRER, flags)
  const { owner } = asked
  if (owner === undefined) {
    throw new Trouble('--owner: expected who pays for it; CHIMERA_OWNER says it too.', MISUSED)
  }
  const input = await loadCampaign(file, { owner, now: clock.now() })
  const { campaign_id: id, name } = input.campaign
  const network = await connectAs(asked)
  try {
    const task = await beginCampaign(network, input)
    if (json) printJson({ campaign_id: id, task_id: task })
    else {
      console.error(plain(`“${name}” is running as ${id.slice(0, SHORT)}.`))
      console.error(`\`chimera campaign show ${id.slice(0, SHORT)}\` shows how far it has come,`)
      console.error('`chimera review list` what it wants you to look at.')
    }
  } catch (error) {
    if (!(error instanceof HireFailure)) throw error
    throw new Trouble([error.message, ...reasonsOf(error)].map(plain), FAILED)
  } finally {
    await network.close()
  }
  if (wait) await follow(asked, id)
}

const SHORT = 8
const LOOK_MS = 1_000

async function follow({ hub, token }: Asked, id: string): Promise<void> {
  const line = createLiveLine(process.stderr)
  for (;;) {
    const seen = await askHub(hub, `/v1/campaigns/${id}`, { token })
    const campaign = understand(seen, { check: checker(CampaignSeen), hub })
    line.show(plain(summary(campaign)))
    if (isCampaignOver(campaign.status)) {
      line.clear()
      return showCampaign(campaign)
    }
    await clock.sleep(LOOK_MS)
  }
}

function summary({ name, status, pieces, steps }: CampaignSeen): string {
  const step = steps.at(-1)
  const waits = pieces.filter(({ moments }) => moments.at(-1)?.state === 'approval_pending').length
  const what = waits > 0 ? `${waits} waiting for you: chimera review list` : (step?.skill ?? '')
  return `${name}: ${status}, ${what}`
}

async function campaignsOf({ hub, token }: Asked, limit: number) {
  const answer = await askHub(hub, `/v1/campaigns?limit=${limit}`, { token })
  return understand(answer, { check: checker(CampaignList), hub }).campaigns
}

async function list({ json = false, ...flags }: Options): Promise<void> {
  const asked = await readFlags(LISTED, flags)
  const campaigns = await campaignsOf(asked, asked.limit)
  if (json) return printJson({ campaigns })
  if (campaigns.length === 0) {
    console.error('No campaign yet: `chimera campaign new` writes one to begin with.')
    return
  }
  printTable(
    [
      { title: 'CAMPAIGN' },
      { title: 'NAME' },
      { title: 'STATUS' },
      { title: 'PUBLISHED', align: 'right' },
      { title: 'WAITING', align: 'right' },
      { title: 'SPENT', align: 'right' },
      { title: 'OF', align: 'right' },
      { title: 'CHANGED' },
    ],
    campaigns.map((each) => [
      each.campaign_id.slice(0, SHORT),
      each.name,
      each.status,
      countOf(each, 'published'),
      countOf(each, 'approval_pending'),
      writeCredits(centsOf(each.budget.spent)),
      writeCredits(centsOf(each.budget.total)),
      writeWhen(instantOf(each.updated_at), clock.now()),
    ]),
  )
}

const countOf = ({ pieces }: CampaignSeen, state: string): number =>
  pieces.filter(({ moments }) => moments.at(-1)?.state === state).length

async function findCampaign(asked: Asked, id: string): Promise<CampaignSeen> {
  const all = await campaignsOf(asked, 100)
  const fitting = all.filter((each) => each.campaign_id.startsWith(id.toLowerCase()))
  const [only, another] = fitting
  if (only === undefined) throw new Trouble('No campaign is known under this id.')
  if (another === undefined) return only
  const names = fitting.map(({ campaign_id }) => campaign_id)
  throw new Trouble([`Which one? ${id} begins ${names.length} of them:`, ...names], MISUSED)
}

async function show(id: string, { json = false, ...flags }: Options): Promise<void> {
  const campaign = await findCampaign(await readFlags(ASKED, flags), id)
  if (json) return printJson(campaign)
  showCampaign(campaign)
}

function showCampaign(campaign: CampaignSeen): void {
  const { name, status, budget, goals, persona } = campaign
  const { spent, total } = budget
  printTable(
    [{ title: 'CAMPAIGN' }, { title: plain(name) }],
    [
      ['id', campaign.campaign_id],
      ['status', campaign.wish ? `${status}, to ${campaign.wish}` : status],
      ['persona', persona],
      ...goals.map((goal): [string, string] => ['goal', goal]),
      ['spent', `${writeCredits(centsOf(spent))} of ${writeCredits(centsOf(total))}`],
    ],
  )
  console.log()
  printTable(
    [{ title: 'STATE' }, { title: 'PLATFORM' }, { title: 'TREND' }, { title: 'NOTE' }],
    campaign.pieces.map(({ moments, platform, topic, post_url, review_id }) => {
      const { state = '', words } = moments.at(-1) ?? {}
      const waits = state === 'approval_pending' && review_id
      const note = post_url ?? (waits ? `review ${review_id.slice(0, SHORT)}` : words)
      return [state, platform, topic, note]
    }),
  )
  console.log()
  printTable(
    [
      { title: 'STEP' },
      { title: 'STATE' },
      { title: 'TRIES', align: 'right' },
      { title: 'COST', align: 'right' },
      { title: 'TOOK', align: 'right' },
      { title: 'NOTE' },
    ],
    campaign.steps.map(({ skill, state, attempts, cost, began_at, ended_at, words }) => [
      skill,
      state,
      attempts,
      writeCredits(centsOf(cost)),
      ended_at === undefined ? undefined : writeSpan(instantOf(ended_at) - instantOf(began_at)),
      words,
    ]),
  )
}

async function wishOf(wish: 'pause' | 'resume', id: string, flags: Options): Promise<void> {
  const asked = await readFlags(ASKED, flags)
  const { campaign_id } = await findCampaign(asked, id)
  const path = `/v1/campaigns/${campaign_id}/wish`
  await askHub(asked.hub, path, { token: asked.token, method: 'POST', body: { wish } })
  console.error(wish === 'pause' ? 'It stops before its next step.' : 'It goes on.')
}
