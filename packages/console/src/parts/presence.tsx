/** The last 24 hours of an agent as a band: when somebody heard from it, and what it said. */
import { percentText } from '../format/figures.ts'
import { clockText, exactText, spanText } from '../format/time.ts'
import { useAnswer, useLive, useSettled } from '../hub/context.tsx'
import { type Day, STATES, spansOf, timeIn } from '../state/presence.ts'
import { Show } from './states.tsx'

const WIDTH = 960
const HEIGHT = 26
const HOUR_MS = 60 * 60 * 1_000
/** Lines every six hours, so that one can tell when. */
const EVERY_HOURS = 6
// The band moves by a pixel in a minute and a half.
const REFRESH_MS = 30_000

export function Presence({ id }: { readonly id: string }) {
  const path = `/v1/agents/${encodeURIComponent(id)}/presence`
  const loaded = useAnswer((ask, signal) => ask.get<Day>(path, signal), path, REFRESH_MS)
  const soon = useSettled(loaded.reload, 5_000)
  useLive((events) => {
    if (events.some(({ kind, agent_id }) => kind === 'instance_seen' && agent_id === id)) soon()
  }, loaded.reload)
  return (
    <Show loaded={loaded} rows={1}>
      {(day) => <Band day={day} />}
    </Show>
  )
}

function Band({ day }: { readonly day: Day }) {
  const from = Date.parse(day.since)
  const until = Date.parse(day.until)
  const spans = spansOf(day)
  const x = (at: number) => Math.round(((at - from) / (until - from)) * WIDTH * 10) / 10
  const ticks = Array.from({ length: 24 / EVERY_HOURS + 1 }, (_, index) => {
    const hours = 24 - index * EVERY_HOURS
    return { hours, at: until - hours * HOUR_MS }
  })
  const heard = spans.reduce((sum, { begins, ends }) => sum + ends - begins, 0)
  const there = `${spanText(heard)} of the last 24 hours`
  const shown = STATES.filter((state) => timeIn(spans, state) > 0)
  return (
    <div className="pad band">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="presence"
        role="img"
        aria-label={`Heard for ${there}`}
      >
        <rect className="base" width={WIDTH} height={HEIGHT} rx="5" />
        {spans.map(({ begins, ends, state }) => (
          <rect
            key={begins}
            className={state}
            x={x(begins)}
            width={Math.max(1.5, x(ends) - x(begins))}
            height={HEIGHT}
          >
            <title>{`${state} from ${exactText(begins)} for ${spanText(ends - begins)}`}</title>
          </rect>
        ))}
        {ticks.slice(1, -1).map(({ hours, at }) => (
          <line key={hours} x1={x(at)} x2={x(at)} y2={HEIGHT} />
        ))}
      </svg>
      <div className="hours" aria-hidden="true">
        {ticks.map(({ hours, at }) => (
          <span key={hours} title={exactText(at)}>
            {hours === 0 ? 'now' : clockText(at).slice(0, 5)}
          </span>
        ))}
      </div>
      <p className="legend small">
        {shown.map((state) => (
          <span key={state}>
            <i className={`swatch ${state}`} aria-hidden="true" /> {state}{' '}
            <b className="num">{spanText(timeIn(spans, state))}</b>
          </span>
        ))}
        <span className="muted">
          heard for {there}, {percentText(day.up)} of the time since it registered
        </span>
      </p>
    </div>
  )
}
