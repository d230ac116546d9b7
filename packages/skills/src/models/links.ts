/**
 * Addresses and names in what a model wrote. A model that was talked into it would send readers
 * somewhere, so an address stands only where the trend itself has it.
 */

const TLDS = [
  'com|org|net|io|co|info|biz|xyz|top|shop|app|dev|me|link|click|site|online|live|ly|gg|to|ru|cn',
  'uk|de|example|test|onion|zip',
].join('|')
const DOT = String.raw`(?:\.|\[\.\]|\(\.\))`
const ADDRESS = new RegExp(
  [
    // With a scheme, also a broken or a hidden one.
    String.raw`\b(?:h(?:tt|xx)ps?|ftp|javascript|data|mailto|tg|magnet):\S+`,
    String.raw`\bwww\.\S+`,
    // A bare host, also with its dots written out of reach of a simple pattern.
    String.raw`\b[a-z0-9-]{2,63}(?:${DOT}[a-z0-9-]{2,63}){0,3}${DOT}(?:${TLDS})\b(?:/\S*)?`,
  ].join('|'),
  'gi',
)
const TAG = /<[/!]?[a-z][^<>]{0,200}>/gi
const MENTION = /(?<![\w@])@(?=\w)/g
const MARKDOWN = /\[([^\]]{1,200})\]\([^)]{0,500}\)/g

export type Unlinked = { readonly text: string; readonly found: number }

/** A text without addresses, but for the ones that are known, and how many went. */
export function withoutLinks(text: string, known: readonly string[] = []): Unlinked {
  let found = 0
  const drop = (kept: string): string => {
    found += 1
    return kept
  }
  const bare = text
    .replaceAll(MARKDOWN, (_, words: string) => drop(words))
    .replaceAll(TAG, () => drop(''))
    .replaceAll(ADDRESS, (address) =>
      known.includes(address.replace(/[).,!?;:]+$/, '')) ? address : drop(''),
    )
    .replaceAll(MENTION, () => drop(''))
  return { text: found === 0 ? text : bare.replaceAll(/[ \t]{2,}/g, ' ').trim(), found }
}
