/** Cost by campaign: what was spent of each budget, and on what. */
import type { encodeCampaigns } from '@chimera/dialects/chimera'
import { countText, creditText } from '../format/figures.ts'
import { sentence } from '../format/text.ts'
import { useWatched } from '../hub/reviews.tsx'
import { type Costs, costsOf } from '../state/costs.ts'
import { Credits, Link, Meter, Name } from './shown.tsx'
import { Empty, Section, Show } from './states.tsx'
import { Table } from './table.tsx'

type Campaigns = ReturnType<typeof encodeCampaigns>

export function CampaignCosts() {
  const loaded = useWatched<Campaigns>('/v1/campaigns?limit=20', 'campaign costs')
  return (
    <Section title="Cost by campaign" note="what each has spent, and on what">
      <Show loaded={loaded} rows={2}>
        {({ campaigns }) =>
          campaigns.length === 0 ? (
            <Empty title="No campaign yet" />
          ) : (
            <CostTable rows={campaigns.map(costsOf)} />
          )
        }
      </Show>
    </Section>
  )
}

function CostTable({ rows }: { readonly rows: readonly Costs[] }) {
  return (
    <Table
      label="Cost by campaign"
      most={10}
      rows={rows}
      keyOf={({ campaign }) => campaign.campaign_id}
      columns={[
        {
          label: 'Campaign',
          cell: ({ campaign: { campaign_id, name } }) => (
            <Link to={{ screen: 'campaigns', id: campaign_id }}>
              <Name text={name} />
            </Link>
          ),
        },
        {
          label: 'What for',
          cell: ({ parts }) =>
            parts.length === 0 ? (
              <span className="muted">nothing yet</span>
            ) : (
              <span className="parts">
                {parts.map(({ skill, amount }) => (
                  <span key={skill}>
                    <Name text={sentence(skill)} /> <b className="num">{creditText(amount)}</b>
                  </span>
                ))}
              </span>
            ),
        },
        {
          label: 'Each post',
          align: 'end',
          cell: ({ spent, published }) => (
            <span title={`${countText(published)} published`}>
              <Credits amount={published === 0 ? undefined : spent / published} />
            </span>
          ),
        },
        {
          label: 'Budget',
          cell: ({ spent, campaign: { budget } }) => (
            <Meter
              share={budget.total === 0 ? 0 : spent / budget.total}
              label={`${creditText(spent)} of ${creditText(budget.total)} credits`}
            />
          ),
        },
        { label: 'Spent', align: 'end', cell: ({ spent }) => <Credits amount={spent} /> },
      ]}
    />
  )
}
