/**
 * Pages of others must not act through a person's browser: an open hub believes whoever reaches it,
 * and any page can make a browser reach a loopback address.
 *
 *   F1  What changes something is refused where the browser says that another site asks.
 *   F2  An open hub is spoken to by a name of this machine: a page whose own name was made to lead
 *       here (DNS rebinding) is refused, for reading too.
 *   F3  Programs say none of this and are not touched: only browsers send these fields, and no page
 *       can make its browser leave them out.
 */
import { refuse } from '@chimera/domain/decision'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Denied } from './access.ts'

export type OriginOptions = { readonly open: boolean; readonly publicUrl?: string | undefined }

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])
const OWN_SITES = new Set(['same-origin', 'none'])

export function guardOrigin(app: FastifyInstance, { open, publicUrl }: OriginOptions): void {
  const known = publicUrl === undefined ? undefined : new URL(publicUrl).host
  app.addHook('onRequest', (request, _, done) => {
    const foreign = isBrowser(request) && (isForeign(request) || (open && isRebound(request)))
    done(foreign ? new Denied(refuse('caller_forbidden')) : undefined)
  })

  /** F2. */
  const isRebound = ({ headers: { host = '' } }: FastifyRequest): boolean =>
    host !== known && !isOfThisMachine(host.replace(/:\d+$/, ''))
}

const isBrowser = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-site'] !== undefined || headers.origin !== undefined

/** F1. Older browsers name only the origin. */
function isForeign({ method, headers }: FastifyRequest): boolean {
  if (READS.has(method)) return false
  const site = headers['sec-fetch-site']
  if (site !== undefined) return !OWN_SITES.has(site)
  return hostOf(headers.origin ?? '') !== headers.host
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

const isOfThisMachine = (name: string): boolean =>
  name === 'localhost' ||
  name.endsWith('.localhost') ||
  name === '[::1]' ||
  /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name)
