/** Campaigns: what the fleet works towards, how far each piece has come, and what it cost. */
import type { CampaignSeen, CampaignStep, encodeCampaigns } from '@chimera/dialects/chimera'
import { isCampaignOver } from '@chimera/domain/campaign/status'
import { creditText, secondsText } from '../format/figures.ts'
import { plainText, sentence } from '../format/text.ts'
import { useHub } from '../hub/context.tsx'
import { ownsSomething, useWatched } from '../hub/reviews.tsx'
import { Board } from '../parts/board.tsx'
import { Card } from '../parts/card.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Doing } from '../parts/doing.tsx'
import { Ago, Badge, Credits, Link, Meter, Name } from '../parts/shown.tsx'
import { Empty, Section, Show } from '../parts/states.tsx'
import { Table } from '../parts/table.tsx'
import type { Tone } from '../state/hires.ts'
import { type BoardPiece, boardOf } from '../state/pieces.ts'

type CampaignPage = ReturnType<typeof encodeCampaigns>

const STATUS_TONES: Readonly<Record<CampaignSeen['status'], Tone>> = {
  active: 'good',
  paused: 'warn',
  completed: 'plain',
  archived: 'plain',
}

export function CampaignsScreen() {
  const { route, info } = useHub()
  if (!ownsSomething(info)) {
    return (
      <>
        <Head />
        <Section title="Campaigns">
          <Empty title="Campaigns belong to owners">
            {info.open ? (
              <>
                An open hub does not know who asks. Start it with <code>--auth required</code>.
              </>
            ) : (
              'Your token is an operator’s. Sign in with an owner’s to see their campaigns.'
            )}
          </Empty>
        </Section>
      </>
    )
  }
  return route.id === undefined ? <All /> : <One key={route.id} id={route.id} />
}

function Head() {
  return (
    <div className="head">
      <h1>Campaigns</h1>
      <span className="muted">from what is talked about to what is published</span>
    </div>
  )
}

function All() {
  const loaded = useWatched<CampaignPage>('/v1/campaigns?limit=20', 'campaigns')
  const { data } = loaded
  const board = boardOf(data?.campaigns ?? [])
  const isEmpty = data?.campaigns.length === 0
  return (
    <>
      <Head />
      {!isEmpty && (
        <Section title="Content by state" note="of all campaigns, the latest first">
          <Show loaded={loaded} rows={6}>
            {() => <Board board={board} named />}
          </Show>
        </Section>
      )}
      <Section title="Campaigns">
        <Show loaded={loaded}>
          {({ campaigns }) =>
            isEmpty ? (
              <Empty title="No campaign yet">
                Goals, a voice, platforms and a budget in one file; the fleet does the rest.
                <pre>
                  chimera campaign new town-square.yaml{'\n'}chimera campaign run town-square.yaml
                </pre>
              </Empty>
            ) : (
              <CampaignTable campaigns={campaigns} reload={loaded.reload} />
            )
          }
        </Show>
      </Section>
    </>
  )
}

type CampaignTableProps = {
  readonly campaigns: readonly CampaignSeen[]
  readonly reload: () => void
}

function CampaignTable({ campaigns, reload }: CampaignTableProps) {
  return (
    <Table
      label="Campaigns"
      most={20}
      rows={campaigns}
      keyOf={({ campaign_id }) => campaign_id}
      columns={[
        {
          label: 'Campaign',
          cell: ({ campaign_id, name, goals }) => (
            <div className="title">
              <Link to={{ screen: 'campaigns', id: campaign_id }}>
                <Name text={name} />
              </Link>
              <small>
                <Name text={goals[0] ?? ''} />
                {goals.length > 1 && `, and ${goals.length - 1} more`}
              </small>
            </div>
          ),
        },
        { label: 'Status', cell: (campaign) => <Status campaign={campaign} /> },
        { label: 'Spent', align: 'end', cell: ({ budget }) => <Spent budget={budget} /> },
        {
          label: 'Pieces',
          align: 'end',
          cell: ({ pieces }) => <span className="num">{pieces.length}</span>,
        },
        { label: 'Changed', align: 'end', cell: ({ updated_at }) => <Ago at={updated_at} /> },
        {
          label: 'Act',
          align: 'end',
          cell: (campaign) => <Wish campaign={campaign} done={reload} />,
        },
      ]}
    />
  )
}

function Status({ campaign }: { readonly campaign: CampaignSeen }) {
  const { status, wish } = campaign
  const isAsked =
    (wish === 'pause' && status === 'active') || (wish === 'resume' && status === 'paused')
  return (
    <span className="statuses">
      <Badge tone={STATUS_TONES[status]}>{status}</Badge>
      {isAsked && <Badge tone="warn">asked to {wish}</Badge>}
      <Doing campaign={campaign} />
    </span>
  )
}

function Spent({ budget: { spent, total } }: { readonly budget: CampaignSeen['budget'] }) {
  const words = `${creditText(spent)} of ${creditText(total)} credits`
  return (
    <span className="num">
      {creditText(spent)} of {creditText(total)}{' '}
      <Meter share={total === 0 ? 0 : spent / total} label={words} />
    </span>
  )
}

type WishProps = { readonly campaign: CampaignSeen; readonly done: () => void }

function Wish({ campaign, done }: WishProps) {
  const { ask, info } = useHub()
  const { status, wish, campaign_id } = campaign
  if (isCampaignOver(status)) return <span className="muted">–</span>
  if (!info.you.scopes.includes('agents')) {
    return (
      <span className="muted small" title="Your token lacks the scope “agents”">
        only to look at
      </span>
    )
  }
  const isHeld = wish === undefined ? status === 'paused' : wish === 'pause'
  const word = isHeld ? 'resume' : 'pause'
  const act = async () => {
    await ask.send('POST', `/v1/campaigns/${encodeURIComponent(campaign_id)}/wish`, { wish: word })
    done()
  }
  return (
    <Confirm
      label={sentence(word)}
      title={isHeld ? 'Let it go on?' : 'Pause this campaign?'}
      act={act}
    >
      {isHeld ? (
        <p>Its orchestrator goes on where it stopped. Nothing is done or paid twice.</p>
      ) : (
        <p>
          Its orchestrator ends the step that runs, begins no other one and spends nothing more,
          until you let it go on. What waits for a person keeps waiting.
        </p>
      )}
      <p>It is asked to; it follows when it looks next, and then says so here.</p>
    </Confirm>
  )
}

function One({ id }: { readonly id: string }) {
  const loaded = useWatched<CampaignSeen>(`/v1/campaigns/${encodeURIComponent(id)}`, id)
  const { data } = loaded
  if (data === undefined) {
    return (
      <>
        <Head />
        <Section title="Campaign">
          <Show loaded={loaded} rows={6}>
            {() => null}
          </Show>
        </Section>
      </>
    )
  }
  return (
    <Show loaded={loaded}>
      {(campaign) => <Campaign campaign={campaign} reload={loaded.reload} />}
    </Show>
  )
}

type CampaignProps = { readonly campaign: CampaignSeen; readonly reload: () => void }

function Campaign({ campaign, reload }: CampaignProps) {
  const { name, goals, persona, budget, pieces, steps, updated_at } = campaign
  const board = boardOf([campaign])
  return (
    <>
      <div className="head">
        <h1>
          <Name text={name} />
        </h1>
        <Status campaign={campaign} />
        <span className="muted">
          in the voice of <Name text={persona} />, changed <Ago at={updated_at} />
        </span>
        <div className="actions">
          <Wish campaign={campaign} done={reload} />
          <Link to={{ screen: 'campaigns' }}>All campaigns</Link>
        </div>
      </div>
      <div className="cards">
        <Card
          label="Spent"
          value={creditText(budget.spent)}
          note={`of ${creditText(budget.total)} credits`}
        />
        <Card label="Pieces" value={String(pieces.length)} note={`${board.ended.length} ended`} />
        <Card
          label="Wait for a person"
          value={String(board.waiting.length)}
          note={waitNote(board.waiting)}
        />
        <Card label="Published" value={String(board.published.length)} note="or about to be" />
      </div>
      <Section title="Goals">
        <ul className="goals">
          {goals.map((goal) => (
            <li key={goal}>
              <Name text={goal} />
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Content by state">
        <Board board={board} named={false} />
      </Section>
      <Section title="Steps" note="each is hired, paid and kept once">
        <StepTable steps={steps} />
      </Section>
    </>
  )
}

const waitNote = (waiting: readonly BoardPiece[]): string =>
  waiting.length === 0 ? 'nothing to answer' : 'to be answered on the review screen'

const STEP_TONES: Readonly<Record<CampaignStep['state'], Tone>> = {
  running: 'warn',
  done: 'good',
  failed: 'bad',
}

function StepTable({ steps }: { readonly steps: readonly CampaignStep[] }) {
  const { now } = useHub()
  if (steps.length === 0) return <Empty title="No step yet">The first one is hired soon.</Empty>
  const tookOf = ({ began_at, ended_at }: CampaignStep) =>
    ((ended_at === undefined ? now : Date.parse(ended_at)) - Date.parse(began_at)) / 1_000
  return (
    <Table
      label="Steps"
      most={25}
      rows={steps.toReversed()}
      keyOf={({ step }) => step}
      columns={[
        {
          label: 'Step',
          cell: ({ skill, step }) => (
            <div className="title">
              <b>
                <Name text={sentence(skill)} />
              </b>
              <small>{plainText(step)}</small>
            </div>
          ),
        },
        { label: 'State', cell: ({ state }) => <Badge tone={STEP_TONES[state]}>{state}</Badge> },
        {
          label: 'Words',
          cell: ({ words }) =>
            words === undefined ? <span className="muted">–</span> : <Name text={words} />,
        },
        {
          label: 'Tries',
          align: 'end',
          cell: ({ attempts }) => <span className="num">{attempts}</span>,
        },
        { label: 'Credits', align: 'end', cell: ({ cost }) => <Credits amount={cost} /> },
        {
          label: 'Took',
          align: 'end',
          cell: (step) => <span className="num">{secondsText(Math.max(0, tookOf(step)))}</span>,
        },
        { label: 'Began', align: 'end', cell: ({ began_at }) => <Ago at={began_at} /> },
      ]}
    />
  )
}
