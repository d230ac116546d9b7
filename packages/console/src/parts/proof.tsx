/**
 * The chain, checked in this browser: every fact is fetched, hashed anew and held against the one
 * before; then the postings are added up and held against what the hub says of its books.
 */
import type { encodeBooks } from '@chimera/dialects/chimera'
import { GENESIS, type Head } from '@chimera/domain/audit'
import type { Claims, Scores } from '@chimera/domain/claims'
import { useRef, useState } from 'react'
import { countText, creditText } from '../format/figures.ts'
import { loadAgents } from '../hub/agents.ts'
import { type Asker, HubRefused } from '../hub/ask.ts'
import { useAnswer, useHub } from '../hub/context.tsx'
import {
  canHash,
  differing,
  exportLines,
  type Row,
  rowOf,
  type Sums,
  scoresIn,
  sumRows,
  verifyRows,
} from '../state/chain.ts'
import { type FactPage, isWhole } from '../state/events.ts'
import { Refusal, Section } from './states.tsx'

type Books = ReturnType<typeof encodeBooks>

type State =
  | { readonly is: 'idle' }
  | { readonly is: 'walking'; readonly seq: number; readonly of: number }
  | {
      readonly is: 'whole'
      readonly head: Head
      readonly rows: readonly Row[]
      readonly sums: Sums
      readonly books: Books
      readonly scores: Scores
      readonly differing: readonly string[]
      readonly agents: number
      readonly ms: number
    }
  | { readonly is: 'broken'; readonly seq: number; readonly kind: string }
  | { readonly is: 'failed'; readonly error: HubRefused }

const BREAKS: Readonly<Record<string, string>> = {
  altered: 'the row is not what was sealed',
  unlinked: 'it does not follow on the one before',
  gap: 'a fact is missing',
  reordered: 'a fact stands elsewhere, or comes twice',
  shapeless: 'it is not of the shape that its type asks for',
  withheld: 'the hub does not show it whole',
}

export function Proof() {
  const { ask } = useHub()
  const head = useAnswer(
    (own, signal) => own.get<FactPage>('/v1/facts?topics=audit&limit=1', signal),
    'head',
    10_000,
  )
  const [state, setState] = useState<State>({ is: 'idle' })
  const stop = useRef(false)

  async function verify() {
    stop.current = false
    try {
      setState(await walk(ask, setState, () => stop.current))
    } catch (error) {
      if (!(error instanceof HubRefused)) throw error
      setState({ is: 'failed', error })
    }
  }

  const { seq = 0, hash } = head.data?.head ?? {}
  return (
    <Section
      title="The chain"
      note={`${countText(seq)} facts`}
      actions={
        <>
          {state.is === 'whole' && (
            <button type="button" onClick={() => save(state.rows, state)}>
              Export
            </button>
          )}
          {state.is === 'walking' ? (
            <button type="button" onClick={() => (stop.current = true)}>
              Stop
            </button>
          ) : (
            <button
              type="button"
              className="primary"
              disabled={!canHash()}
              onClick={() => void verify()}
            >
              Verify in this browser
            </button>
          )}
        </>
      }
    >
      <div className="pad proof">
        <p className="muted">
          Head <code>{hash === undefined ? '–' : `${seq}:${hash}`}</code>
        </p>
        {!canHash() && <p>A browser hashes only over https, or on the hub’s own machine.</p>}
        {state.is === 'idle' && (
          <p className="muted">
            Write the head down where the hub’s operator cannot change it: whoever has an earlier
            head can tell a whole chain from a forged one.
          </p>
        )}
        {state.is === 'walking' && (
          <label>
            {countText(state.seq)} of {countText(state.of)} facts
            <progress max={Math.max(1, state.of)} value={state.seq} />
          </label>
        )}
        {state.is === 'whole' && <Whole state={state} />}
        {state.is === 'broken' && (
          <p className="verdict bad" role="status">
            Broken at fact {countText(state.seq)}: {BREAKS[state.kind] ?? state.kind}.
          </p>
        )}
        {state.is === 'failed' && <Refusal error={state.error} />}
      </div>
    </Section>
  )
}

function Whole({ state }: { readonly state: State & { readonly is: 'whole' } }) {
  const { head, sums, books, differing: others, agents, ms } = state
  const credits = (cents: number) => creditText(cents / 100)
  const fits =
    sums.minted === Math.round(books.minted * 100) &&
    sums.accounts === Math.round(books.in_accounts * 100) &&
    sums.holds === Math.round(books.in_holds * 100) &&
    sums.fees === Math.round(books.in_fees * 100)
  const balanced = sums.minted === sums.accounts + sums.holds + sums.fees && sums.faults === 0
  return (
    <>
      <p className="verdict good" role="status">
        Whole: {countText(head.seq)} facts hashed and linked in {(ms / 1_000).toFixed(1)} s.
      </p>
      <p className={`verdict ${balanced ? 'good' : 'bad'}`}>
        {balanced ? 'Balanced' : 'Not balanced'}: minted {credits(sums.minted)} = accounts{' '}
        {credits(sums.accounts)} + holds {credits(sums.holds)} + fees {credits(sums.fees)}, by the
        postings alone.
      </p>
      <p className={`verdict ${fits ? 'good' : 'bad'}`}>
        {fits
          ? 'The hub’s own books say the same.'
          : 'The hub’s own books say something else; if credits moved meanwhile, verify once more.'}
      </p>
      <p className={`verdict ${others.length === 0 ? 'good' : 'bad'}`}>
        {others.length === 0
          ? `Both scores of all ${countText(agents)} agents follow from the outcomes.`
          : `${countText(others.length)} agents are shown with scores that do not follow from ` +
            'the outcomes; if work was settled meanwhile, verify once more.'}
      </p>
    </>
  )
}

async function walk(
  ask: Asker,
  report: (state: State) => void,
  stopped: () => boolean,
): Promise<State> {
  const began = performance.now()
  const rows: Row[] = []
  let head: Head = GENESIS
  for (;;) {
    if (stopped()) return { is: 'idle' }
    const page = await ask.get<FactPage>(`/v1/facts?topics=audit&limit=500&after=${head.seq}`)
    const whole = page.facts.filter(isWhole)
    if (whole.length < page.facts.length)
      return { is: 'broken', seq: head.seq + 1, kind: 'withheld' }
    const verified = await verifyRows(whole.map(rowOf), head)
    if (!verified.ok) return { is: 'broken', seq: verified.seq, kind: verified.kind }
    rows.push(...whole.map(rowOf))
    head = verified.head
    report({ is: 'walking', seq: head.seq, of: page.head.seq })
    if (page.next_after === undefined) break
  }
  const [books, agents] = await Promise.all([
    ask.get<Books>('/v1/books'),
    loadAgents(ask, new AbortController().signal),
  ])
  const found = scoresIn(rows)
  if (!found.ok) return { is: 'broken', seq: found.seq, kind: 'shapeless' }
  const { scores } = found
  return {
    is: 'whole',
    head,
    rows,
    sums: sumRows(rows),
    books,
    scores,
    differing: differing(scores, agents),
    agents: agents.length,
    ms: performance.now() - began,
  }
}

/** As `chimera audit export` writes it, so that `chimera audit verify` reads it. */
function save(rows: readonly Row[], claims: Pick<Claims, 'head' | 'scores'>): void {
  const file = new Blob([...exportLines(rows, claims)], { type: 'application/jsonl' })
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = `trail-${rows.length}.jsonl`
  link.click()
  URL.revokeObjectURL(address)
}
