/**
 * Many rows in few parameters: each column as the text of an array, which a statement unnests.
 * The database reads it straight into the column's type, in half the time that it takes for JSON.
 */
const ESCAPED = /["\\]/
const EACH_ESCAPED = /["\\]/g

/** For `$n::text[]`, `$n::bigint[]` and the like. What can be kept is the caller's affair. */
export function arrayText(values: readonly (string | number | null)[]): string {
  let text = ''
  for (const value of values) {
    if (text !== '') text += ','
    if (typeof value !== 'string') text += value === null ? 'NULL' : `${value}`
    else text += `"${ESCAPED.test(value) ? value.replace(EACH_ESCAPED, '\\$&') : value}"`
  }
  return `{${text}}`
}
