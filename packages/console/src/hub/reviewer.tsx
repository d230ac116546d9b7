/**
 * Under which name a person answers reviews: it stands in the signed approval. Asked for where an
 * answer is given, and kept for the tab.
 */
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import { tabStorage } from './session.ts'

type Named = { readonly name: string; readonly setName: (name: string) => void }

const PLACE = 'chimera-reviewer'
const NameContext = createContext<Named | undefined>(undefined)

export function NameKept({ children }: { readonly children: ReactNode }) {
  const [name, change] = useState(() => tabStorage()?.getItem(PLACE) ?? '')
  const named = useMemo(
    () => ({
      name,
      setName: (text: string) => {
        tabStorage()?.setItem(PLACE, text)
        change(text)
      },
    }),
    [name],
  )
  return <NameContext value={named}>{children}</NameContext>
}

export function useReviewer(): Named {
  const named = useContext(NameContext)
  if (named === undefined) throw new Error('no hub above')
  return named
}
