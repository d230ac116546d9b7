/**
 * A stage for the voices: a clock that stands still, an outlet and a hub that write down what they
 * are told and answer what the test wants.
 */
import type { Skill } from '@chimera/domain/agent/agent'
import type { OwnerId, PublicKey } from '@chimera/domain/ids'
import { createSeededChance } from '@chimera/host/chance'
import { createLog } from '@chimera/host/log'
import { createMetrics } from '@chimera/host/metrics'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import type { HubAnswer } from '../src/hub/client.ts'
import type { Offered } from '../src/self/portrait.ts'
import { openSelf } from '../src/self/self.ts'
import type { FeedTerms, VoiceAlert } from '../src/voice/feed.ts'
import type { Posted } from '../src/voice/feed-door.ts'
import { createLifecycle } from '../src/voice/lifecycle.ts'
import type { Told, Topic } from '../src/voice/outlet.ts'
import { createVoices, type VoicesHands } from '../src/voice/voices.ts'

export type Wire = Record<string, unknown>
export type Line = { readonly at: number; readonly topic: string; readonly message: Wire }

export const skill = (name: string, minor = 0): Skill => ({
  name,
  version: { major: 1, minor },
  description: `Does ${name}`,
  priceCents: 5,
})
export const TAKEN: Told = { outcome: { type: 'answered', status: 204 } }
export const SILENCE: Told = { outcome: { type: 'unanswered' }, why: 'network: cut' }
export const refusedWith = (status: number): Told => ({ outcome: { type: 'answered', status } })
const auth = { by: 'jws' } as const
const YES: HubAnswer = { ok: true, status: 201, body: {} }

export async function setStage(
  more: Partial<VoicesHands> & {
    readonly slots?: number
    readonly hubKey?: PublicKey
    readonly feedAnswers?: () => Posted
    readonly feedTerms?: FeedTerms
  } = {},
) {
  const { slots = 2, feedAnswers, feedTerms = {}, ...hands } = more
  const clock = createVirtualClock({ startAt: 1_800_000_000_000 })
  const began = clock.now()
  const lines: Line[] = []
  const logged: Wire[] = []
  const destination = { write: (line: string) => void logged.push(JSON.parse(line)) }
  const log = createLog({ clock, name: 'agent', destination })
  const metrics = createMetrics()
  const chance = createSeededChance(7)
  const alerts: VoiceAlert[] = []
  const self = await openSelf({ chance })
  const lifecycle = createLifecycle({ clock, log, slots })
  const stage = {
    answer: (_topic: string): Told => TAKEN,
    hubAnswer: (_path: string, _body: unknown): HubAnswer => YES,
    offered: {
      name: 'chimera-counter',
      version: '1.2.3',
      endpoint: 'https://counter.example.org',
      callback: 'https://counter.example.org/moltbook/v1/reserve',
      skills: [skill('word_count')],
    } as Offered,
  }
  const note = (topic: string, message: unknown): void => {
    lines.push({ at: clock.now() - began, topic, message: (message ?? {}) as Wire })
  }
  const hub = {
    get: async (path: string) => {
      note(`GET ${path}`, {})
      return stage.hubAnswer(path, undefined)
    },
    post: async (path: string, body: unknown) => {
      note(path, body)
      return stage.hubAnswer(path, body)
    },
  }
  const outlet = {
    say: async (topic: Topic, message: object) => {
      note(topic, message)
      return stage.answer(topic)
    },
  }
  const door = {
    post: async (body: string): Promise<Posted> => {
      note('feed', JSON.parse(body))
      return feedAnswers?.() ?? { outcome: { type: 'answered', status: 202 } }
    },
    close: async () => {},
  }
  const voices = createVoices({
    self,
    owner: 'acme' as OwnerId,
    lifecycle,
    offered: () => stage.offered,
    hub,
    outlet,
    load: () => ({ cpu: 0.25, mem: 0.5 }),
    alert: (alert) => void alerts.push(alert),
    clock,
    chance,
    log,
    metrics,
    ...(feedAnswers && { feed: { url: 'https://feed.example.org', auth, ...feedTerms } }),
    openDoor: () => door,
    ...hands,
  })
  /** Started, and everything said that is said at the start. */
  const start = async () => {
    const starting = voices.start()
    await clock.advanceBy(0)
    return starting
  }
  const workload = (running: number, awaiting = 0) =>
    lifecycle.order({
      type: 'update_workload',
      workload: { running, awaiting, slotsTotal: slots, slotsFree: slots - running },
    })
  const said = (topic: string) => lines.filter((each) => each.topic === topic)
  const times = (topic: string) => said(topic).map(({ at }) => at)
  const last = (topic: string) => said(topic).at(-1)?.message ?? {}
  const forget = () => void lines.splice(0)
  return {
    clock,
    began,
    self,
    lifecycle,
    voices,
    stage,
    alerts,
    logged,
    metrics,
    door,
    start,
    workload,
    said,
    times,
    last,
    forget,
  }
}
