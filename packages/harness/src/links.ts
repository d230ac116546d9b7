/**
 * The ways to the hub: one address that everybody dials, and a plan for each sender, who is told by
 * the token that it shows.
 */
import type { Clock } from '@chimera/host/clock'
import { createFaultProxy, type FaultProxy, type Passing } from './fault-proxy.ts'
import { type Plan, type Planned, readPlan } from './plan.ts'

export type Link = {
  readonly token: string
  readonly plan: (plan: Plan<Passing>) => void
}

export type Links = {
  readonly address: string
  readonly open: (token: string) => Link
  readonly close: FaultProxy['close']
}

export async function openLinks(target: () => string, clock: Clock): Promise<Links> {
  const plans = new Map<string, Planned<Passing>>()
  const proxy = await createFaultProxy({
    target,
    clock,
    keepHost: true,
    plan: (asked) => plans.get(String(asked.headers.authorization))?.(asked),
  })
  return {
    address: proxy.url,
    open: (token) => ({
      token,
      plan: (plan) => void plans.set(`Bearer ${token}`, readPlan(plan, 'pass')),
    }),
    close: proxy.close,
  }
}
