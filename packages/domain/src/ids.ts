/**
 * The names of things. A branded string cannot be passed where another kind of name is meant, so
 * "two arguments of one type never stand side by side" holds by types and costs nothing at run
 * time.
 *
 * Nothing here checks the text: what a name may look like on the wire is the dialects' affair.
 */
declare const brand: unique symbol
type Named<Kind extends string> = string & { readonly [brand]: Kind }

/** An agent: a uuid, bound to a key by its first registration. */
export type AgentId = Named<'agent'>
/** One running copy of an agent. State and slots are per instance. */
export type InstanceId = Named<'instance'>
/** Who owns agents and accounts: an opaque string of 1–128 characters. */
export type OwnerId = Named<'owner'>
/** A free-string name that the status feed uses for an agent. */
export type Alias = Named<'alias'>
/** A piece of work: a collaboration, a job or a paid skill call. */
export type WorkId = Named<'work'>
/** What a planner calls the work that it reserves for; the request or job id of the later ask. */
export type TaskId = Named<'task'>
export type ReservationId = Named<'reservation'>
export type HoldId = Named<'hold'>
export type TransferId = Named<'transfer'>
export type ContentId = Named<'content'>
export type ApprovalId = Named<'approval'>
export type ReviewerId = Named<'reviewer'>
export type ReviewId = Named<'review'>
export type CampaignId = Named<'campaign'>
/** A post in the hub's outbox. */
export type PostId = Named<'post'>
/** One order of an operator to agents. */
export type ControlId = Named<'control'>
/** The RFC 7638 thumbprint of a public key. */
export type KeyId = Named<'key'>
/** The public half of an Ed25519 key: 32 bytes as base64url, the `x` of its JWK. */
export type PublicKey = Named<'public-key'>
/** What ties log lines, facts, spans and messages together. */
export type CorrelationId = Named<'correlation'>
/** What a sender calls one of its messages, so that a repeat is recognised. */
export type MessageId = Named<'message'>
/** The name under which an answer is remembered. */
export type IdempotencyKey = Named<'idempotency-key'>
/** Hexadecimal SHA-256 of canonical bytes; computed outside, since hashing is handed in. */
export type Digest = Named<'digest'>

/** Milliseconds since 1970 in UTC. Handed in, never read from a clock here. */
export type Instant = number
