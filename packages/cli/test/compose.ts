/**
 * A compose file, read more strictly than Compose does: only the parts that ours has are known, so
 * a word that Compose would pass over, or take for something else, is a problem.
 *
 *   C1  What a service names is there: secrets, volumes, services, files beside the compose file.
 *   C2  Ports are published on loopback only, images have a version, and no secret stands in the
 *       open.
 *   C3  Who is waited for until it is healthy says how that is seen.
 */
import { parseDocument } from 'yaml'

type Fields = Readonly<Record<string, unknown>>

export type Service = {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
  /** By name, whether it must be healthy first. */
  readonly waitsFor: readonly string[]
  /** The words of its healthcheck, without the `CMD` that begins them. */
  readonly health: readonly string[]
  readonly profiles: readonly string[]
  /** Files beside the compose file that are mounted. */
  readonly files: readonly string[]
}

export type Compose = {
  readonly services: ReadonlyMap<string, Service>
  /** The file of each secret. */
  readonly secrets: ReadonlyMap<string, string>
  readonly problems: readonly string[]
}

type Check = (value: unknown) => boolean

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText: Check = (value) => typeof value === 'string' && value !== ''
const texts: Check = (value) => Array.isArray(value) && value.every(isText)
const matching =
  (form: RegExp): Check =>
  (value) =>
    typeof value === 'string' && form.test(value)
const each =
  (form: RegExp): Check =>
  (value) =>
    Array.isArray(value) && value.every(matching(form))
const isTrue: Check = (value) => value === true
const count: Check = (value) => Number.isInteger(value) && Number(value) > 0
const span = matching(/^(\d+(ms|s|m|h))+$/)
const size = matching(/^\d+[bkmg]b?$/)
const fields =
  (known: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isFields(value) && Object.entries(value).every(([name, given]) => known[name]?.(given) ?? false)
const named =
  (of: Check): Check =>
  (value) =>
    isFields(value) && Object.values(value).every(of)

// A word of Compose that is not here is not wrong, but nobody has looked at it yet.
const SERVICE: Readonly<Record<string, Check>> = {
  // C2. Our own image is built here, so its name is its version.
  image: matching(/^(chimera:local|[a-z0-9./-]+:\d[\w.-]*)$/),
  build: fields({ context: matching(/^\.\.$/), dockerfile: isText }),
  command: texts,
  environment: named(isText),
  secrets: texts,
  depends_on: named(fields({ condition: matching(/^service_healthy$/) })),
  healthcheck: fields({
    test: (value) => texts(value) && (value as readonly string[])[0] === 'CMD',
    interval: span,
    timeout: span,
    start_period: span,
    retries: count,
  }),
  networks: named(fields({ aliases: texts })),
  ports: each(/^127\.0\.0\.1:\d+:\d+$/),
  profiles: texts,
  volumes: each(/^[\w./-]+:\/[\w./-]+(:ro)?$/),
  user: matching(/^\$\{CHIMERA_UID:-\d+\}:\$\{CHIMERA_GID:-\d+\}$/),
  restart: matching(/^(no|always|on-failure|unless-stopped)$/),
  stop_grace_period: span,
  read_only: isTrue,
  tmpfs: texts,
  cap_drop: texts,
  security_opt: each(/^no-new-privileges:true$/),
  shm_size: size,
}

const nothing: Check = (value) => value === null
const WHOLE: Readonly<Record<string, Check>> = {
  name: matching(/^[a-z0-9][a-z0-9_-]*$/),
  services: isFields,
  networks: named(fields({ ipam: fields({ config: (value) => Array.isArray(value) }) })),
  volumes: named(nothing),
  secrets: named(fields({ file: matching(/^\.\/secrets\/[\w./-]+$/) })),
}

export function readCompose(text: string): Compose {
  const document = parseDocument(text, { merge: true, strict: true, uniqueKeys: true })
  const problems = document.errors.map(({ message }) => message)
  const whole: unknown = document.toJS()
  if (!isFields(whole)) return { services: new Map(), secrets: new Map(), problems }
  for (const [name, value] of Object.entries(whole)) {
    if (!name.startsWith('x-') && !WHOLE[name]?.(value)) problems.push(name)
  }
  const given = (name: string): Fields => (isFields(whole[name]) ? whole[name] : {})
  const services = new Map<string, Service>()
  for (const [name, value] of Object.entries(given('services'))) {
    if (!isFields(value)) problems.push(`services.${name}`)
    else {
      for (const [key, said] of Object.entries(value)) {
        if (!SERVICE[key]?.(said)) problems.push(`services.${name}.${key}`)
      }
      services.set(name, readService(value))
    }
  }
  const secrets = new Map(
    Object.entries(given('secrets')).map(([name, said]) => [
      name,
      String(isFields(said) ? said.file : ''),
    ]),
  )
  const volumes = Object.keys(given('volumes'))
  return { services, secrets, problems: [...problems, ...unmet(services, { secrets, volumes })] }
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.map(String) : []

function readService(said: Fields): Service {
  const inside = (name: string): Fields => (isFields(said[name]) ? said[name] : {})
  const environment = Object.entries(inside('environment')).map(([name, value]) => [
    name,
    String(value),
  ])
  const [, ...health] = textsIn(inside('healthcheck').test)
  return {
    command: textsIn(said.command),
    environment: Object.fromEntries(environment),
    secrets: textsIn(said.secrets),
    waitsFor: Object.keys(inside('depends_on')),
    health,
    profiles: textsIn(said.profiles),
    files: textsIn(said.volumes).map((each) => each.split(':')[0] ?? ''),
  }
}

type There = {
  readonly secrets: ReadonlyMap<string, string>
  readonly volumes: readonly string[]
}

/** C1, C2, C3. */
function unmet(services: ReadonlyMap<string, Service>, there: There): readonly string[] {
  const problems: string[] = []
  const used = new Set<string>()
  for (const [name, service] of services) {
    const missing = (what: string): void => void problems.push(`services.${name}: ${what}`)
    for (const secret of service.secrets) {
      used.add(secret)
      if (!there.secrets.has(secret)) missing(`no secret ${secret}`)
    }
    const words = [...service.command, ...Object.values(service.environment)]
    for (const word of words) {
      const [, secret] = /\/run\/secrets\/(\w+)/.exec(word) ?? []
      if (secret !== undefined && !service.secrets.includes(secret)) missing(`not given ${secret}`)
      if (/:\/\/[^/@]*:[^/@]*@/.test(word)) missing('a password in the open')
    }
    for (const other of service.waitsFor) {
      if ((services.get(other)?.health.length ?? 0) === 0)
        missing(`nobody sees that ${other} is well`)
    }
    for (const file of service.files) {
      if (!file.startsWith('./') && !there.volumes.includes(file)) missing(`no volume ${file}`)
    }
    if (service.health.length === 0) missing('no healthcheck')
  }
  for (const name of there.secrets.keys()) if (!used.has(name)) problems.push(`secrets.${name}`)
  return problems
}
