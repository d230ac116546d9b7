/** The levers of an operator: publishing, the canary's share, pause and resume, for all agents. */
import type { encodeControlList } from '@chimera/dialects/chimera'
import { useState } from 'react'
import { percentText } from '../format/figures.ts'
import { useAnswer, useHub } from '../hub/context.tsx'
import { Confirm } from './dialog.tsx'
import { Ago, Badge, Id, Name } from './shown.tsx'
import { Empty, Show } from './states.tsx'
import { Table } from './table.tsx'

type Orders = ReturnType<typeof encodeControlList>
type Order = Orders['orders'][number]['order']

export function Levers() {
  const { info } = useHub()
  if (info.open) {
    return (
      <Empty title="An open hub gives no orders">
        It has no key to sign them with. Start it with <code>--auth required</code> to steer agents.
      </Empty>
    )
  }
  return <Signed />
}

function Signed() {
  const { ask } = useHub()
  const orders = useAnswer(
    (own, signal) => own.get<Orders>('/v1/control', signal),
    'control',
    5_000,
  )
  const [share, setShare] = useState(0.1)
  const order = async (said: object) => {
    await ask.send('POST', '/v1/control', { to: 'all', ...said })
    orders.reload()
  }
  return (
    <>
      <div className="lever">
        <div>
          <h3>Publishing</h3>
          <p className="muted small">
            Whether agents publish their status; it begins with the canary.
          </p>
        </div>
        <div className="actions">
          <Confirm
            label="Turn on"
            title="Let agents publish?"
            act={() => order({ action: 'publishing', enabled: true })}
          >
            <p>
              Every agent is told that it may publish its status. The canary’s share begins at once.
            </p>
            <p>The order is signed by the hub, and is a fact.</p>
          </Confirm>
          <Confirm
            label="Turn off"
            tone="bad"
            title="Stop all publishing?"
            act={() => order({ action: 'publishing', enabled: false })}
          >
            <p>Every agent is told to stop publishing its status. Work goes on.</p>
            <p>The order is signed by the hub, and is a fact.</p>
          </Confirm>
        </div>
      </div>
      <div className="lever">
        <div>
          <h3>Canary</h3>
          <p className="muted small">Which share of the agents publishes; always the same ones.</p>
        </div>
        <div className="actions">
          <input
            type="range"
            min="0"
            max="1"
            step="0.05"
            value={share}
            aria-label="Share of the canary"
            onChange={(event) => setShare(Number(event.target.value))}
          />
          <span className="num">{percentText(share)}</span>
          <Confirm
            label="Order"
            title={`A canary of ${percentText(share)}?`}
            act={() => order({ action: 'canary', share })}
          >
            <p>{percentText(share)} of the agents may publish, those that do already among them.</p>
            <p>The order is signed by the hub, and is a fact.</p>
          </Confirm>
        </div>
      </div>
      <div className="lever">
        <div>
          <h3>All agents</h3>
          <p className="muted small">Paused agents take no new work and finish what they have.</p>
        </div>
        <div className="actions">
          <Confirm
            label="Resume"
            title="Let all agents work again?"
            act={() => order({ action: 'resume' })}
          >
            <p>Every agent that was paused by an order takes work again.</p>
          </Confirm>
          <Confirm
            label="Pause"
            tone="bad"
            title="Pause all agents?"
            act={() => order({ action: 'pause' })}
          >
            <p>Every agent is told to take no new work. What runs is finished and paid.</p>
            <p>The order is signed by the hub, and is a fact.</p>
          </Confirm>
        </div>
      </div>
      <Show loaded={orders} rows={2}>
        {({ orders: all }) =>
          all.length === 0 ? (
            <Empty title="No order is in force" />
          ) : (
            <Table
              label="Orders in force"
              rows={all}
              keyOf={({ order: each }) => each.control_id}
              columns={[
                { label: 'Order', cell: ({ order: each }) => <b>{wordsOf(each)}</b> },
                { label: 'To', cell: ({ order: each }) => <Addressee order={each} /> },
                {
                  label: 'Obeyed',
                  align: 'end',
                  cell: ({ seen, addressed }) => (
                    <Badge tone={seen === addressed ? 'good' : 'plain'}>
                      {seen} of {addressed}
                    </Badge>
                  ),
                },
                {
                  label: 'Given',
                  align: 'end',
                  cell: ({ order: each }) => <Ago at={each.issued_at} />,
                },
                {
                  label: 'Ends',
                  align: 'end',
                  cell: ({ order: each }) => <Ago at={each.expires_at} />,
                },
              ]}
            />
          )
        }
      </Show>
    </>
  )
}

function wordsOf({ action, enabled, share }: Order): string {
  if (action === 'publishing') return `Publishing ${enabled ? 'on' : 'off'}`
  return action === 'canary' ? `Canary ${percentText(share ?? 0)}` : action
}

function Addressee({ order }: { readonly order: Order }) {
  if (order.agent_id !== undefined) return <Id id={order.agent_id} />
  return order.owner_id === undefined ? 'all agents' : <Name text={order.owner_id} />
}
