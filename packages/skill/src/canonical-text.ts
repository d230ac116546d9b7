/**
 * One text for each JSON value, members sorted by name: equal values have equal texts, whatever
 * their members are called. What is signed is written by `identity`; for values that JSON can
 * hold it writes the same (RFC 8785).
 */
export function canonicalText(value: unknown, visit: () => void = () => undefined): string {
  visit()
  if (Array.isArray(value)) return `[${value.map((each) => canonicalText(each, visit)).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members
    .map(([name, each]) => `${JSON.stringify(name)}:${canonicalText(each, visit)}`)
    .join()}}`
}
