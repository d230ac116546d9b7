/** A value as JSON, every string of it made harmless for the eye. */
import { plainText } from '../format/text.ts'

export function Json({ value }: { readonly value: unknown }) {
  const text = JSON.stringify(
    value,
    (_, each: unknown) => (typeof each === 'string' ? plainText(each) : each),
    2,
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <pre className="json" tabIndex={0}>
      {text}
    </pre>
  )
}
