/**
 * The hub's settings, each with its bound and its trade-off; the reference page is made of them.
 */
import { LIMITS } from '@chimera/domain/limits'
import { LOG_LEVELS, type LogLevel } from '@chimera/host/log'
import { optional, setting } from '@chimera/host/settings/declare'
import {
  choice,
  duration,
  fraction,
  list,
  place,
  text,
  url,
  whole,
  yesNo,
} from '@chimera/host/settings/kinds'

const DAY_MS = 24 * 60 * 60 * 1_000

export const AUTH_MODES = ['open', 'required'] as const
export type AuthMode = (typeof AUTH_MODES)[number]

export const HUB_SETTINGS = {
  listen: setting(place(), {
    fallback: { host: '127.0.0.1', port: 4600 },
    about: 'Where the hub listens. An open hub listens on a loopback address only.',
  }),
  auth: setting<AuthMode>(choice(AUTH_MODES), {
    fallback: 'open',
    about:
      '`open` believes whoever asks, and is for one machine. `required` asks for a token or a ' +
      'signature for all but the public directory.',
  }),
  publicUrl: optional(url('http', 'https'), {
    about:
      'The address that callers know the hub by, which signed requests name. Needed behind a ' +
      'proxy or a name; else the address that was dialled counts.',
  }),
  tlsCert: optional(text(), {
    about:
      'The file of the hub’s certificate with its chain, as PEM. With it only https:// is ' +
      'served. A changed file is in use within half a minute, without a restart.',
  }),
  tlsKey: optional(text(), {
    about: 'The file of the private key of the certificate, as PEM.',
  }),
  clientCa: optional(text(), {
    about:
      'The file of the authority that certifies callers, as PEM. A caller that shows a ' +
      'certificate of it for its agent’s key is that agent; who shows none proves itself ' +
      'otherwise.',
  }),
  keyFile: optional(text(), {
    about:
      'The file of the private key that signs short-lived tokens, made when it is missing: ' +
      '`keys/hub.json` in the data directory. Several hubs on one database share one.',
  }),
  data: setting(text(), {
    fallback: '.chimera',
    about:
      'The directory of the embedded database. It survives a killed process, not a power cut; ' +
      'use PostgreSQL where that matters.',
  }),
  database: optional(url('postgres', 'postgresql'), {
    about: 'A PostgreSQL server instead of the embedded database, for more than one machine.',
  }),
  bus: setting(list(url('nats', 'tls'), 8), {
    fallback: [],
    about:
      'The NATS servers that hubs and agents speak over, such as `nats://broker:4222`. Several ' +
      'hubs on one database need one to hear of posts and heartbeats; one hub alone needs none.',
  }),
  busCreds: optional(text(), {
    about:
      'The file that shows the hub to the broker (`.creds`). Read at every dialling, so a ' +
      'new one needs no restart.',
  }),
  busCa: optional(text(), {
    about:
      'The file of the authority that certifies the broker, as PEM, instead of those that the ' +
      'system believes. With it the broker must speak TLS.',
  }),
  busGranter: optional(text(), {
    about:
      'The file by which the hub lets agents onto the broker (`POST /v1/grants`), as ' +
      '`chimera broker init` writes it. Without it the broker must know its users by itself.',
  }),
  busPublic: setting(list(url('nats', 'tls'), 8), {
    fallback: [],
    about:
      'Where agents are told to find the broker, if that is not where the hub finds it. Without ' +
      'it they are told the addresses of `--bus`.',
  }),
  busHeld: setting(yesNo(), {
    fallback: false,
    about:
      'Whether the broker lets each agent speak under its own subjects only, as grants do. Then ' +
      'identity and status are taken in from the bus without a signature. Where the broker does ' +
      'not, anybody there could speak for anybody.',
  }),
  busReplicas: setting(whole({ least: 1, most: 5 }), {
    fallback: 1,
    about: 'Brokers that hold a copy of what must not be lost; 3 in a cluster of brokers.',
  }),
  allowNet: setting(list(text(), 32), {
    fallback: [],
    about:
      'Addresses beside public ones that the hub may dial when an agent or an owner names them: ' +
      '`127.0.0.1`, `10.0.0.0/8`, `localhost`, `*`. For development, and for agents in a private ' +
      'network; each one opens that much of it to whoever registers.',
  }),
  extraPorts: setting(list(whole({ least: 0, most: 65_535 }), 8), {
    fallback: [],
    about: 'More ports with the same routes; Chorus programs look on 8001 and 8002.',
  }),
  proxies: setting(list(text(), 32), {
    fallback: [],
    about:
      'Addresses of the proxies in front of the hub, such as `10.0.0.0/8`, whose ' +
      '`x-forwarded-for` says where a request came from. Without it all strangers behind a proxy ' +
      'share one rate; with one too many, anybody there can claim any address.',
  }),
  requestsPerMinute: setting(whole({ least: 0, most: 10_000_000 }), {
    fallback: 6_000,
    about:
      'Requests in a minute of one token, agent or certificate, and on an open hub of one ' +
      'address; 0 is no limit. Higher lets one caller take more of the hub from the others.',
  }),
  strangersPerMinute: setting(whole({ least: 0, most: 10_000_000 }), {
    fallback: 600,
    about:
      'Requests in a minute of one address that prove nothing, or fail to; 0 is no limit. Higher ' +
      'lets strangers cost the hub more verifications.',
  }),
  maxInFlight: setting(whole({ least: 0, most: 100_000 }), {
    fallback: 1_000,
    about:
      'Requests that may wait for their answer at once; more are told to come back (503). 0 is ' +
      'no limit. A thousand of the largest bodies are 256 MiB.',
  }),
  maxDelay: setting(duration({ least: 0, most: 60_000 }), {
    fallback: 500,
    about:
      'How late the process may run before it tells callers to come back (503); 0ms is no limit. ' +
      'Half a second is far above a busy hub and below what callers wait.',
  }),
  maxConnections: setting(whole({ least: 1, most: 1_000_000 }), {
    fallback: 10_000,
    about:
      'Open connections of each port; more are closed at once. About one for each live agent, at ' +
      'some 20 KiB each, and each is a file to the operating system.',
  }),
  liveReaders: setting(whole({ least: 0, most: 100_000 }), {
    fallback: LIMITS.liveReaders,
    about:
      'Readers of `/v1/live` at once; more are told to come back (503). Each may hold about a ' +
      'megabyte that it has not taken yet, and takes an open connection.',
  }),
  requestTimeout: setting(duration({ least: 100, most: 600_000 }), {
    fallback: 15_000,
    about:
      'How long a request may take to arrive whole. A slower sender is told so (408); shorter ' +
      'hurts slow lines, longer lets idle senders hold connections.',
  }),
  idleTimeout: setting(duration({ least: 100, most: 600_000 }), {
    fallback: 65_000,
    about:
      'How long a connection may be silent between two requests. Above the minute after which ' +
      'load balancers drop theirs, so that they never use one that has just ended.',
  }),
  grant: optional(fraction({ least: 0, most: 1_000_000 }), {
    about:
      'Credits that a new account starts with: 100 on the embedded database, 0 on PostgreSQL. ' +
      'Accounts are free to open, so a grant makes rings of fresh agents cheap.',
  }),
  resultsKept: setting(duration({ least: 60 * 60 * 1_000, most: 3_650 * 24 * 60 * 60 * 1_000 }), {
    fallback: LIMITS.resultsMs,
    about:
      'How long the content of a result can be read. Afterwards only its hash is left; longer ' +
      'helps whoever asks late, and keeps more of what others wrote.',
  }),
  recoveryDelay: setting(duration({ least: 60 * 1_000, most: 30 * 24 * 60 * 60 * 1_000 }), {
    fallback: LIMITS.recoveryDelayMs,
    about:
      'How long an owner waits for the new key of an agent whose old one is lost. In this time ' +
      'the holder of the old key can call it off; shorter helps the owner, and whoever stole the ' +
      'token.',
  }),
  settlementFee: setting(whole({ least: 0, most: 10_000 }), {
    fallback: 0,
    about:
      'What is kept of each payment for work, in hundredths of a per cent, rounded up. At 0 a ' +
      'ring of fresh agents lifts its scores for nothing; `/v1/trust/ring-cost` says what it pays.',
  }),
  pairSuccesses: setting(whole({ least: 1, most: 1_000 }), {
    fallback: LIMITS.pairSuccesses,
    about:
      'Successes between one owner who hires and one who is hired that count for the running ' +
      'score within the pair window. More lets two owners lift each other faster; fewer leaves ' +
      'regular customers uncounted.',
  }),
  pairWindow: setting(duration({ least: DAY_MS, most: 365 * DAY_MS }), {
    fallback: LIMITS.pairWindowMs,
    about:
      'How long a success takes up room in that number. Both are put into the trail at the start ' +
      'and hold at all hubs for what is settled from then on.',
  }),
  console: setting(yesNo(), {
    fallback: true,
    about:
      'Whether the hub serves its page under `/console/`, where that was built. The page itself ' +
      'is public and holds nothing; what it shows it asks for with the token of whoever looks.',
  }),
  logLevel: setting<LogLevel>(choice(LOG_LEVELS), {
    fallback: 'info',
    about: 'How much is logged, as one JSON object a line. `debug` has a line for every request.',
  }),
} as const
