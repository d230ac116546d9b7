/**
 * What a program can be told: each setting declared once, with everything that resolving, the
 * reference page and `--check` need to know about it.
 *
 *   D1  One name gives all names: `extraPorts` is `--extra-ports`, CHIMERA_EXTRA_PORTS and
 *       `extraPorts` in the settings file. A secret also comes by file: each name with `File`.
 *   D2  A setting has a default, is optional, or is required. A secret has no default.
 */
import type { Kind } from './kinds.ts'
import type { Secret } from './secret.ts'

/** `V` is what the program gets. */
export type Setting<V> = {
  /** One sentence: what it does, and what a higher or lower value costs. */
  readonly about: string
  readonly expected: string
  /** Undefined when it is not what is expected. For a secret, its text. */
  read(raw: unknown): unknown
  show(value: V): string
  /** What it is when nobody says; absent when somebody must. */
  readonly fallback: { readonly value: V } | undefined
  readonly secret: boolean
  /** Whether a changed secret file takes effect without a restart. */
  readonly reload: boolean
  /** The variable, if it is not the one that the name gives. */
  readonly variable: string | undefined
}

export type Declared = Readonly<Record<string, Setting<unknown>>>
export type Values<D extends Declared> = {
  readonly [Name in keyof D]: D[Name] extends Setting<infer V> ? V : never
}

export type About = { readonly about: string; readonly variable?: string }
export type AboutSecret = About & { readonly reload?: boolean }

const NOT_SET = '(not set)'

export function setting<T>(kind: Kind<T>, about: About & { readonly fallback: T }): Setting<T> {
  return { ...required(kind, about), fallback: { value: about.fallback } }
}

export function optional<T>(kind: Kind<T>, about: About): Setting<T | undefined> {
  return {
    ...required(kind, about),
    show: (value) => (value === undefined ? NOT_SET : kind.show(value)),
    fallback: { value: undefined },
  }
}

export function required<T>(kind: Kind<T>, { about, variable }: About): Setting<T> {
  return {
    about,
    expected: kind.expected,
    read: (raw) => kind.read(raw),
    show: (value) => kind.show(value),
    fallback: undefined,
    secret: false,
    reload: false,
    variable,
  }
}

export function secret(kind: Kind<string>, about: AboutSecret): Setting<Secret | undefined> {
  return {
    ...requiredSecret(kind, about),
    show: (value) => (value === undefined ? NOT_SET : String(value)),
    fallback: { value: undefined },
  }
}

export function requiredSecret(kind: Kind<string>, about: AboutSecret): Setting<Secret> {
  return {
    ...required(kind, about),
    show: String,
    fallback: undefined,
    secret: true,
    reload: about.reload ?? false,
  }
}

/** `extraPorts` → `--extra-ports`. */
export function flagOf(name: string): string {
  return `--${name.replace(/([A-Z])/g, '-$1').toLowerCase()}`
}

/** `extraPorts` → `CHIMERA_EXTRA_PORTS`, unless the setting names another. */
export function variableOf(name: string, { variable }: Setting<unknown>): string {
  return variable ?? `CHIMERA_${name.replace(/([A-Z])/g, '_$1').toUpperCase()}`
}

/** What holds when nobody says anything; for a program that starts another, and for tests. */
export function defaultsOf<D extends Declared>(declared: D): Values<D> {
  const values = Object.entries(declared).map(([name, { fallback }]) => [name, fallback?.value])
  // A setting without a default is a secret, which is absent, or one that somebody must say.
  return Object.fromEntries(values) as Values<D>
}
