/** A few ways to look at the same thing, one of them chosen. */
type TabsProps<Key extends string> = {
  readonly label: string
  readonly tabs: readonly (readonly [key: Key, words: string])[]
  readonly current: Key
  readonly choose: (key: Key) => void
}

export function Tabs<Key extends string>({ label, tabs, current, choose }: TabsProps<Key>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is sent
    <div className="tabs" role="group" aria-label={label}>
      {tabs.map(([key, words]) => (
        <button key={key} type="button" aria-pressed={current === key} onClick={() => choose(key)}>
          {words}
        </button>
      ))}
    </div>
  )
}
