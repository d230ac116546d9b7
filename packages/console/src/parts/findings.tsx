/** Beside the text under review: what else goes along, what the judge found, how it came about. */
import type { ReviewSeen } from '@chimera/dialects/chimera'
import { percentText } from '../format/figures.ts'
import { plainText, sentence } from '../format/text.ts'
import { fieldName, readField, shownField } from '../state/review.ts'
import { Marked, SEVERITY_TONES } from './marked.tsx'
import { Outside } from './outside.tsx'
import { Ago, Badge, Credits, Id, Link, Meter, Name } from './shown.tsx'
import { Empty, Section } from './states.tsx'

export const STATE_TONES = {
  pending: 'warn',
  approved: 'good',
  rejected: 'bad',
  expired: 'plain',
} as const

/** What goes along and is not what the platform shows. */
export function Texts({ review: { platform, content, issues } }: { readonly review: ReviewSeen }) {
  const shown = shownField(platform, content)
  const others = ['/captions', '/script'].filter((each) => each !== shown)
  return (
    <Section title="The rest of its text" note="goes along with it">
      <div className="texts">
        {others.map((field) => (
          <div key={field}>
            <h3>{fieldName(field)}</h3>
            <p className="words" dir="auto">
              <Marked text={readField(content, field) ?? ''} {...{ field, issues }} />
            </p>
          </div>
        ))}
      </div>
    </Section>
  )
}

export function Issues({ review: { issues } }: { readonly review: ReviewSeen }) {
  return (
    <Section title="What the judge found" note={issues.length > 0 ? String(issues.length) : ''}>
      {issues.length === 0 ? (
        <Empty title="Nothing" />
      ) : (
        <ol className="issues">
          {issues.map(({ rule, severity, message, span }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an issue is told by its number
            <li key={at}>
              <span className="issue-number num">{at + 1}</span>
              <div>
                <p>
                  <Name text={message} />
                </p>
                <p className="muted small">
                  <Badge tone={SEVERITY_TONES[severity]}>{severity}</Badge> {plainText(rule)}
                  {span && ` · ${plainText(fieldName(span.field)).toLowerCase()}`}
                </p>
              </div>
            </li>
          ))}
        </ol>
      )}
    </Section>
  )
}

export function About({ review }: { readonly review: ReviewSeen }) {
  const { confidence, cost, round, expires_at, opened_at, campaign_id, agent_id, sources } = review
  return (
    <Section title="How it came about">
      <dl className="facts pad">
        <dt>Confidence</dt>
        <dd>
          <Meter share={confidence} label={`Confidence ${percentText(confidence)}`} />{' '}
          <span className="num">{percentText(confidence)}</span>
        </dd>
        <dt>Cost so far</dt>
        <dd>
          <Credits amount={cost} /> credits
        </dd>
        <dt>Round</dt>
        <dd className="num">{round}</dd>
        <dt>Laid here</dt>
        <dd>
          <Ago at={opened_at} />
        </dd>
        <dt>{review.state === 'pending' ? 'Ends' : 'Would end'}</dt>
        <dd>
          <Ago at={expires_at} />
        </dd>
        {campaign_id !== undefined && (
          <>
            <dt>Campaign</dt>
            <dd>
              <Link to={{ screen: 'campaigns', id: campaign_id }}>
                <Id id={campaign_id} />
              </Link>
            </dd>
          </>
        )}
        <dt>Agent</dt>
        <dd>
          <Link to={{ screen: 'network', id: agent_id }}>
            <Id id={agent_id} />
          </Link>
        </dd>
        <dt>State</dt>
        <dd>
          <Badge tone={STATE_TONES[review.state]}>{sentence(review.state)}</Badge>
        </dd>
        <dt>Sources</dt>
        <dd>
          {sources.length === 0 ? (
            <span className="muted">none named</span>
          ) : (
            <ul className="sources">
              {sources.map(({ url, title }) => (
                <li key={url}>
                  <Outside href={url}>
                    <Name text={title ?? url} />
                  </Outside>
                </li>
              ))}
            </ul>
          )}
        </dd>
      </dl>
    </Section>
  )
}
