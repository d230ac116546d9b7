/** What the fleet of the hub stands on: feeds, models, a wallet, platforms; tried when asked. */
import type { encodeProviders } from '@chimera/dialects/chimera'
import { plainText, sentence } from '../format/text.ts'
import { type Loaded, useHub } from '../hub/context.tsx'
import type { Tone } from '../state/hires.ts'
import { Confirm } from './dialog.tsx'
import { Ago, Badge } from './shown.tsx'
import { Empty, Section, Show } from './states.tsx'
import { Table } from './table.tsx'

export type Providers = ReturnType<typeof encodeProviders>
type Provider = Providers['providers'][number]

const TONES: Readonly<Record<Provider['state'], Tone>> = {
  works: 'good',
  fails: 'bad',
  embedded: 'plain',
}

export function ProviderPanel({ loaded }: { readonly loaded: Loaded<Providers> }) {
  const { ask } = useHub()
  const { data } = loaded
  const isKnown = data?.checked_at !== undefined
  return (
    <Section
      title="Feeds and providers"
      note={isKnown ? <Tried at={data.checked_at} /> : 'what the skills stand on'}
      actions={
        isKnown && (
          <Confirm
            label="Try them now"
            title="Try all of them?"
            act={async () => {
              await ask.send('POST', '/v1/providers/check')
              loaded.reload()
            }}
          >
            <p>
              Every feed, model, wallet and platform that is configured is asked one short question.
              A model’s answer costs a fraction of a cent.
            </p>
            <p>Nothing is published, paid or registered by it, and no fact is made.</p>
          </Confirm>
        )
      }
    >
      <Show loaded={loaded} rows={3}>
        {({ providers, checked_at }) =>
          checked_at === undefined ? (
            <Empty title="No fleet runs with this hub">
              Where one runs, <code>chimera providers check</code> tries what it stands on.
            </Empty>
          ) : (
            <ProviderTable providers={providers} />
          )
        }
      </Show>
    </Section>
  )
}

function Tried({ at }: { readonly at: string | undefined }) {
  return (
    <>
      tried <Ago at={at} />
    </>
  )
}

function ProviderTable({ providers }: { readonly providers: readonly Provider[] }) {
  return (
    <Table
      label="Feeds and providers"
      rows={providers}
      keyOf={({ what }) => what}
      columns={[
        { label: 'What', cell: ({ what }) => <b>{plainText(sentence(what))}</b> },
        {
          label: 'State',
          cell: ({ state }) => (
            <Badge tone={TONES[state]}>{state === 'embedded' ? 'built in' : state}</Badge>
          ),
        },
        {
          label: 'Found',
          cell: ({ found, fallback, next }) => (
            <div className="title">
              <span>{plainText(found)}</span>
              {fallback !== undefined && <small>{plainText(fallback)} stands in</small>}
              {next !== undefined && <small>{plainText(next)}</small>}
            </div>
          ),
        },
        {
          label: 'Costs',
          align: 'end',
          cell: ({ cost }) =>
            cost === undefined ? <span className="muted">–</span> : plainText(cost),
        },
      ]}
    />
  )
}
