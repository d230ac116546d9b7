/** Review: what is to be published lies here until a person answers. */
import type { ReviewSeen } from '@chimera/dialects/chimera'
import { shownOn } from '@chimera/dialects/skills/posting'
import { type KeyboardEvent as Pressed, useEffect, useEffectEvent, useRef, useState } from 'react'
import { percentText } from '../format/figures.ts'
import { type Loaded, useHub } from '../hub/context.tsx'
import { ownsSomething, type ReviewPage, useWaiting, useWatched } from '../hub/reviews.tsx'
import { isTyping } from '../keys.tsx'
import { AnswerActs, Outcome, whyNot } from '../parts/answer.tsx'
import { OnTheWay } from '../parts/doing.tsx'
import { About, Issues, STATE_TONES, Texts } from '../parts/findings.tsx'
import { Preview } from '../parts/preview.tsx'
import { Ago, Badge, Link, Name } from '../parts/shown.tsx'
import { Empty, Section, Show } from '../parts/states.tsx'
import { Tabs } from '../parts/tabs.tsx'
import {
  type Edits,
  editContent,
  fieldName,
  fieldsOf,
  lengthTrouble,
  nextReview,
  PLATFORM_NAMES,
  readField,
} from '../state/review.ts'

const TABS = [
  ['', 'Waiting'],
  ['all', 'All'],
] as const

export function ReviewScreen() {
  const { route, go, info } = useHub()
  const { tab = '' } = route.query
  const waiting = useWaiting()
  const isOwner = ownsSomething(info)
  const all = useWatched<ReviewPage>(
    isOwner && tab === 'all' ? '/v1/reviews?state=all&limit=50' : undefined,
    'all reviews',
  )
  const listed = tab === 'all' ? all : waiting
  const reload = () => {
    waiting.reload()
    all.reload()
  }
  useListKeys(listed.data?.reviews.map(({ review_id }) => review_id) ?? [])
  return (
    <>
      <div className="head">
        <h1>Review</h1>
        <span className="muted">nothing is published before a person has said yes to it</span>
      </div>
      {isOwner && (
        <Tabs
          label="Which reviews"
          tabs={TABS}
          current={tab === 'all' ? 'all' : ''}
          choose={(key) => go({ screen: 'review', query: key === '' ? {} : { tab: key } })}
        />
      )}
      <div className={route.id === undefined ? 'stack' : 'desk'}>
        <Section title={tab === 'all' ? 'All' : 'Waiting'} note="the latest first">
          {isOwner ? <ReviewList {...{ listed, tab }} current={route.id} /> : <NotYours />}
        </Section>
        {route.id !== undefined && <OneReview key={route.id} id={route.id} reload={reload} />}
      </div>
    </>
  )
}

function NotYours() {
  const { info } = useHub()
  return (
    <Empty title="Reviews belong to owners">
      {info.open ? (
        <>
          An open hub has no key to sign an approval with. Start it with{' '}
          <code>--auth required</code>.
        </>
      ) : (
        'Your token is an operator’s. Sign in with an owner’s to see what waits for them.'
      )}
    </Empty>
  )
}

/** `j` and `k` everywhere; arrows where they do not scroll. `Esc` closes what is open. */
function useListKeys(ids: readonly string[]): void {
  const { route, go } = useHub()
  const { id: current, query } = route
  const was = useRef(0)
  const at = current === undefined ? -1 : ids.indexOf(current)
  useEffect(() => {
    if (at >= 0) was.current = at
  }, [at])
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
    if (isTyping(event.target)) return
    const inList = event.target instanceof Element && event.target.closest('.letters') !== null
    const down = event.key === 'j' || (inList && event.key === 'ArrowDown')
    const up = event.key === 'k' || (inList && event.key === 'ArrowUp')
    if (event.key === 'Escape' && current !== undefined) {
      event.preventDefault()
      go({ screen: 'review', query })
    } else if (down || up) {
      event.preventDefault()
      const next = nextReview({ ids, current, was: was.current }, down ? 1 : -1)
      if (next === undefined) return
      go({ screen: 'review', id: next, query }, current !== undefined)
      if (inList) document.querySelector<HTMLElement>(`.letters a[href*="${next}"]`)?.focus()
    }
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKey(event)
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}

type ReviewListProps = {
  readonly listed: Loaded<ReviewPage>
  readonly tab: string
  readonly current: string | undefined
}

function ReviewList({ listed, tab, current }: ReviewListProps) {
  const { route } = useHub()
  return (
    <Show loaded={listed}>
      {({ reviews, next_after }) =>
        reviews.length === 0 ? (
          <Empty
            title={tab === 'all' ? 'Nothing was laid before you yet' : 'Nothing waits for you'}
          >
            What a <Link to={{ screen: 'campaigns' }}>campaign</Link> wants to publish appears here.
            <OnTheWay />
          </Empty>
        ) : (
          <>
            <ul className="letters">
              {reviews.map((review) => (
                <li key={review.review_id}>
                  <Link
                    to={{ screen: 'review', id: review.review_id, query: route.query }}
                    current={review.review_id === current}
                  >
                    <Letter review={review} />
                  </Link>
                </li>
              ))}
            </ul>
            {next_after !== undefined && (
              <p className="pad muted small">More wait behind these; answer some to see them.</p>
            )}
          </>
        )
      }
    </Show>
  )
}

function Letter({ review }: { readonly review: ReviewSeen }) {
  const { content, platform, issues, confidence, expires_at, state } = review
  const { title, text } = shownOn(platform, content)
  const errors = issues.filter(({ severity }) => severity === 'error').length
  return (
    <>
      <span className="letter-text">
        <Name text={title ?? text} />
      </span>
      <span className="letter-facts">
        <span>{PLATFORM_NAMES[platform]}</span>
        <span className="num">{percentText(confidence)}</span>
        {issues.length > 0 && (
          <Badge tone={errors > 0 ? 'bad' : 'warn'}>
            {issues.length} {issues.length === 1 ? 'issue' : 'issues'}
          </Badge>
        )}
        {state === 'pending' ? (
          <span className="end">
            ends <Ago at={expires_at} />
          </span>
        ) : (
          <>
            <Badge tone={STATE_TONES[state]}>{state}</Badge>
            {review.reviewer !== undefined && (
              <span className="end">
                by <Name text={review.reviewer} />
              </span>
            )}
          </>
        )}
      </span>
    </>
  )
}

function OneReview({ id, reload }: { readonly id: string; readonly reload: () => void }) {
  const loaded = useWatched<ReviewSeen>(`/v1/reviews/${encodeURIComponent(id)}`, id)
  return (
    <div className="opened">
      <Show loaded={loaded} rows={8}>
        {(review) => (
          <Opened
            review={review}
            answered={() => {
              loaded.reload()
              reload()
            }}
          />
        )}
      </Show>
    </div>
  )
}

type OpenedProps = { readonly review: ReviewSeen; readonly answered: () => void }

function Opened({ review, answered }: OpenedProps) {
  const { info, route } = useHub()
  const [editing, setEditing] = useState(false)
  const [edits, setEdits] = useState<Edits>({})
  const { platform, content, state } = review
  const reason = whyNot(info, review)
  const isOpen = state === 'pending'
  const isEditing = isOpen && editing && reason === undefined
  const fields = fieldsOf(platform, content)
  const isSound = Object.entries(edits).every(
    ([field, text]) => lengthTrouble(field, text) === undefined,
  )
  const shown = isEditing ? editContent(content, edits) : content
  // What was edited is another text: the judge has not seen it, and its places are others. What
  // was approved may have been edited.
  const isOther = state === 'approved' || (isEditing && Object.keys(edits).length > 0)
  const issues = isOther ? [] : review.issues
  return (
    <>
      <div className="stack">
        <Section
          title={`As it will look on ${PLATFORM_NAMES[platform]}`}
          actions={<Link to={{ screen: 'review', query: route.query }}>Close</Link>}
        >
          <Outcome review={review} />
          <div className="stage">
            <Preview review={review} content={shown} issues={issues} />
          </div>
          {isEditing && (
            <Editor {...{ content, fields, edits, setEdits }} leave={() => setEditing(false)} />
          )}
          {isOpen && reason === undefined && (
            <AnswerActs {...{ review, edits, isSound, editing, setEditing, answered }} />
          )}
          {isOpen && reason !== undefined && <p className="answer muted">{reason}</p>}
        </Section>
        {!isEditing && <Texts review={{ ...review, issues }} />}
      </div>
      <div className="stack">
        <Issues review={review} />
        <About review={review} />
      </div>
    </>
  )
}

type EditorProps = {
  readonly content: ReviewSeen['content']
  readonly fields: readonly string[]
  readonly edits: Edits
  readonly setEdits: (edits: Edits) => void
  readonly leave: () => void
}

function Editor({ content, fields, edits, setEdits, leave }: EditorProps) {
  const first = useRef<HTMLTextAreaElement>(null)
  useEffect(() => first.current?.focus(), [])
  const change = (field: string, text: string) => {
    const { [field]: _, ...others } = edits
    setEdits(text === readField(content, field) ? others : { ...others, [field]: text })
  }
  const onKeyDown = (event: Pressed) => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    leave()
  }
  return (
    <div className="editor">
      {fields.map((field, at) => {
        const text = edits[field] ?? readField(content, field) ?? ''
        const trouble = lengthTrouble(field, text)
        return (
          <label className="field" key={field}>
            <span>
              {fieldName(field)}{' '}
              <span className={trouble === undefined ? 'muted' : 'trouble'}>
                {trouble ?? `${[...text].length} letters`}
              </span>
            </span>
            <textarea
              ref={at === 0 ? first : null}
              rows={Math.min(10, Math.max(3, Math.ceil(text.length / 70)))}
              dir="auto"
              value={text}
              aria-invalid={trouble !== undefined}
              onKeyDown={onKeyDown}
              onChange={(event) => change(field, event.target.value)}
            />
          </label>
        )
      })}
    </div>
  )
}
