/** Work: every hire as a timeline, what could not be delivered, and what can be done about both. */
import type { encodeLetters, encodeRedelivery, encodeWork } from '@chimera/dialects/chimera'
import { useState } from 'react'
import { plainText, sentence } from '../format/text.ts'
import { clockText, exactText, spanText } from '../format/time.ts'
import { useAgents } from '../hub/agents.ts'
import { useAnswer, useHub, useLive, useSettled } from '../hub/context.tsx'
import { useHires } from '../hub/hires.ts'
import { Confirm } from '../parts/dialog.tsx'
import { HireTable } from '../parts/hire-table.tsx'
import { Json } from '../parts/json.tsx'
import { Ago, Badge, Credits, HireBadge, Id, Link, Name } from '../parts/shown.tsx'
import { Empty, Refusal, Section, Show, Waiting } from '../parts/states.tsx'
import { Table } from '../parts/table.tsx'
import { type Hire, isOpen, latestHires } from '../state/hires.ts'

type Work = ReturnType<typeof encodeWork>
type Letters = ReturnType<typeof encodeLetters>
type Redelivery = ReturnType<typeof encodeRedelivery>['body']

const TABS = [
  ['', 'All'],
  ['open', 'Open'],
  ['failed', 'Failed'],
  ['letters', 'Dead letters'],
] as const

export function WorkScreen() {
  const { route, go } = useHub()
  const { tab = '' } = route.query
  return (
    <>
      <div className="head">
        <h1>Work</h1>
        <span className="muted">
          every hire, from the first credit put aside to the last one paid
        </span>
      </div>
      <div className="tabs">
        {TABS.map(([key, label]) => (
          <button
            key={key}
            type="button"
            aria-pressed={tab === key}
            onClick={() => go({ screen: 'work', query: key === '' ? {} : { tab: key } })}
          >
            {label}
          </button>
        ))}
      </div>
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
  const { hires, ready, before, older } = useHires({ task_id: task })
  const agents = useAgents()
  const path = `/v1/work/${encodeURIComponent(task)}`
  const work = useAnswer((ask, signal) => ask.get<Work>(path, signal), path)
  const soon = useSettled(work.reload, 400)
  useLive((events) => {
    if (events.some(({ task_id }) => task_id === task)) soon()
  }, work.reload)
  const hire = hires.get(task)
  const name = hire?.agent === undefined ? undefined : agents.data?.get(hire.agent)?.agent_name
  const isWithdrawable = hire?.hold !== undefined && isOpen(hire) && hire.state !== 'reserved'
  return (
    <div className="stack stuck">
      <Section
        title="One hire"
        actions={
          <>
            {hire && isWithdrawable && <Withdraw hire={hire} done={work.reload} />}
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
            <dt>Credits</dt>
            <dd>
              <Credits amount={hire?.price ?? hire?.amount ?? work.data?.price} />
            </dd>
            <dt>Task</dt>
            <dd>
              <code>{plainText(task)}</code>
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
        note={hire ? `took ${spanText(hire.changedAt - hire.beganAt)}` : ''}
      >
        {hire ? (
          <Timeline hire={hire} />
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

function Timeline({ hire }: { readonly hire: Hire }) {
  return (
    <ol className="timeline">
      {hire.steps.map(({ seq, at, words, tone, kind }, index) => (
        <li key={seq} className={tone}>
          <span>{words}</span>
          <time className="num muted" dateTime={new Date(at).toISOString()} title={exactText(at)}>
            {index === 0 ? clockText(at) : `+${at - hire.beganAt} ms`}
          </time>
          <small>
            {kind.replaceAll('_', ' ')} · fact {seq}
          </small>
        </li>
      ))}
    </ol>
  )
}

function Result({ work }: { readonly work: Work | undefined }) {
  const result = work?.result
  if (result === undefined) return null
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

function Withdraw({ hire, done }: { readonly hire: Hire; readonly done: () => void }) {
  const { ask } = useHub()
  return (
    <Confirm
      label="Cancel"
      title="Withdraw from this hire?"
      tone="bad"
      act={async () => {
        const path = `/v1/holds/${encodeURIComponent(hire.hold ?? '')}/release`
        await ask.send('POST', path, { because: 'withdrawn' })
        done()
      }}
    >
      <p>
        The hold of <Credits amount={hire.amount} /> credits is released to{' '}
        <Name text={hire.payer ?? 'its payer'} />, unless the agent has accepted the work: then the
        hub says no.
      </p>
      <p>This leaves a fact in the trail, “hold released, withdrawn”.</p>
    </Confirm>
  )
}

function LetterPanel() {
  const letters = useAnswer(
    (ask, signal) => ask.get<Letters>('/v1/dead-letters?limit=100', signal),
    'letters',
    15_000,
  )
  return (
    <Section
      title="Dead letters"
      note="messages that could not be brought to the address they were for"
    >
      <Show loaded={letters}>
        {({ letters: all }) =>
          all.length === 0 ? (
            <Empty title="Everything was delivered">What the hub gives up on appears here.</Empty>
          ) : (
            <Table
              label="Dead letters"
              rows={all}
              keyOf={({ id }) => id}
              columns={[
                {
                  label: 'Message',
                  cell: (letter) => (
                    <div className="title">
                      <span>
                        {sentence(letter.about.kind)} <Id id={letter.about.id} />
                      </span>
                      <small>
                        to <Name text={letter.to} />
                      </small>
                    </div>
                  ),
                },
                { label: 'Why', cell: ({ last_error }) => <Name text={last_error.message} /> },
                {
                  label: 'Attempts',
                  align: 'end',
                  cell: ({ attempts }) => <span className="num">{attempts}</span>,
                },
                {
                  label: 'Given up',
                  align: 'end',
                  cell: ({ given_up_at }) => <Ago at={given_up_at} />,
                },
                {
                  label: 'Act',
                  align: 'end',
                  cell: (letter) => <LetterActs letter={letter} done={letters.reload} />,
                },
              ]}
            />
          )
        }
      </Show>
    </Section>
  )
}

type LetterActsProps = { readonly letter: Letters['letters'][number]; readonly done: () => void }

function LetterActs({ letter, done }: LetterActsProps) {
  const { ask } = useHub()
  const [outcome, setOutcome] = useState<Redelivery>()
  const path = `/v1/dead-letters/${encodeURIComponent(letter.id)}`
  return (
    <div className="actions">
      {outcome && (
        <Badge tone={outcome.state === 'delivered' ? 'good' : 'warn'}>
          {sentence(outcome.state)}
        </Badge>
      )}
      <Confirm
        label="Redeliver"
        title="Try once more?"
        act={async () => {
          setOutcome(await ask.send<Redelivery>('POST', `${path}/redeliver`))
          done()
        }}
      >
        <p>
          The same message is sent once more to <Name text={letter.to} />, under the same id, so
          that its receiver can tell it from a second one.
        </p>
      </Confirm>
      <Confirm
        label="Forget"
        title="Forget this message?"
        tone="bad"
        act={async () => {
          await ask.send('DELETE', path)
          done()
        }}
      >
        <p>It is removed and cannot be sent again. What it told of stays in the trail.</p>
      </Confirm>
    </div>
  )
}
