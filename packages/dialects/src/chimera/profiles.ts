/**
 * An agent's profile and the update of its state, in the shapes of the Skills API: the agent is
 * named by the path, and what is sent is closed.
 */
import type { Skill } from '@chimera/domain/agent/agent'
import type { RecordUpdate } from '@chimera/domain/agent/record'
import type { Issue } from '@chimera/domain/decision'
import { findSecrets } from '@chimera/domain/disclosure'
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { decodeStateUpdate } from '../skills/decode.ts'
import {
  capabilitiesOf,
  encodeAgentProfile,
  encodeUpdated,
  type ProfileView,
} from '../skills/encode.ts'
import { type AgentType, type ProfileCapability, ProfileStatus } from '../skills/profile.ts'
import { Count } from '../skills/words.ts'
import { DateTime } from '../wire.ts'

export const ProfileUpdate = Type.Object(
  {
    status: Type.Optional(ProfileStatus),
    reason: Type.Optional(
      Type.String({
        maxLength: LIMITS.descriptionChars,
        description: 'Why; an agent goes to error only with a reason',
      }),
    ),
    pending_tasks: Type.Optional(Count),
    last_execution: Type.Optional(DateTime),
    wallet_balance: Type.Optional(Type.Number({ minimum: 0 })),
    expected_version: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Refused if the profile has another one; absent: whatever it has',
      }),
    ),
  },
  { title: 'Profile update', additionalProperties: false },
)

export const readProfileUpdate = reader(
  checker(ProfileUpdate, updateIssues),
  ({ expected_version, ...state_updates }): RecordUpdate =>
    decodeStateUpdate({
      agent_id: '',
      state_updates,
      ...(expected_version !== undefined && { expected_version }),
    }).update,
)

/** A reason goes onto the trail, from which nothing is ever taken back. */
function updateIssues(update: Static<typeof ProfileUpdate>): readonly Issue[] {
  const { expected_version: _, reason = '', ...fields } = update
  if (Object.keys(fields).length === 0) {
    return [{ path: '', expected: 'at least one field to update', got: 'none' }]
  }
  if (findSecrets(reason).length === 0) return []
  const got = 'something that looks like a credential'
  return [{ path: '/reason', expected: 'no secret', got }]
}

/** What a profile shows; its type is what the agent has said, or follows from what it offers. */
export type ProfileShown = Omit<ProfileView, 'kind'> & Partial<Pick<ProfileView, 'kind'>>

export const encodeProfile = (shown: ProfileShown) => encodeAgentProfile(withKind(shown))
export const encodeProfileUpdated = (shown: ProfileShown) => encodeUpdated(withKind(shown))

const KINDS = {
  trend_analysis: 'trend_analyst',
  video_generation: 'content_creator',
  image_generation: 'content_creator',
  content_writing: 'content_creator',
  social_engagement: 'distribution_manager',
  budget_management: 'orchestrator',
  quality_control: 'judge',
} as const satisfies Record<ProfileCapability, AgentType>

/** Who has said nothing of it is of the type that its first skill speaks for. */
export function kindOf(skills: readonly Skill[]): AgentType {
  const [first = 'content_writing'] = capabilitiesOf(skills)
  return KINDS[first]
}

const withKind = (shown: ProfileShown): ProfileView => ({
  ...shown,
  kind: shown.kind ?? kindOf(shown.agent.skills),
})

export const PROFILE_MESSAGES = {
  'profile-update': { schema: ProfileUpdate, read: readProfileUpdate },
} satisfies Messages
