/** The place behind which a list goes on, as one text that callers hand back as it is. */
import type { Instant } from '@chimera/domain/ids'
import { Type } from 'typebox'

export type Place = { readonly at: Instant; readonly id: string }

const FORM = '^[0-9]{1,15}\\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

export const PlaceText = Type.String({
  pattern: FORM,
  maxLength: 64,
  description: 'The `next_after` of the page before, as it came',
})

/** For text that its schema has let through. */
export function readPlace(text: string): Place {
  const [at = '', id = ''] = text.split('.', 2)
  return { at: Number(at), id }
}

export const writePlace = ({ at, id }: Place): string => `${at}.${id}`
