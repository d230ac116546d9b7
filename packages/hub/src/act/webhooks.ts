/**
 * Webhooks, which operators make so that alerts reach them.
 *
 *   H1  The address is judged when it is given, as it will be at each attempt.
 */
import type { WebhookWanted } from '@chimera/dialects/chimera'
import { isUuid } from '@chimera/dialects/wire'
import type { Webhook } from '@chimera/domain/alert'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { CorrelationId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { type Caller, forbidden, isOperator } from './caller.ts'
import type { Hub } from './hub.ts'

export async function makeWebhook(
  hub: Hub,
  caller: Caller,
  { url, kinds, correlation }: WebhookWanted & { readonly correlation: CorrelationId },
): Promise<{ readonly ok: true; readonly webhook: Webhook } | Refused<Refusal>> {
  if (!isOperator(caller)) return forbidden()
  const judged = await hub.judge(url)
  if (!judged.ok) return refuse('address_refused')
  const wanted = { id: hub.uuid(), url: judged.url, ...(kinds && { kinds }) }
  return hub.keep.webhooks.make(wanted, correlation)
}

export async function listWebhooks(
  hub: Hub,
  caller: Caller,
): Promise<{ readonly ok: true; readonly webhooks: readonly Webhook[] } | Refused<Refusal>> {
  if (!isOperator(caller)) return forbidden()
  return { ok: true, webhooks: await hub.keep.webhooks.list() }
}

export async function removeWebhook(
  hub: Hub,
  caller: Caller,
  target: { readonly id: string; readonly correlation: CorrelationId },
): Promise<{ readonly ok: true } | Refused<Refusal>> {
  if (!isOperator(caller)) return forbidden()
  const { id, correlation } = target
  const known = isUuid(id) && (await hub.keep.webhooks.remove(id, correlation))
  return known ? { ok: true } : refuse('webhook_unknown')
}
