/** Every message of the skills by name: its schema as it is published, and how it is read. */
import { asItIs } from '../check.ts'
import type { Messages } from '../messages.ts'
import { CallRecord } from './call-record.ts'
import { Campaign } from './campaign.ts'
import * as checks from './checks.ts'
import { ContentPackage } from './content.ts'
import { SKILLS } from './contracts.ts'
import * as decode from './decode.ts'
import { Persona } from './persona.ts'
import { AgentProfile } from './profile.ts'
import { SkillError } from './skill-error.ts'
import { TrendData } from './trend.ts'

const { fetch_trends, semantic_filter, generate_content, validate_content } = SKILLS
const { publish_content, get_agent_profile, update_agent_state } = SKILLS
const { fetch_wallet_balance, debit_wallet, register_openclaw_profile } = SKILLS

// biome-ignore format: a table is read by its columns
export const MESSAGES = {
  'trend-data':      { schema: TrendData,      read: asItIs(checks.checkTrendData) },
  'content-package': { schema: ContentPackage, read: asItIs(checks.checkContentPackage) },
  'agent-profile':   { schema: AgentProfile,   read: decode.readAgentProfile },
  persona:           { schema: Persona,        read: asItIs(checks.checkPersona) },
  campaign:          { schema: Campaign,       read: asItIs(checks.checkCampaign) },
  'call-record':     { schema: CallRecord,     read: decode.readCall },
  error:             { schema: SkillError,     read: asItIs(checks.checkSkillError) },

  'fetch-trends-input':               { schema: fetch_trends.input,               read: asItIs(fetch_trends.checkInput) },
  'fetch-trends-output':              { schema: fetch_trends.output,              read: asItIs(fetch_trends.checkOutput) },
  'semantic-filter-input':            { schema: semantic_filter.input,            read: asItIs(semantic_filter.checkInput) },
  'semantic-filter-output':           { schema: semantic_filter.output,           read: asItIs(semantic_filter.checkOutput) },
  'generate-content-input':           { schema: generate_content.input,           read: asItIs(generate_content.checkInput) },
  'generate-content-output':          { schema: generate_content.output,          read: asItIs(generate_content.checkOutput) },
  'validate-content-input':           { schema: validate_content.input,           read: asItIs(validate_content.checkInput) },
  'validate-content-output':          { schema: validate_content.output,          read: asItIs(validate_content.checkOutput) },
  'publish-content-input':            { schema: publish_content.input,            read: decode.readPublish },
  'publish-content-output':           { schema: publish_content.output,           read: asItIs(publish_content.checkOutput) },
  'get-agent-profile-input':          { schema: get_agent_profile.input,          read: decode.readProfileSought },
  'get-agent-profile-output':         { schema: get_agent_profile.output,         read: decode.readProfileAnswer },
  'update-agent-state-input':         { schema: update_agent_state.input,         read: decode.readStateUpdate },
  'update-agent-state-output':        { schema: update_agent_state.output,        read: asItIs(update_agent_state.checkOutput) },
  'fetch-wallet-balance-input':       { schema: fetch_wallet_balance.input,       read: asItIs(fetch_wallet_balance.checkInput) },
  'fetch-wallet-balance-output':      { schema: fetch_wallet_balance.output,      read: decode.readBalance },
  'debit-wallet-input':               { schema: debit_wallet.input,               read: decode.readDebit },
  'debit-wallet-output':              { schema: debit_wallet.output,              read: asItIs(debit_wallet.checkOutput) },
  'register-openclaw-profile-input':  { schema: register_openclaw_profile.input,  read: decode.readRegistration },
  'register-openclaw-profile-output': { schema: register_openclaw_profile.output, read: asItIs(register_openclaw_profile.checkOutput) },
} satisfies Messages
