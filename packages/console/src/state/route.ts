/** Addresses below `/console/` ⇄ what is shown. What is not understood is the first screen. */
export const SCREENS = [
  'network',
  'work',
  'campaigns',
  'review',
  'money',
  'audit',
  'operate',
] as const
export type Screen = (typeof SCREENS)[number]

export type Route = {
  readonly screen: Screen
  /** An agent of the network, the task of a piece of work, a campaign, a review. */
  readonly id?: string
  /** Filters and tabs, as they stand in the address. */
  readonly query: Readonly<Record<string, string>>
}

const BASE = '/console/'
const DETAILED: readonly Screen[] = ['network', 'work', 'campaigns', 'review']

/** Whether an address names a screen. */
export const isNamed = (path: string): boolean =>
  SCREENS.some((each) => path === BASE + each || path.startsWith(`${BASE}${each}/`))

export function readRoute(path: string, search: string): Route {
  const [first = '', second] = path.startsWith(BASE) ? path.slice(BASE.length).split('/') : []
  const screen = SCREENS.find((each) => each === first) ?? 'network'
  const query = Object.fromEntries(new URLSearchParams(search))
  const id = second === undefined || second === '' ? undefined : decode(second)
  const detailed = DETAILED.includes(screen)
  return { screen, query, ...(detailed && id !== undefined && { id }) }
}

export function writeRoute({ screen, id, query = {} }: Partial<Route> & Pick<Route, 'screen'>) {
  const filled = Object.entries(query).filter(([, value]) => value !== '')
  const search = new URLSearchParams(filled).toString()
  const path = id === undefined ? screen : `${screen}/${encodeURIComponent(id)}`
  return `${BASE}${path}${search === '' ? '' : `?${search}`}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
