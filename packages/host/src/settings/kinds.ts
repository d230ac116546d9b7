/**
 * The kinds of value that a setting can have: what is accepted, in words, and how it is read from
 * a text (flag, variable, secret file) or from a JSON value (settings file).
 *
 *   K1  `expected` says every bound, so that whoever reads a problem can mend it without a manual.
 *   K2  Nothing is guessed: a number with a unit missing, or a text around a number, is refused.
 *   K3  What `show` writes is read back as the same value.
 */
export type Kind<T> = {
  /** Follows the word "expected". */
  readonly expected: string
  /** Undefined when it is something else. */
  read(raw: unknown): T | undefined
  show(value: T): string
}

export type Range = { readonly least: number; readonly most: number }

export function text({ least, most }: Range = { least: 1, most: 1_024 }): Kind<string> {
  return {
    expected: `a text of ${least} to ${most} characters`,
    read: (raw) =>
      typeof raw === 'string' && raw.length >= least && raw.length <= most ? raw : undefined,
    show: (value) => value,
  }
}

export function whole({ least, most }: Range): Kind<number> {
  return {
    expected: `a whole number from ${least} to ${most}`,
    read: (raw) => within({ least, most }, numberIn(raw, /^-?\d{1,16}$/), Number.isSafeInteger),
    show: String,
  }
}

export function fraction({ least, most }: Range): Kind<number> {
  return {
    expected: `a number from ${least} to ${most}`,
    read: (raw) => within({ least, most }, numberIn(raw, /^-?\d{1,16}(?:\.\d{1,16})?$/)),
    show: String,
  }
}

const TRUTHS: Readonly<Record<string, boolean>> = { true: true, false: false, yes: true, no: false }

export function yesNo(): Kind<boolean> {
  return {
    expected: 'true or false',
    read: (raw) => {
      if (typeof raw === 'boolean') return raw
      return typeof raw === 'string' && Object.hasOwn(TRUTHS, raw) ? TRUTHS[raw] : undefined
    },
    show: String,
  }
}

export function choice<const Word extends string>(words: readonly Word[]): Kind<Word> {
  return {
    expected: `one of ${words.join(', ')}`,
    read: (raw) => words.find((word) => word === raw),
    show: (value) => value,
  }
}

type Unit = readonly [name: string, size: number]

const TIMES: readonly Unit[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
]
const SIZES: readonly Unit[] = [
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
  ['B', 1],
]

/** In milliseconds. */
export function duration(range: Range): Kind<number> {
  return measured(range, TIMES)
}

/** In bytes. */
export function size(range: Range): Kind<number> {
  return measured(range, SIZES)
}

function measured({ least, most }: Range, units: readonly Unit[]): Kind<number> {
  const show = (value: number): string => {
    const [name = '', unit = 1] =
      units.find(([, each]) => value > 0 && value % each === 0) ?? units.at(-1) ?? []
    return `${value / unit}${name}`
  }
  const names = units.map(([name]) => name).join(', ')
  return {
    expected: `a number with its unit (${names}), from ${show(least)} to ${show(most)}`,
    read: (raw) => {
      const [, digits, name] = /^(\d{1,16})([A-Za-z]{1,3})$/.exec(String(raw)) ?? []
      const unit = units.find(([each]) => each === name)
      if (typeof raw !== 'string' || !unit) return undefined
      return within({ least, most }, Number(digits) * unit[1], Number.isSafeInteger)
    },
    show,
  }
}

/** In a text separated by commas, in the settings file a list. */
export function list<T>(of: Kind<T>, most: number): Kind<readonly T[]> {
  return {
    expected: `at most ${most}, separated by commas, each ${of.expected}`,
    read: (raw) => {
      const parts: unknown = typeof raw === 'string' ? split(raw) : raw
      if (!Array.isArray(parts) || parts.length > most) return undefined
      const values = parts.map((part) => of.read(part)).filter((value) => value !== undefined)
      return values.length === parts.length ? Object.freeze(values) : undefined
    },
    show: (values) => values.map((value) => of.show(value)).join(','),
  }
}

export function url(...schemes: readonly string[]): Kind<string> {
  return {
    expected: `an address that begins with ${schemes.map((each) => `${each}://`).join(' or ')}`,
    read: (raw) => {
      if (typeof raw !== 'string' || raw.length > 2_048 || !URL.canParse(raw)) return undefined
      return schemes.includes(new URL(raw).protocol.slice(0, -1)) ? raw : undefined
    },
    show: (value) => value,
  }
}

export type Place = { readonly host: string; readonly port: number }

/** Where to listen; port 0 is any free one. */
export function place(): Kind<Place> {
  const port = whole({ least: 0, most: 65_535 })
  return {
    expected: 'a host and a port, such as 127.0.0.1:4600 or [::1]:4600',
    read: (raw) => {
      const [, ipv6, name, digits] =
        /^(?:\[([0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9.-]{1,253})):(\d{1,5})$/.exec(String(raw)) ?? []
      const host = ipv6 ?? name
      const number = port.read(digits)
      if (typeof raw !== 'string' || host === undefined || number === undefined) return undefined
      return Object.freeze({ host, port: number })
    },
    show: ({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`,
  }
}

const split = (raw: string): readonly string[] =>
  raw.trim() === '' ? [] : raw.split(',').map((part) => part.trim())

function numberIn(raw: unknown, format: RegExp): number | undefined {
  if (typeof raw === 'number') return raw
  return typeof raw === 'string' && format.test(raw) ? Number(raw) : undefined
}

function within(
  { least, most }: Range,
  value: number | undefined,
  fits: (value: number) => boolean = Number.isFinite,
): number | undefined {
  if (value === undefined || !fits(value)) return undefined
  return value >= least && value <= most ? value : undefined
}
