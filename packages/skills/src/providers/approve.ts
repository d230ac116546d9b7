/**
 * A person's yes to one publication, as the token that `publish_content` asks for: from the hub of
 * the settings, or from the desk on this machine, whose word counts here and nowhere else.
 */
import { checkContentPackage } from '@chimera/dialects/skills/checks'
import { decodePublish, publicationOf } from '@chimera/dialects/skills/decode'
import type { PublishContentInput } from '@chimera/dialects/skills/schema'
import { canonicalDigest } from '@chimera/identity/canonical'
import { openResources, type SkillHands } from './resources.ts'
import { type ProviderSettings, readProviderSettings } from './settings.ts'

export type Approving = {
  /** What is to be published: the content, where and when. A token in it is not looked at. */
  readonly asked: Omit<PublishContentInput, 'approval_token'>
  /** Who has looked at it, by name. */
  readonly reviewer: string
}

export type Approved = {
  readonly token: string
  /** Whose word it is. */
  readonly by: string
}

/** The hub did not take it, or it cannot be approved. */
export class NotApproved extends Error {
  override readonly name = 'NotApproved'
}

export async function approveContent(
  { asked, reviewer }: Approving,
  settings: ProviderSettings = {},
  hands: SkillHands = {},
): Promise<Approved> {
  const checked = checkContentPackage(asked.content)
  if (!checked.ok) {
    const [issue] = checked.particulars.issues ?? []
    const where = `/content${issue?.path ?? ''}`
    throw new NotApproved(`${where}: expected ${issue?.expected ?? 'a content package'}`)
  }
  const resources = openResources(readProviderSettings(settings), hands)
  try {
    const door = await resources.door()
    if (door !== undefined) {
      const { content, platform, schedule_time } = asked
      const body = {
        content,
        platform,
        schedule_time: schedule_time ?? null,
        reviewer_id: reviewer,
      }
      const signal = AbortSignal.timeout(PATIENCE_MS)
      const answer = await door.ask({ method: 'POST', path: '/v1/approvals', body }, signal)
      const said: { readonly approval_token?: unknown; readonly message?: unknown } = Object(
        answer.body,
      )
      if (typeof said.approval_token === 'string')
        return { token: said.approval_token, by: door.address }
      throw new NotApproved(
        typeof said.message === 'string' ? said.message : `HTTP ${answer.status}`,
      )
    }
    const { localDesk } = await resources.publishing()
    if (localDesk === undefined) throw new NotApproved('there is no desk here')
    const meaning = decodePublish({ ...asked, approval_token: '' })
    const publication = publicationOf(meaning, canonicalDigest(asked.content))
    return { token: await localDesk.approve({ publication, reviewer }), by: localDesk.name }
  } finally {
    await resources.close()
  }
}

const PATIENCE_MS = 10_000
