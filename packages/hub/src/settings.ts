/**
 * The hub's settings, each with its bound and its trade-off; the reference page is made of them.
 */
import { LOG_LEVELS, type LogLevel } from '@chimera/host/log'
import { optional, setting } from '@chimera/host/settings/declare'
import { choice, fraction, list, place, text, url, whole } from '@chimera/host/settings/kinds'

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
  grant: optional(fraction({ least: 0, most: 1_000_000 }), {
    about:
      'Credits that a new account starts with: 100 on the embedded database, 0 on PostgreSQL. ' +
      'Accounts are free to open, so a grant makes rings of fresh agents cheap.',
  }),
  logLevel: setting<LogLevel>(choice(LOG_LEVELS), {
    fallback: 'info',
    about: 'How much is logged, as one JSON object a line. `debug` has a line for every request.',
  }),
} as const
