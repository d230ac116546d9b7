/**
 * Claims that mislead: promises that nobody can keep, and figures and findings for which nothing in
 * the text or in the context stands.
 *
 *   C1  A promise about health or money is an error whatever source it names.
 *   C2  A figure needs a source: an address, a name that it is credited to, or a source of the
 *       context in whose text the same figure stands.
 *   C3  What is negated or asked is not claimed: "no cure", "is it risk-free?".
 */
import { type Finding, type Passage, placesOf, quoted } from './finding.ts'

type Claim = {
  readonly rule: string
  readonly severity: Finding['severity']
  readonly message: string
  readonly pattern: RegExp
}

// biome-ignore format: a pattern is read whole
const PROMISES: readonly Claim[] = [
  {
    rule: 'health_promise', severity: 'error',
    message: 'No treatment may be promised to work for certain. Say what it may do, and for whom.',
    pattern: /\b(?:(?:cures?|heals?|reverses?|eliminates?|prevents?|kills?|melts? away|wipes? out) (?:\w+ ){0,2}?(?:cancer|diabetes|covid|autism|depression|anxiety|alzheimer'?s|arthritis|asthma|hiv|aids|dementia|obesity|infections?|belly fat|the flu|all diseases?|any disease|every disease)|miracle (?:cure|drug|pill|treatment|diet)|(?:guaranteed|100 ?%|completely|scientifically proven) (?:to )?(?:cure|heal|effective|weight loss|results|safe)|(?:no|zero|without(?: any)?) side[- ]effects|(?:lose|drop|shed) \d+ ?(?:kg|kilos?|pounds?|lbs?) in (?:\w+ )?(?:\d+|one|two|three|a) (?:days?|weeks?)|detox(?:es|ify)? your (?:body|liver|blood)|(?:replaces?|instead of|better than|don'?t need|stop taking) (?:your )?(?:medicine|medication|insulin|chemo(?:therapy)?|vaccines?|antidepressants|doctors?))\b/gi,
  },
  {
    rule: 'finance_promise', severity: 'error',
    message: 'No gain may be promised for certain. Say what can be lost, too.',
    pattern: /\b(?:guaranteed (?:\w+ ){0,2}?(?:returns?|profits?|income|gains?|yield|wins?)|(?:risk[- ]free|zero[- ]risk|no[- ]risk|without (?:any )?risk) ?(?:investment|returns?|profits?|money|income|trade|trading|gains?)?|(?:double|triple|10x|100x|multiply) (?:your|their|his|her) (?:money|savings|investment|crypto|portfolio|income)|can(?:'?t|not) lose(?: (?:money|a cent))?|get rich (?:quick|fast|overnight)|(?:will|going to|about to) (?:definitely |certainly |surely )?(?:10x|100x|1000x|moon|go to the moon)|never (?:lose|go(?:es)? down)|(?:passive income|profits?|returns?) (?:of )?\d+ ?% (?:a|per|every) (?:day|week)|make (?:\$|€|£)?\d[\d,.]*k? (?:a|per|every) (?:day|hour) (?:from home|guaranteed|easily|with no))/gi,
  },
]

// biome-ignore format: a pattern is read whole
const ASSERTIONS: readonly Claim[] = [
  {
    rule: 'unsourced_finding', severity: 'warning',
    message: 'Somebody is said to have found this, and nobody is named. Name the source.',
    pattern: /\b(?:(?:recent |new |many |several |most )?(?:studies|research|science|scientists|researchers|experts|doctors|economists|surveys|data|evidence) (?:all |now |have |has |clearly |finally )*(?:shows?|shown|proves?|proven|proved|confirms?|confirmed|agrees?|says?|found|reveals?|revealed|suggests?)|it(?: is|'s| has been| was) (?:scientifically |clinically |officially )?(?:proven|confirmed)|(?:scientifically|clinically) proven|everyone knows|as we all know)\b/gi,
  },
  {
    rule: 'hidden_truth', severity: 'warning',
    message: 'This says that a truth is hidden, and does not show it. Show it, or leave it out.',
    pattern: /\b(?:(?:they|the media|big pharma|the government|governments|elites|doctors|banks|mainstream media) (?:do(?:es)?n'?t|do(?:es)? not|won'?t|will not|never) (?:want|tell|let|show) (?:you|us)|(?:hiding|hid|hidden|covering up|covered up) the truth|wake up,? (?:people|sheeple|everyone)|(?:is|was|are) (?:a|all a|an inside) (?:hoax|psyop|false flag|inside job)|plandemic|the (?:shocking|real|hidden|secret) truth (?:about|behind)|what (?:they|doctors|banks) (?:are hiding|hide|won'?t tell you))\b/gi,
  },
]

const FIGURE =
  /(?<![\w.,$€£-])(?:[$€£] ?)?\d+(?:[.,]\d+)*(?: ?(?:%|percent|per cent|million|billion|trillion)(?!\w)|x(?= (?:more|faster|higher|better|as)))/gi
const SOURCED =
  /https?:\/\/\S|\bwww\.\S|\b(?:according to|source:|sources:|reported by|reports? from|published (?:by|in)|data from|as per|via|cited by|survey by|study by|figures (?:from|by)|says? the|(?:said|says|told|wrote|announced|reported|reports|estimates|found) (?:by )?[A-Z]|[A-Z]\w+(?: [A-Z]\w+)* (?:said|says|told|announced|reported|reports|estimates|found))/
const NEGATED =
  /\b(?:no|not|never|isn'?t|aren'?t|wasn'?t|don'?t|doesn'?t|can'?t|cannot|won'?t|nothing|nobody|without|beware of|avoid|myth(?: of| that)?|claims? (?:of|that|to)|promises? (?:of|that|to)|anyone (?:who )?(?:claim|promis)\w*|so-called|scams? (?:that|with|promising)?|fake|false) (?:\w+ ){0,2}$/i
// A claim is read with what stands before it in its sentence.
const BEFORE_CHARS = 60

/** @param known What the context's sources say, in small letters. */
export function checkClaims(given: Passage, known: readonly string[]): readonly Finding[] {
  // As long as before, so that every place stays where it is.
  const passage = { ...given, text: given.text.replaceAll('’', "'") }
  const findings: Finding[] = []
  for (const { rule, severity, message, pattern } of PROMISES) {
    for (const { words, ...span } of placesOf(passage, pattern)) {
      if (isClaimed(passage, span)) findings.push({ rule, severity, message, span })
    }
  }
  for (const { rule, severity, message, pattern } of ASSERTIONS) {
    for (const { words, ...span } of placesOf(passage, pattern)) {
      const isSourced = rule === 'unsourced_finding' && SOURCED.test(sentenceAt(passage, span))
      if (isClaimed(passage, span) && !isSourced) findings.push({ rule, severity, message, span })
    }
  }
  for (const { words, ...span } of placesOf(passage, FIGURE)) {
    const stands = known.some((text) => text.includes(words.toLowerCase().trim()))
    if (stands || SOURCED.test(sentenceAt(passage, span))) continue
    const message = `The figure ${quoted(words)} has no source. Name one, or leave it out.`
    findings.push({ rule: 'unsourced_figure', severity: 'warning', message, span })
  }
  return findings
}

/** C3. */
function isClaimed(passage: Passage, span: { readonly start: number; readonly end: number }) {
  const sentence = sentenceAt(passage, span)
  const before = beforeIn(passage, span.start)
  return !sentence.trimEnd().endsWith('?') && !NEGATED.test(before)
}

function beforeIn({ text }: Passage, start: number): string {
  const before = text.slice(Math.max(0, start - BEFORE_CHARS), start)
  return before.slice(before.search(/[^.!?\n]*$/))
}

/** With the one that follows, where a source often stands. */
function sentenceAt(
  { text }: Passage,
  { start, end }: { readonly start: number; readonly end: number },
): string {
  const before = text.slice(0, start)
  const from = Math.max(before.lastIndexOf('\n'), before.search(/[^.!?]*$/) - 1) + 1
  const rest = text.slice(end)
  const stop = rest.search(/[.!?](?:\s|$)|\n/)
  return text.slice(from, stop === -1 ? text.length : end + stop + 1)
}
