/** Putting a campaign away: what it says then, and that a word on its way is no hindrance. */
import assert from 'node:assert/strict'
import { writeInstant } from '@chimera/dialects/wire'
import type { ContentState } from '@chimera/domain/campaign/content'
import { test } from 'vitest'
import { askedFor } from '../../test/persona.ts'
import { archive } from './archive.ts'
import { DeskFailure } from './hub-desk.ts'
import {
  beginRecord,
  type CampaignPiece,
  type CampaignRecord,
  type CampaignStep,
  pieceState,
  touched,
  withStep,
} from './record.ts'

const NOON = Date.UTC(2026, 0, 1, 12)
const asked = askedFor()
const { campaign_id: id } = asked.campaign
const running: CampaignStep = {
  step: 'trends',
  skill: 'fetch_trends',
  state: 'running',
  attempts: 1,
  cost: 0,
  began_at: '2026-01-01T12:00:00.000Z',
}
const begun = withStep(beginRecord(asked, NOON), running, NOON)

/** As the hub: of each version one is first. */
function createDesk(first: CampaignRecord | undefined) {
  let record = first
  return {
    record: () => record,
    tell: (change: Partial<CampaignRecord>) => {
      if (record !== undefined) record = touched(record, change, NOON)
    },
    load: async () => (record === undefined ? undefined : { record }),
    save: async (next: CampaignRecord) => {
      if (next.version !== (record?.version ?? 0) + 1) throw new DeskFailure('it is behind')
      record = next
    },
  }
}
const terms = {
  now: () => NOON + 1_000,
  words: 'it was called off',
  signal: new AbortController().signal,
}

test('SK-16 what was under way has not ended, and says why', async () => {
  const desk = createDesk(begun)
  await archive(id, { desk, ...terms })
  const { status, steps } = desk.record() ?? {}
  assert.equal(status, 'archived')
  const ended = { state: 'failed', ended_at: writeInstant(NOON + 1_000), words: terms.words }
  assert.deepEqual(steps, [{ ...running, ...ended }])
})

test('SK-16 what waited for a person waits no more; what is published may be out', async () => {
  const pieceIn = (...states: ContentState[]): CampaignPiece => ({
    piece_id: id,
    topic: 'A pool',
    platform: 'twitter',
    moments: (['trend_detected', 'accepted', ...states] as const).map((state) => ({
      state,
      at: writeInstant(NOON),
    })),
  })
  const made = ['generating', 'generated', 'validating'] as const
  const asked = [...made, 'validated', 'approval_pending'] as const
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [CampaignPiece, string])[] = [
    [pieceIn(),                                    'accepted'],
    [pieceIn('generating'),                        'generation_failed'],
    [pieceIn(...made),                             'validation_failed'],
    [pieceIn(...asked),                            'approval_expired'],
    [pieceIn(...asked, 'approved', 'publishing'),  'publishing'],
  ]
  const desk = createDesk({ ...begun, pieces: rows.map(([piece]) => piece) })
  await archive(id, { desk, ...terms })
  assert.deepEqual(
    desk.record()?.pieces.map(pieceState),
    rows.map(([, state]) => state),
  )
  assert.equal(desk.record()?.pieces[3]?.moments.at(-1)?.words, terms.words)
})

test('SK-16 a word of the run that comes between is kept, and it is put away then', async () => {
  const desk = createDesk(begun)
  let told = false
  const load = async () => {
    const kept = await desk.load()
    if (!told) desk.tell({ name: 'As it was told last' })
    told = true
    return kept
  }
  await archive(id, { desk: { ...desk, load }, ...terms })
  assert.deepEqual(
    [desk.record()?.name, desk.record()?.status],
    ['As it was told last', 'archived'],
  )
})

test('SK-16 what is over stays as it is, and what nobody knows is not made', async () => {
  for (const status of ['completed', 'archived'] as const) {
    const desk = createDesk({ ...begun, status })
    await archive(id, { desk, ...terms })
    assert.deepEqual(desk.record(), { ...begun, status })
  }
  const none = createDesk(undefined)
  await archive(id, { desk: none, ...terms })
  assert.equal(none.record(), undefined)
})

test('a hub that always has a later one is given up on', async () => {
  const desk = { ...createDesk(begun), save: () => Promise.reject(new DeskFailure('behind')) }
  await assert.rejects(archive(id, { desk, ...terms }), DeskFailure)
})
