/** Precision and recall of the judge on the labelled texts, one group of rules at a time. */
import { checkClaims } from '../src/judge/claims.ts'
import { checkCopying } from '../src/judge/copying.ts'
import type { Finding, Passage } from '../src/judge/finding.ts'
import { createOffensiveCheck } from '../src/judge/offensive.ts'
import { checkPersonal } from '../src/judge/personal.ts'
import { checkPlatform } from '../src/judge/platforms.ts'
import { type Group, LABELLED, type Labelled, SOURCE } from './labelled-texts.ts'

export type Measured = {
  readonly group: Group
  readonly texts: number
  readonly missed: readonly string[]
  readonly wrong: readonly string[]
  readonly precision: number
  readonly recall: number
}

const offensive = createOffensiveCheck()
const sources = [{ url: 'https://harbour.example.org/library', text: SOURCE }]

const CHECKS: Readonly<Record<Group, (passage: Passage) => readonly Finding[]>> = {
  offensive,
  misleading: (passage) => checkClaims(passage, []),
  copied: (passage) => checkCopying(passage, { sources }),
  personal: checkPersonal,
  bait: (passage) =>
    checkPlatform(EMPTY, [passage], undefined).filter(({ rule }) => rule === 'engagement_bait'),
}

const EMPTY = {
  content_id: '00000000-0000-4000-8000-000000000001',
  task_id: '00000000-0000-4000-8000-000000000002',
  trend_ref: '00000000-0000-4000-8000-000000000003',
  script: '',
  captions: '',
  media_urls: [],
  hashtags: [],
  confidence_score: 1,
  requires_review: false,
}

export function measure(): readonly Measured[] {
  const groups: readonly Group[] = ['offensive', 'misleading', 'copied', 'personal', 'bait']
  return groups.map((group) => {
    const speaks = ([text]: Labelled): boolean =>
      CHECKS[group]({ field: '/script', text }).length > 0
    const meant = LABELLED.filter(([, ...labels]) => labels.includes(group))
    const missed = meant.filter((each) => !speaks(each)).map(([text]) => text)
    const wrong = LABELLED.filter((each) => !meant.includes(each) && speaks(each)).map(
      ([text]) => text,
    )
    const found = meant.length - missed.length
    return {
      group,
      texts: meant.length,
      missed,
      wrong,
      precision: found / (found + wrong.length),
      recall: found / meant.length,
    }
  })
}
