/** The six roles of a soak, in a process of their own, on the embedded skills. */
import { join } from 'node:path'
import { onNats } from '@chimera/bus/nats/for-agents'
import { type Fleet, startFleet } from '@chimera/fleet'
import { type OpenSkills, openSkills } from '@chimera/skills/providers/open'
import { serve } from './part.ts'

export type FleetWanted = {
  readonly hub: string
  readonly owner: string
  readonly token: string
  readonly directory: string
  readonly bus?: string
}
/** What has not ended at the agents themselves. */
export type FleetLeft = {
  /** Roles that have work in hand. */
  readonly running: readonly string[]
  /** Letters that they have given up. */
  readonly letters: number
}

let skills: OpenSkills | undefined
let fleet: Fleet | undefined

async function start({ hub, owner, token, directory, bus }: FleetWanted): Promise<void> {
  skills = await openSkills(
    { hub: { url: hub, token: { env: 'TOKEN' } } },
    { environment: { TOKEN: token }, directory: join(directory, 'skills'), ready: true },
  )
  fleet = await startFleet({
    hub,
    owner,
    token,
    directory: join(directory, 'fleet'),
    skills: skills.skills,
    log: 'error',
    ...(bus !== undefined && { bus: onNats(bus) }),
  })
}

async function left(): Promise<FleetLeft> {
  const running: string[] = []
  let letters = 0
  for (const [role, agent] of fleet?.agents ?? []) {
    const lost = await agent.work().lost()
    const all = await agent.work().list()
    letters += lost.length
    if (all.length > lost.length) running.push(role)
  }
  return { running, letters }
}

async function end(): Promise<void> {
  await fleet?.stop('the soak is over')
  await skills?.close()
}

serve({ start, left }, end)
