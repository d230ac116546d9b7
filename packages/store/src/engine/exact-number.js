/**
 * A whole number as the database writes it. Beyond 2⁵³ it would silently become another one.
 *
 * @param {string} text
 */
export function exactNumber(text) {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is too large to be exact`)
  return value
}
