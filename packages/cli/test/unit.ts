/**
 * A unit of systemd, as far as it can be read without systemd: its lines by section, and what is
 * wrong with those of a service that is to be closed in.
 */
export type Unit = ReadonlyMap<string, readonly string[]>

/** By `Section.Key`; what is said twice is said twice. */
export function readUnit(text: string): Unit {
  const unit = new Map<string, string[]>()
  let section = ''
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    const words = line.trim()
    if (words === '' || words.startsWith('#')) continue
    const [, heading] = /^\[(\w+)\]$/.exec(words) ?? []
    if (heading !== undefined) section = heading
    else {
      const [, key, value] = /^(\w+)=(.*)$/.exec(words) ?? []
      if (key === undefined || value === undefined) throw new Error(`no line of a unit: ${words}`)
      const name = `${section}.${key}`
      unit.set(name, [...(unit.get(name) ?? []), value.replaceAll(/\s+/g, ' ').trim()])
    }
  }
  return unit
}

// biome-ignore format: a table is read by its columns
const CLOSED: Readonly<Record<string, RegExp>> = {
  'Unit.Description':                /^Chimera \w+( %i)?$/,
  'Unit.Wants':                      /^network-online\.target$/,
  'Unit.After':                      /^network-online\.target /,
  'Unit.StartLimitIntervalSec':      /^\d+$/,
  'Unit.StartLimitBurst':            /^\d+$/,
  'Service.Type':                    /^exec$/,
  'Service.ExecStart':               /^\/usr\/bin\/node --max-semi-space-size=64 \/opt\/chimera\/packages\/cli\/bin\/chimera\.js (hub|agent) /,
  'Service.LoadCredential':          /^[\w.]+:\/etc\/chimera\/[\w.%/]+$/,
  'Service.Environment':             /^(\w+=\S+ ?)+$/,
  'Service.EnvironmentFile':         /^-\/etc\/chimera\//,
  'Service.StateDirectory':          /^chimera-(hub|agent-%i)$/,
  'Service.StateDirectoryMode':      /^0700$/,
  'Service.WorkingDirectory':        /^%S\/chimera-(hub|agent-%i)$/,
  'Service.Restart':                 /^on-failure$/,
  'Service.RestartSec':              /^\d+$/,
  'Service.KillMode':                /^mixed$/,
  'Service.TimeoutStartSec':         /^\d+$/,
  // A hub and an agent are gone within ten seconds.
  'Service.TimeoutStopSec':          /^[12]\d$/,
  'Service.LimitNOFILE':             /^\d+$/,
  'Service.UMask':                   /^0077$/,
  'Service.CapabilityBoundingSet':   /^$/,
  'Service.ProtectSystem':           /^strict$/,
  'Service.ProtectProc':             /^invisible$/,
  'Service.ProcSubset':              /^pid$/,
  'Service.RestrictAddressFamilies': /^AF_INET AF_INET6 AF_UNIX AF_NETLINK$/,
  'Service.SystemCallArchitectures': /^native$/,
  'Service.SystemCallFilter':        /^@system-service @pkey$/,
  'Service.SystemCallErrorNumber':   /^EPERM$/,
  'Install.WantedBy':                /^multi-user\.target$/,
}
const YES = [
  'DynamicUser',
  'NoNewPrivileges',
  'ProtectHome',
  'PrivateTmp',
  'PrivateDevices',
  'PrivateUsers',
  'ProtectHostname',
  'ProtectClock',
  'ProtectKernelTunables',
  'ProtectKernelModules',
  'ProtectKernelLogs',
  'ProtectControlGroups',
  'RemoveIPC',
  'RestrictNamespaces',
  'RestrictRealtime',
  'RestrictSUIDSGID',
  'LockPersonality',
]
/** What a unit may leave out. */
const OPTIONAL = ['Service.EnvironmentFile', 'Service.LimitNOFILE']

export function problemsOf(unit: Unit): readonly string[] {
  const known = new Map(Object.entries(CLOSED))
  for (const name of YES) known.set(`Service.${name}`, /^yes$/)
  const wrong = [...unit].flatMap(([name, values]) =>
    values.flatMap((value) => (known.get(name)?.test(value) ? [] : [`${name}=${value}`])),
  )
  const missing = [...known.keys()].filter((name) => !unit.has(name) && !OPTIONAL.includes(name))
  return [...wrong, ...missing.map((name) => `no ${name}`)]
}

/** The variables that a unit sets, specifiers and all. */
export function variablesOf(unit: Unit): ReadonlyMap<string, string> {
  const said = (unit.get('Service.Environment') ?? []).flatMap((line) => line.split(' '))
  return new Map(said.map((each) => [each.replace(/=.*/, ''), each.replace(/^\w+=/, '')]))
}
