/**
 * What a reviewer can say: approve, edit and approve, reject with words; by button or by key. What
 * is approved is what is shown: the answer names its hash, and the hub signs for nothing else.
 */
import type { ReviewSeen } from '@chimera/dialects/chimera'
import { LIMITS } from '@chimera/domain/limits'
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import { type HubInfo, useHub } from '../hub/context.tsx'
import { useReviewer } from '../hub/reviewer.tsx'
import { isTyping } from '../keys.tsx'
import { type Edits, editContent, PLATFORM_NAMES } from '../state/review.ts'
import { Asked } from './dialog.tsx'
import { Ago, Credits, Name } from './shown.tsx'

type Asking = 'approve' | 'edited' | 'reject'

type AnswerProps = {
  readonly review: ReviewSeen
  readonly edits: Edits
  /** Whether what was edited can be sent. */
  readonly isSound: boolean
  readonly editing: boolean
  readonly setEditing: (editing: boolean) => void
  readonly answered: () => void
}

/** Why there are no buttons, or undefined. */
export function whyNot({ you }: HubInfo, review: ReviewSeen): string | undefined {
  if (you.owner_id !== review.owner_id) {
    return 'Only its owner answers it: sign in with a token of theirs to do so.'
  }
  if (you.scopes.includes('review')) return undefined
  return 'Your token may look and not answer: it lacks the scope “review”.'
}

export function AnswerActs(props: AnswerProps) {
  const { review, edits, isSound, editing, setEditing, answered } = props
  const { ask } = useHub()
  const { name } = useReviewer()
  const [asking, setAsking] = useState<Asking>()
  const isEdited = editing && Object.keys(edits).length > 0

  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
    if (isTyping(event.target) || asking !== undefined) return
    if (event.key === 'a' && !editing) setAsking('approve')
    else if (event.key === 'a' && isEdited && isSound) setAsking('edited')
    else if (event.key === 'e') setEditing(true)
    else if (event.key === 'r') setAsking('reject')
    else return
    event.preventDefault()
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKey(event)
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])

  const answer = async (said: object) => {
    const path = `/v1/reviews/${encodeURIComponent(review.review_id)}/answer`
    const who = name.trim() === '' ? {} : { reviewer_id: name.trim() }
    await ask.send('POST', path, { content_hash: review.content_hash, ...who, ...said })
    setEditing(false)
    answered()
  }
  const close = () => setAsking(undefined)
  return (
    <div className="answer">
      {editing ? (
        <>
          <button
            type="button"
            className="primary"
            disabled={!isEdited || !isSound}
            onClick={() => setAsking('edited')}
          >
            Approve as edited
          </button>
          <button type="button" onClick={() => setEditing(false)}>
            Leave editing <kbd>Esc</kbd>
          </button>
        </>
      ) : (
        <>
          <button type="button" className="primary" onClick={() => setAsking('approve')}>
            Approve <kbd>a</kbd>
          </button>
          <button type="button" onClick={() => setEditing(true)}>
            Edit and approve <kbd>e</kbd>
          </button>
          <button type="button" className="bad" onClick={() => setAsking('reject')}>
            Reject <kbd>r</kbd>
          </button>
        </>
      )}
      {asking === 'approve' && (
        <Asked
          {...{ label: 'Approve', title: 'Publish this?', tone: undefined, close, ready: true }}
          act={() => answer({ verdict: 'approve' })}
        >
          <WhatFollows review={review}>exactly what is shown</WhatFollows>
        </Asked>
      )}
      {asking === 'edited' && (
        <Asked
          {...{ label: 'Approve', title: 'Publish it as edited?', tone: undefined, close }}
          ready
          act={() => answer({ verdict: 'approve', content: editContent(review.content, edits) })}
        >
          <WhatFollows review={review}>the text as you made it, and not for the other</WhatFollows>
        </Asked>
      )}
      {asking === 'reject' && <Reject {...{ review, close, answer }} />}
    </div>
  )
}

type FollowsProps = { readonly review: ReviewSeen; readonly children: ReactNode }

function WhatFollows({ review, children }: FollowsProps) {
  const { platform, schedule_time: time, agent_id } = review
  return (
    <>
      <p>
        The hub signs an approval for {children}. The agent{' '}
        <code title={agent_id}>{agent_id.slice(0, 8)}</code> publishes it once on{' '}
        {PLATFORM_NAMES[platform]}, {time === undefined ? 'at once' : <Ago at={time} />}.
      </p>
      <Signature />
      <p>That you did so is a fact in the trail. It cannot be taken back.</p>
    </>
  )
}

/** Behind the button in the order of keys, so that whoever is known goes on by Enter. */
function Signature() {
  const { name, setName } = useReviewer()
  return (
    <label className="field signature">
      <span>
        Your name{' '}
        <span className="muted">
          {name.trim() === '' ? 'without one, the id of your token is signed' : 'is signed with it'}
        </span>
      </span>
      <input
        name="reviewer"
        autoComplete="name"
        maxLength={LIMITS.reviewerChars}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </label>
  )
}

type RejectProps = {
  readonly review: ReviewSeen
  readonly close: () => void
  readonly answer: (said: object) => Promise<void>
}

function Reject({ review: { round, cost }, close, answer }: RejectProps) {
  const [words, setWords] = useState('')
  return (
    <Asked
      {...{ label: 'Reject', title: 'Send it back?', tone: 'bad', close }}
      disabled={words.trim() === ''}
      act={() => answer({ verdict: 'reject', words: words.trim() })}
    >
      <p>
        Nothing is published. Your words go back to whoever wrote it, who may try again; this was
        round {round}, and it has cost <Credits amount={cost} /> credits so far. It is a fact in the
        trail.
      </p>
      <label className="field">
        What is wrong with it
        <textarea
          rows={4}
          maxLength={2_000}
          required
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      </label>
      <Signature />
    </Asked>
  )
}

/** What came of it. */
export function Outcome({ review }: { readonly review: ReviewSeen }) {
  const { state, reviewer, decided_at, expires_at, words, content_hash } = review
  if (state === 'pending') return null
  return (
    <div className={`outcome ${state}`} role="status">
      {state === 'expired' ? (
        <p>
          <b>Nobody answered in time.</b> It ended <Ago at={expires_at} /> and is not published.
        </p>
      ) : (
        <p>
          <b>{state === 'approved' ? 'Approved' : 'Sent back'}</b> <Ago at={decided_at} /> by{' '}
          <Name text={reviewer ?? 'somebody'} />.{' '}
          {state === 'approved'
            ? 'The agent has the approval, good once, and publishes it.'
            : 'Nothing is published.'}
        </p>
      )}
      {words !== undefined && (
        <p>
          “<Name text={words} />”
        </p>
      )}
      {state === 'approved' && (
        <p className="small">
          shown was SHA-256 <code>{content_hash}</code>
        </p>
      )}
    </div>
  )
}
