/** What a campaign does at this moment, so that whoever waits for it sees what for. */
import type { CampaignSeen, encodeCampaigns } from '@chimera/dialects/chimera'
import { sentence } from '../format/text.ts'
import { spanText } from '../format/time.ts'
import { useHub } from '../hub/context.tsx'
import { useWatched } from '../hub/reviews.tsx'
import { Link, Name } from './shown.tsx'

type Campaigns = ReturnType<typeof encodeCampaigns>

const runningIn = ({ status, steps }: CampaignSeen) =>
  status === 'active' ? steps.findLast(({ state }) => state === 'running') : undefined

export function Doing({ campaign }: { readonly campaign: CampaignSeen }) {
  const { now } = useHub()
  const step = runningIn(campaign)
  if (step === undefined) return null
  return (
    <span className="muted small">
      {sentence(step.skill)} for {spanText(now - Date.parse(step.began_at))}
    </span>
  )
}

/** Where nothing waits yet: the campaigns that are on their way to it. */
export function OnTheWay() {
  const { data } = useWatched<Campaigns>('/v1/campaigns?limit=20', 'on the way')
  const going = (data?.campaigns ?? []).filter((each) => runningIn(each) !== undefined)
  return going.map((campaign) => (
    <p key={campaign.campaign_id}>
      <Link to={{ screen: 'campaigns', id: campaign.campaign_id }}>
        <Name text={campaign.name} />
      </Link>{' '}
      is on its way: <Doing campaign={campaign} />
    </p>
  ))
}
