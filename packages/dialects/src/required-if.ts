/**
 * "Required if" as JSON Schema: the documents say it in their prose, the schemas must enforce it
 * (OC-2). Goes into the `allOf` of the object that has both fields.
 */
type Members = Readonly<Record<string, object>>

/** When `field` is `value`, `required` must be there, and `members` hold in addition. */
export function requiredIf(
  field: string,
  value: string | boolean,
  required: readonly string[],
  members: Members = {},
): object {
  return {
    if: { properties: { [field]: { const: value } }, required: [field] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required, properties: members },
  }
}
