/** What could not be delivered, why, and what can be done about it. */
import type { encodeLetters, encodeRedelivery } from '@chimera/dialects/chimera'
import { useState } from 'react'
import { sentence } from '../format/text.ts'
import { isOperator, useAnswer, useHub } from '../hub/context.tsx'
import { may } from '../state/role.ts'
import { Confirm } from './dialog.tsx'
import { Ago, Badge, Id, Name } from './shown.tsx'
import { Empty, Section, Show } from './states.tsx'
import { Table } from './table.tsx'

type Letters = ReturnType<typeof encodeLetters>
type Redelivery = ReturnType<typeof encodeRedelivery>['body']

export function LetterPanel() {
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
  const { ask, info } = useHub()
  const [outcome, setOutcome] = useState<Redelivery>()
  const path = `/v1/dead-letters/${encodeURIComponent(letter.id)}`
  if (!isOperator(info) && !may(info, 'agents')) {
    return (
      <span className="muted small" title="Your token lacks the scope “agents”">
        only to look at
      </span>
    )
  }
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
