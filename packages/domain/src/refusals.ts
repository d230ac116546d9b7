/**
 * Every way in which the rules say no, in one table.
 *
 *   R1  A refusal changes nothing: no fact, no row, no message follows from it.
 *   R2  `retry` says who must act: `later` the clock, `changed` the caller, `never` nobody can.
 *   R3  The sentence is for the caller: it says what to do next and names nothing of the inside.
 *
 * Each dialect has a word for each of these (`dialects/<name>/refusals.ts`), by types: a new row
 * here does not compile until all five have one. The checklist is in CONTRIBUTING.
 */
export type RefusalKind =
  | 'invalid' // the request itself is wrong
  | 'unproven' // who is asking could not be established
  | 'forbidden' // who is asking may not
  | 'unknown' // what is asked about is not there
  | 'conflict' // it contradicts what is already so
  | 'unaffordable' // there is not enough money for it
  | 'full' // there is no room for it now
  | 'closed' // nobody takes it now
  | 'late' // its time has passed or cannot be kept
  | 'unsupported' // it is of a kind that is not spoken here

export type Retry = 'never' | 'later' | 'changed'

type Row = { readonly kind: RefusalKind; readonly retry: Retry; readonly sentence: string }

// biome-ignore format: a table is read by its columns
export const REFUSALS = {
  // The message itself.
  message_malformed:   { kind: 'invalid',     retry: 'changed', sentence: 'The message does not match its schema. Each issue names the field, what was expected and what came.' },
  message_oversized:   { kind: 'invalid',     retry: 'changed', sentence: 'The message is larger than the limit. Send less, or in parts.' },
  message_replayed:    { kind: 'conflict',    retry: 'never',   sentence: 'This message was received before. Sign a new one with a new nonce or a later time.' },
  message_expired:     { kind: 'late',        retry: 'changed', sentence: 'The message has passed its own expiry. Sign a new one.' },
  message_early:       { kind: 'late',        retry: 'later',   sentence: 'The message is signed for a time that has not come. Check the clock of the sender.' },
  message_outdated:    { kind: 'conflict',    retry: 'never',   sentence: 'A newer message of this sender is already known.' },
  expiry_too_far:      { kind: 'invalid',     retry: 'changed', sentence: 'The message claims to be valid for longer than is allowed. Shorten its expiry.' },
  version_unsupported: { kind: 'unsupported', retry: 'changed', sentence: 'This protocol version is not spoken here. Use one of the versions listed.' },

  // Who is asking.
  caller_unknown:      { kind: 'unproven',    retry: 'changed', sentence: 'Sign the request or present a token: the caller could not be established.' },
  signature_invalid:   { kind: 'unproven',    retry: 'changed', sentence: 'The signature does not fit the message and the bound key.' },
  certificate_invalid: { kind: 'unproven',    retry: 'changed', sentence: 'The client certificate has expired or is not of an authority that this hub knows. Present another one, or none.' },
  token_invalid:       { kind: 'unproven',    retry: 'changed', sentence: 'The token is unknown, revoked or not meant for this hub. Ask for a new one.' },
  token_expired:       { kind: 'unproven',    retry: 'changed', sentence: 'The token has expired. Ask for a new one.' },
  caller_forbidden:    { kind: 'forbidden',   retry: 'never',   sentence: 'The caller may not do this. It needs another scope, or it is for somebody else to do.' },
  owner_mismatch:      { kind: 'forbidden',   retry: 'changed', sentence: 'The owner named is not the owner of the presented token.' },
  cap_reached:         { kind: 'forbidden',   retry: 'changed', sentence: 'The spending cap of this token is reached. Ask its owner for a higher one.' },
  rate_exceeded:       { kind: 'full',        retry: 'later',   sentence: 'Too many requests in this minute. Ask again after the time given.' },
  service_unavailable: { kind: 'closed',      retry: 'later',   sentence: 'The service cannot answer right now; nothing was changed. Ask again after the time given.' },

  // Agents, keys and skills.
  agent_unknown:       { kind: 'unknown',     retry: 'never',   sentence: 'No agent is registered under this id.' },
  agent_offline:       { kind: 'closed',      retry: 'later',   sentence: 'The agent has missed its heartbeats and is offline.' },
  agent_silent:        { kind: 'closed',      retry: 'later',   sentence: 'The agent did not answer, or not as it should; nothing was changed. Ask again later.' },
  agents_exhausted:    { kind: 'full',        retry: 'changed', sentence: 'This owner has as many agents as are allowed. Remove one first.' },
  alias_taken:         { kind: 'conflict',    retry: 'changed', sentence: 'This alias belongs to another agent. Choose another one.' },
  aliases_exhausted:   { kind: 'full',        retry: 'changed', sentence: 'This publisher has as many aliases as are allowed. Publish under one that it has.' },
  key_mismatch:        { kind: 'conflict',    retry: 'never',   sentence: 'This agent id is bound to another key. Rotate with the old key, or recover with the owner\'s token.' },
  key_reused:          { kind: 'conflict',    retry: 'changed', sentence: 'This key has been used before. Make a new one.' },
  recovery_pending:    { kind: 'late',        retry: 'later',   sentence: 'A recovered key takes effect only after its waiting time.' },
  recovery_unknown:    { kind: 'unknown',     retry: 'changed', sentence: 'No key recovery is under way for this agent.' },
  hub_key_unknown:     { kind: 'unknown',     retry: 'never',   sentence: 'This hub is open and has no key of its own: it vouches for nothing.' },
  broker_unknown:      { kind: 'unknown',     retry: 'never',   sentence: 'This hub has no broker that it lets agents onto. Speak to it over HTTP.' },
  skill_unknown:       { kind: 'unknown',     retry: 'changed', sentence: 'The agent does not offer this skill.' },
  skill_version_unsupported: { kind: 'unsupported', retry: 'changed', sentence: 'The agent does not run this version of the skill. Use one of the versions listed.' },
  skills_invalid:      { kind: 'invalid',     retry: 'changed', sentence: 'The list of skills is empty, too long or names one twice.' },
  notice_too_short:    { kind: 'invalid',     retry: 'changed', sentence: 'A skill version is removed at the earliest 30 days after it is declared deprecated.' },

  // Conditions and profiles.
  transition_illegal:  { kind: 'conflict',    retry: 'changed', sentence: 'The agent cannot go from its present condition to the one asked for.' },
  reason_missing:      { kind: 'invalid',     retry: 'changed', sentence: 'This change of condition needs a reason.' },
  state_changed:       { kind: 'conflict',    retry: 'changed', sentence: 'Somebody changed this in the meantime. Read it again and ask with the new version.' },

  // Slots and reservations.
  instance_unknown:    { kind: 'unknown',     retry: 'changed', sentence: 'No instance is known under this id.' },
  planner_unknown:     { kind: 'unproven',    retry: 'changed', sentence: 'The planner is not a registered agent.' },
  slots_invalid:       { kind: 'invalid',     retry: 'changed', sentence: 'Ask for a whole number of slots, at least one.' },
  slots_exhausted:     { kind: 'full',        retry: 'later',   sentence: 'Every slot is taken. Ask again later, or ask another instance.' },
  draining:            { kind: 'closed',      retry: 'later',   sentence: 'The instance finishes what it has and takes nothing new.' },
  deadline_too_soon:   { kind: 'late',        retry: 'changed', sentence: 'The deadline cannot be met. Ask with a later one.' },
  task_conflict:       { kind: 'conflict',    retry: 'changed', sentence: 'This task already holds a reservation with other terms.' },
  reservation_unknown: { kind: 'unknown',     retry: 'changed', sentence: 'No reservation is held under this id.' },
  reservation_lapsed:  { kind: 'late',        retry: 'changed', sentence: 'The reservation was not used in time and its slots are free again. Reserve anew.' },

  // Work.
  not_accepting:       { kind: 'closed',      retry: 'later',   sentence: 'The agent takes no work in its present condition.' },
  input_invalid:       { kind: 'invalid',     retry: 'changed', sentence: 'The input does not match the schema of the skill. Each issue names the field.' },
  output_invalid:      { kind: 'invalid',     retry: 'changed', sentence: 'The output does not match the schema that the agent published. Each issue names the field.' },
  policy_violated:     { kind: 'forbidden',   retry: 'changed', sentence: 'The policy of the agent does not allow this request.' },
  queue_full:          { kind: 'full',        retry: 'later',   sentence: 'Every slot is taken and so is every place in the queue.' },
  price_risen:         { kind: 'conflict',    retry: 'changed', sentence: 'The price is higher than the one quoted. Ask again with the present price.' },
  budget_insufficient: { kind: 'unaffordable', retry: 'changed', sentence: 'The budget is below the price of the skill.' },
  hold_missing:        { kind: 'unaffordable', retry: 'changed', sentence: 'This skill has a price, and no hold covers it. Place a hold first.' },
  key_conflict:        { kind: 'conflict',    retry: 'changed', sentence: 'This idempotency key was used for other content. Use a new key for new content.' },
  work_unknown:        { kind: 'unknown',     retry: 'never',   sentence: 'No work is known under this id.' },
  work_ended:          { kind: 'conflict',    retry: 'never',   sentence: 'The work has ended already.' },
  work_not_begun:      { kind: 'conflict',    retry: 'later',   sentence: 'The work is not at the point where this can happen.' },

  // Money.
  account_unknown:     { kind: 'unknown',     retry: 'changed', sentence: 'No account is open under this owner.' },
  amount_invalid:      { kind: 'invalid',     retry: 'changed', sentence: 'Give an amount above zero in whole hundredths, within the limit.' },
  party_identical:     { kind: 'invalid',     retry: 'changed', sentence: 'Payer and payee are the same.' },
  funds_short:         { kind: 'unaffordable', retry: 'changed', sentence: 'The account has not enough free credits.' },
  hold_unknown:        { kind: 'unknown',     retry: 'changed', sentence: 'No hold is known under this id.' },
  hold_ended:          { kind: 'conflict',    retry: 'never',   sentence: 'The hold has already been captured, released or has lapsed.' },
  hold_exceeded:       { kind: 'unaffordable', retry: 'changed', sentence: 'The amount is more than the hold has left.' },
  settlement_mismatch: { kind: 'conflict',    retry: 'never',   sentence: 'Parties or amount differ from what was agreed for this work.' },
  refund_excessive:    { kind: 'conflict',    retry: 'changed', sentence: 'The refund is more than was paid for this work.' },

  // Operating a hub.
  token_unknown:       { kind: 'unknown',     retry: 'changed', sentence: 'No token is known under this id.' },
  letter_unknown:      { kind: 'unknown',     retry: 'changed', sentence: 'No undelivered message is known under this id.' },
  alert_unknown:       { kind: 'unknown',     retry: 'changed', sentence: 'No alert is known under this id.' },
  webhook_unknown:     { kind: 'unknown',     retry: 'changed', sentence: 'No webhook is known under this id.' },
  webhooks_exhausted:  { kind: 'full',        retry: 'changed', sentence: 'There are as many webhooks as are allowed. Remove one first.' },
  order_unknown:       { kind: 'unknown',     retry: 'changed', sentence: 'No order is known under this id.' },
  order_misaddressed:  { kind: 'forbidden',   retry: 'never',   sentence: 'This order is for somebody else.' },
  address_refused:     { kind: 'invalid',     retry: 'changed', sentence: 'This address is not one that the hub dials. Give a public address, or let the operator allow it.' },

  // Approvals.
  approval_invalid:    { kind: 'unproven',    retry: 'changed', sentence: 'The approval is not one that this hub has signed. Ask for a new one.' },
  approval_expired:    { kind: 'late',        retry: 'changed', sentence: 'The approval has expired. Ask for a new one.' },
  approval_used:       { kind: 'conflict',    retry: 'changed', sentence: 'The approval has been used. An approval is good for one publication.' },
  approval_mismatched: { kind: 'conflict',    retry: 'changed', sentence: 'The approval was given for other content, another platform or another time.' },
  approval_unknown:    { kind: 'unknown',     retry: 'changed', sentence: 'No approval is known under this id.' },
  approval_unused:     { kind: 'conflict',    retry: 'changed', sentence: 'The approval has not been used for this publication yet. Use it first.' },
  post_unknown:        { kind: 'unknown',     retry: 'changed', sentence: 'No post is known under this id.' },
  review_unknown:      { kind: 'unknown',     retry: 'changed', sentence: 'No review is known under this id.' },
  review_closed:       { kind: 'conflict',    retry: 'never',   sentence: 'Somebody has answered this review already. The first answer counts.' },
  review_expired:      { kind: 'conflict',    retry: 'never',   sentence: 'The time for this review is over. What it was about will not be published.' },
  campaign_unknown:    { kind: 'unknown',     retry: 'changed', sentence: 'No campaign is known under this id.' },
} as const satisfies Record<string, Row>

export type Refusal = keyof typeof REFUSALS

export function isRetryable(refusal: Refusal): boolean {
  return REFUSALS[refusal].retry === 'later'
}
