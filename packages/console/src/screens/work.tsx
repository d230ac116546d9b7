/** Work: every hire as a timeline, what could not be delivered, and what can be done about both. */
import type { encodeTrust, encodeWork } from '@chimera/dialects/chimera'
import { secondsText } from '../format/figures.ts'
import { plainText } from '../format/text.ts'
import { clockText, exactText } from '../format/time.ts'
import { useAgents } from '../hub/agents.ts'
import { useAnswer, useHub, useLive, useSettled } from '../hub/context.tsx'
import { useHires } from '../hub/hires.ts'
import { Confirm } from '../parts/dialog.tsx'
import { HireTable } from '../parts/hire-table.tsx'
import { Json } from '../parts/json.tsx'
import { LetterPanel } from '../parts/letters.tsx'
import { Ago, Badge, Credits, HireBadge, Link, Name } from '../parts/shown.tsx'
import { Empty, Refusal, Section, Waiting } from '../parts/states.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { type Hire, isOpen, latestHires } from '../state/hires.ts'
import { may } from '../state/role.ts'
import { type Line, timelineOf, triesOf } from '../state/timeline.ts'

type Work = ReturnType<typeof encodeWork>
type Trust = ReturnType<typeof encodeTrust>

const TABS = [
  ['', 'All'],
  ['open', 'Open'],
  ['failed', 'Failed'],
  ['letters', 'Dead letters'],
] as const

const PROGRESS_MS = 2_000

export function WorkScreen() {
  const { route, go } = useHub()
  const { tab = '' } = route.query
  return (
    <>
      <div className="head">
        <h1>Work</h1>
        <span className="muted">every hire, from whoever was found to the last credit paid</span>
      </div>
      <Tabs
        label="Which work"
        tabs={TABS}
        current={TABS.find(([key]) => key === tab)?.[0] ?? ''}
        choose={(key) => go({ screen: 'work', query: key === '' ? {} : { tab: key } })}
      />
      {tab === 'letters' ? <LetterPanel /> : <HirePanel tab={tab} task={route.id} />}
    </>
  )
}

const FITS: Readonly<Record<string, (hire: Hire) => boolean>> = {
  open: isOpen,
  failed: ({ state }) => state === 'failed',
}

function HirePanel({ tab, task }: { readonly tab: string; readonly task: string | undefined }) {
  const { hires, ready, error, before, older } = useHires()
  const agents = useAgents()
  const fits = FITS[tab] ?? (() => true)
  const shown = latestHires(hires).filter(fits)
  return (
    <div className={task === undefined ? 'stack' : 'two'}>
      <Section title="Hires" note={ready ? `${shown.length} of late` : ''}>
        {error && <Refusal error={error} />}
        {ready ? (
          <HireTable hires={shown} agents={agents.data ?? new Map()} current={task} />
        ) : (
          <Waiting rows={6} />
        )}
        {before !== undefined && (
          <div className="pad">
            <button type="button" onClick={older}>
              Look further back
            </button>
          </div>
        )}
      </Section>
      {task !== undefined && <HireDetail key={task} task={task} />}
    </div>
  )
}

function HireDetail({ task }: { readonly task: string }) {
  const { info } = useHub()
  const { hires, ready, before, older } = useHires({ task_id: task })
  const agents = useAgents()
  const path = `/v1/work/${encodeURIComponent(task)}`
  // Half a hire, of what came since one looks, is not shown as if it were all.
  const hire = ready ? hires.get(task) : undefined
  const isGoing = hire !== undefined && isOpen(hire)
  // How far it has come is not on the feed.
  const work = useAnswer(
    (ask, signal) => ask.get<Work>(path, signal),
    path,
    isGoing ? PROGRESS_MS : undefined,
  )
  const soon = useSettled(work.reload, 400)
  useLive((events) => {
    if (events.some(({ task_id }) => task_id === task)) soon()
  }, work.reload)
  const name = hire?.agent === undefined ? undefined : agents.data?.get(hire.agent)?.agent_name
  const rated = useAnswer(
    hire?.agent !== undefined && !isOpen(hire)
      ? (ask, signal) =>
          ask.get<Trust>(`/v1/trust/${encodeURIComponent(hire.agent ?? '')}?limit=50`, signal)
      : undefined,
    `${task} ${hire?.state}`,
  )
  const isMine = info.open || info.you.owner_id === hire?.payer
  const isOn = hire?.state === 'asked' || hire?.state === 'working'
  return (
    <div className="stack stuck">
      <Section
        title="One hire"
        actions={
          <>
            {hire && isOn && isMine && may(info, 'money') && (
              <CallOff hire={hire} done={work.reload} />
            )}
            <Link to={{ screen: 'work' }}>Close</Link>
          </>
        }
      >
        <div className="pad">
          <dl className="facts">
            <dt>Agent</dt>
            <dd>
              {hire?.agent === undefined ? (
                '–'
              ) : (
                <Link to={{ screen: 'network', id: hire.agent }}>
                  <Name text={name ?? hire.agent} />
                </Link>
              )}
            </dd>
            <dt>Payer</dt>
            <dd>
              <Name text={hire?.payer ?? work.data?.payer_id ?? '–'} />
            </dd>
            <dt>State</dt>
            <dd>
              {hire && <HireBadge state={hire.state} />}{' '}
              {work.data?.state === 'unknown' && (
                <Badge tone="warn">overdue, outcome unknown</Badge>
              )}
            </dd>
            {work.data?.skill !== undefined && (
              <>
                <dt>Skill</dt>
                <dd>
                  <Name text={work.data.skill} />
                </dd>
              </>
            )}
            {hire && triesOf(hire) > 1 && (
              <>
                <dt>Tries</dt>
                <dd className="num">{triesOf(hire)}</dd>
              </>
            )}
            <dt>Credits</dt>
            <dd>
              <Credits amount={hire?.price ?? hire?.amount ?? work.data?.price} />
            </dd>
            <dt>Task</dt>
            <dd>
              <Link to={{ screen: 'audit', query: { task_id: task } }}>
                <code>{plainText(task)}</code>
              </Link>
            </dd>
            <dt>Correlation</dt>
            <dd>
              {hire?.correlation === undefined ? (
                '–'
              ) : (
                <Link to={{ screen: 'audit', query: { correlation: hire.correlation } }}>
                  <code>{plainText(hire.correlation)}</code>
                </Link>
              )}
            </dd>
          </dl>
        </div>
      </Section>
      <Section
        title="Timeline"
        note={hire ? `took ${secondsText((hire.changedAt - hire.beganAt) / 1_000)}` : ''}
      >
        {hire ? (
          <Timeline lines={timelineOf(hire, { work: work.data, changes: rated.data?.changes })} />
        ) : ready ? (
          <Empty title="Nothing is known of it yet" />
        ) : (
          <Waiting />
        )}
        {hire === undefined && before !== undefined && (
          <div className="pad">
            <button type="button" onClick={older}>
              Look further back
            </button>
          </div>
        )}
      </Section>
      <Result work={work.data} />
    </div>
  )
}

function Timeline({ lines }: { readonly lines: readonly Line[] }) {
  const began = lines[0]?.at ?? 0
  return (
    <ol className="timeline">
      {lines.map(({ key, at, words, tone, about, note }, index) => (
        <li key={key} className={tone}>
          <span>{plainText(words)}</span>
          <time className="num muted" dateTime={new Date(at).toISOString()} title={exactText(at)}>
            {index === 0 ? clockText(at) : `+${secondsText(Math.max(0, at - began) / 1_000)}`}
          </time>
          {note !== undefined && (
            <small className="said">
              “<Name text={note} />”
            </small>
          )}
          <small>{about}</small>
        </li>
      ))}
    </ol>
  )
}

function Result({ work }: { readonly work: Work | undefined }) {
  const result = work?.result
  const isBare =
    result?.error === undefined && result?.output_hash === undefined && result?.content === 'kept'
  // How it ended is in the timeline; of what was called off there is no more to show.
  if (result === undefined || isBare) return null
  return (
    <Section title="Result" note={<Ago at={result.recorded_at} />}>
      {result.error && (
        <div className="refusal">
          <p>
            <Name text={result.error.message} />
          </p>
          <p>
            <code>{plainText(result.error.code)}</code>,{' '}
            {result.error.error_type === 'transient'
              ? 'may pass by itself'
              : 'will not pass by itself'}
          </p>
        </div>
      )}
      <div className="pad stack">
        {result.output !== undefined && <Json value={result.output} />}
        {result.content === 'deleted' && (
          <p className="muted">What was handed over was deleted; its hash is in the trail.</p>
        )}
        {result.output_hash !== undefined && (
          <p className="muted small">
            SHA-256 <code>{result.output_hash}</code>
          </p>
        )}
      </div>
    </Section>
  )
}

function CallOff({ hire, done }: { readonly hire: Hire; readonly done: () => void }) {
  const { ask } = useHub()
  const payer = <Name text={hire.payer ?? 'its payer'} />
  const amount = <Credits amount={hire.amount} />
  return (
    <Confirm
      label="Call it off"
      title="Call this work off?"
      tone="bad"
      act={async () => {
        const whose = hire.payer === undefined ? '' : `?payer_id=${encodeURIComponent(hire.payer)}`
        await ask.send('POST', `/v1/work/${encodeURIComponent(hire.task)}/cancel${whose}`, {})
        done()
      }}
    >
      {hire.state === 'asked' ? (
        <p>
          Nobody has accepted it yet: the hold of {amount} credits is released to {payer}. If its
          agent is quicker, it is asked to stop.
        </p>
      ) : (
        <p>
          The hub asks its agent to stop. What it has done is lost, and the hold of {amount} credits
          goes back to {payer}; if the agent is done by then, it is paid.
        </p>
      )}
      <p>This leaves a fact in the trail, with the reason “cancelled” or “withdrawn”.</p>
    </Confirm>
  )
}
