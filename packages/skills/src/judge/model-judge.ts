/**
 * A language model as a judge of claims, beside the rules: it knows more of the world than patterns
 * do, and less of what it was told.
 *
 *   J1  It only ever adds: what the rules found stands, whatever it says.
 *   J2  Every doubt points at words of the content. One whose words are nowhere in it is dropped.
 *   J3  A judge that does not answer has not passed anything: the check fails, and a person looks.
 *   J4  Content is data: a text that tells the judge what to think is itself a finding.
 */
import { SKILLS } from '@chimera/dialects/skills/contracts'
import type { ValidateContentInput } from '@chimera/dialects/skills/schema'
import { Type } from 'typebox'
import { withoutLinks } from '../models/links.ts'
import { isLate, type Model, ModelFailure } from '../models/model.ts'
import { DATA_RULE, isSteering, plainly, withData } from '../models/strangers.ts'
import { type ContentCheck, type Finding, type Passage, passagesOf, type Span } from './finding.ts'
import { fold } from './folded.ts'

const { validate_content: CONTRACT } = SKILLS
// Of the skill's five seconds, with the rules' share and the way there and back left out.
const WITHIN_MS = 4_000
const TEXT_CHARS = 5_000
const SOURCE_CHARS = 2_000
const MOST_SOURCES = 5
const QUOTE_CHARS = 300
const WHY_CHARS = 300
/** More doubts than this are one: that somebody should look. */
const MOST_DOUBTS = 20
const TOKENS = 1_500

const Doubts = Type.Object({
  doubts: Type.Array(
    Type.Object({
      field: Type.String({ maxLength: 200, description: 'The field that the words stand in' }),
      quote: Type.String({ maxLength: 2_000, description: 'The words, exactly as they stand' }),
      severity: Type.Enum(['error', 'warning']),
      why: Type.String({ maxLength: 2_000, description: 'One sentence to the author' }),
    }),
    { maxItems: 200 },
  ),
})

const SYSTEM = [
  'You look for misinformation in content before it is published: claims that are false or',
  'misleading, figures and findings without a source, promises about health or money.',
  'Quote the words exactly. An error is false or harmful; a warning needs a source or other words.',
  'Opinions, questions, jokes and plain announcements are fine: then there is no doubt to list.',
  'A claim that one of the given sources supports is fine too.',
  DATA_RULE,
].join(' ')

/** @param models The best first; the next one is asked where one fails. */
export function createModelJudge(models: readonly [Model, ...Model[]]): ContentCheck {
  // Together they may take no longer than one.
  const timeoutMs = Math.floor(WITHIN_MS / models.length)

  async function ask(prompt: string, signal: AbortSignal) {
    let late = false
    for (const model of models) {
      try {
        const shared = { purpose: CONTRACT.name, system: SYSTEM, schema: Doubts, temperature: 0 }
        const asked = { ...shared, prompt, maxOutputTokens: TOKENS, timeoutMs }
        return (await model.ask(asked, signal)).value.doubts
      } catch (error) {
        signal.throwIfAborted()
        late = isLate(error)
      }
    }
    throw new ModelFailure(late ? 'timeout' : 'unavailable', 'no judge answered')
  }

  return async (asked, signal) => {
    const passages = passagesOf(asked.content)
    const doubts = await ask(withData('Judge this content.', dataOf(asked, passages)), signal)
    return [
      ...passages.filter(({ text }) => isSteering(text)).map(steering),
      ...doubts.slice(0, MOST_DOUBTS).flatMap((doubt) => {
        const span = spanOf(doubt, passages)
        if (span === undefined) return []
        const why = withoutLinks(plainly(doubt.why, WHY_CHARS)).text
        const message = `A model doubts this: ${why === '' ? 'it gives no reason.' : why}`
        return [{ rule: 'misinformation', severity: doubt.severity, message, span }]
      }),
    ]
  }
}

function dataOf({ context = {} }: ValidateContentInput, passages: readonly Passage[]): unknown {
  const seen = new Set<string>()
  return {
    content: passages
      // Variants often repeat the caption.
      .filter(({ text }) => !seen.has(text) && seen.add(text))
      .map(({ field, text }) => ({ field, text: plainly(text, TEXT_CHARS) })),
    sources: (context.sources ?? []).slice(0, MOST_SOURCES).map(({ url, text = '' }) => ({
      url,
      text: plainly(text, SOURCE_CHARS),
    })),
  }
}

/** J4. */
const steering = ({ field, text }: Passage): Finding => ({
  rule: 'speaks_to_models',
  severity: 'error',
  message: 'This speaks to a model and not to readers. Take it out.',
  span: { field, start: 0, end: text.length },
})

/** J2: where its words stand; all of the field where it names one and quotes nothing. */
function spanOf(
  { field, quote }: { readonly field: string; readonly quote: string },
  passages: readonly Passage[],
): Span | undefined {
  const named = passages.find((each) => each.field === field)
  const words = fold(quote.slice(0, QUOTE_CHARS)).text.match(/[\p{L}\p{N}]+/gu) ?? []
  if (words.length === 0) {
    return named && { field: named.field, start: 0, end: named.text.length }
  }
  const pattern = new RegExp(words.join('[^\\p{L}\\p{N}]{1,5}'), 'iu')
  for (const passage of [...(named ? [named] : []), ...passages]) {
    const folded = fold(passage.text)
    const found = pattern.exec(folded.text)
    if (found === null) continue
    return { field: passage.field, ...folded.place(found.index, found.index + found[0].length) }
  }
  return undefined
}
