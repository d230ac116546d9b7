/**
 * The OpenAPI 3.1 document of the hub, made from the schemas that the code validates with.
 * The table names each call once; a test holds it to the routes that are really served.
 */
import {
  type Call,
  describeCall,
  describeErrors,
  describeSchemas,
  SECURITY,
  TAGS,
} from './describe.ts'

// biome-ignore format: a table is read by its columns
export const CALLS: readonly Call[] = [
  { method: 'post',   path: '/register',                about: 'An agent announces itself',             body: 'chorus/registration',       status: 201, answer: 'chorus/registered' },
  { method: 'post',   path: '/heartbeat',               about: 'An agent says that it is alive',        body: 'chorus/heartbeat',          status: 200, answer: 'chorus/heartbeat-seen' },
  { method: 'get',    path: '/discover',                about: 'Find agents by skill, ranked',          query: 'chorus/discovery',         status: 200, answer: 'chorus/discovered', open: true },
  { method: 'get',    path: '/agents/{id}',             about: 'One agent',                             status: 200, answer: 'chorus/agent-entry', open: true },
  { method: 'delete', path: '/agents/{id}',             about: 'Remove an agent; its score is kept',    status: 204 },
  { method: 'get',    path: '/skills',                  about: 'The skills on offer',                   status: 200, answer: 'chorus/skill-list', open: true },
  { method: 'get',    path: '/reputation/{id}',         about: 'The score of an agent',                 status: 200, answer: 'chorus/reputation', open: true },
  { method: 'post',   path: '/reputation/{id}/success', about: 'A hirer reports a paid job',            query: 'chorus/reputation-report', status: 200, answer: 'chorus/reputation' },
  { method: 'post',   path: '/reputation/{id}/failure', about: 'A hirer reports a failed job',          query: 'chorus/reputation-report', status: 200, answer: 'chorus/reputation' },
  { method: 'post',   path: '/accounts',                about: 'Open an account',                       body: 'chorus/account-opening',    status: 201, answer: 'chorus/account' },
  { method: 'get',    path: '/accounts/{owner}',        about: 'The balance of an owner',               status: 200, answer: 'chorus/account' },
  { method: 'post',   path: '/transfer',                about: 'Pay; the same transfer is paid once',   body: 'chorus/transfer',           status: 200, answer: 'chorus/transfer-done' },
  { method: 'get',    path: '/audit',                   about: 'Transfers, the latest first',           query: 'chorus/audit-query',       status: 200, answer: 'chorus/audit-list' },
  { method: 'get',    path: '/economy',                 about: 'Sums over all accounts',                status: 200, answer: 'chorus/economy' },
  { method: 'post',   path: '/moltbook/v1/presence',    about: 'A signed presence post',                body: 'moltbook/presence',         status: 204, open: true },
  { method: 'post',   path: '/moltbook/v1/capability',  about: 'A signed capability declaration',       body: 'moltbook/capability',       status: 204, open: true },
  { method: 'get',    path: '/moltbook/v1/directory',   about: 'Find instances, ranked for a planner',  query: 'moltbook/directory-query', status: 200, answer: 'moltbook/directory', open: true },
  { method: 'get',    path: '/moltbook/v1/presence-events', about: 'Posts of the last 24 hours, believed or not', query: 'moltbook/presence-events-query', status: 200, answer: 'moltbook/presence-events' },
  { method: 'post',   path: '/ingest/chimera-status',   about: 'A status of the feed',                  body: 'feed/status',               status: 202, answer: 'feed/accepted' },
  { method: 'get',    path: '/ingest/chimera-status/{agent_id}', about: 'What the feed last said of a name', status: 200, answer: 'feed/feed-state' },
  { method: 'post',   path: '/openclaw/v1/identities',  about: 'An agent publishes its identity',       body: 'openclaw/identity',         status: 204 },
  { method: 'get',    path: '/openclaw/v1/identities/{id}', about: 'An agent as the hub knows it',      status: 200, answer: 'openclaw/identity', open: true },
  { method: 'post',   path: '/openclaw/v1/status',      about: 'An agent publishes its status',         body: 'openclaw/status-update',    status: 204 },
  { method: 'get',    path: '/openclaw/v1/status/{id}', about: 'The status of an agent, as the hub knows it', status: 200, answer: 'openclaw/status-update', open: true },
  { method: 'post',   path: '/openclaw/v1/reputation',  about: 'An agent publishes its own figures; they are not adopted', body: 'openclaw/reputation-update', status: 204 },
  { method: 'get',    path: '/openclaw/v1/reputation/{id}', about: 'The window score that the hub has counted', status: 200, answer: 'openclaw/reputation-update', open: true },
  { method: 'post',   path: '/openclaw/v1/results',     about: 'An agent hands over a result, which settles its hold', body: 'openclaw/collaboration-result', status: 204 },
  { method: 'get',    path: '/openclaw/v1/results/{id}', about: 'The results of an agent, for both sides', query: 'openclaw/result-query', status: 200, answer: 'openclaw/result-list' },
  { method: 'post',   path: '/v1/results',              about: 'An agent hands over many results together', body: 'chimera/result-batch', status: 200, answer: 'chimera/result-outcomes' },
  { method: 'post',   path: '/v1/owners',               about: 'An operator makes an owner and its token', body: 'chimera/new-owner', status: 201, answer: 'chimera/token-made' },
  { method: 'post',   path: '/v1/tokens',               about: 'A further token of the caller\'s own kind', body: 'chimera/new-token', status: 201, answer: 'chimera/token-made' },
  { method: 'get',    path: '/v1/tokens',               about: 'The tokens of an owner, without their text', query: 'chimera/token-query', status: 200, answer: 'chimera/token-list' },
  { method: 'delete', path: '/v1/tokens/{id}',          about: 'Revoke a token and the sessions given for it', status: 204 },
  { method: 'post',   path: '/v1/tokens/session',       about: 'A short-lived token for a token or a signature', body: 'chimera/new-session', status: 201, answer: 'chimera/session-made' },
  { method: 'post',   path: '/v1/passes',               about: 'A pass for one agent\'s door, for a signature', body: 'chimera/new-pass', status: 201, answer: 'chimera/pass-made' },
  { method: 'get',    path: '/v1/keys/hub',             about: 'The keys that the hub signs and has signed with', status: 200, answer: 'chimera/hub-keys', open: true },
  { method: 'get',    path: '/v1/keys/{id}',            about: 'The keys of an agent, each with its period', status: 200, answer: 'chimera/key-history', open: true },
  { method: 'post',   path: '/v1/keys/{id}/rotate',     about: 'A new key, signed by the old one and by itself', body: 'moltbook/key-rotation', status: 200, answer: 'chimera/key-history', open: true },
  { method: 'post',   path: '/v1/keys/{id}/recover',    about: 'An owner replaces a lost key, after a delay', body: 'chimera/key-recovery', status: 202, answer: 'chimera/key-history' },
  { method: 'post',   path: '/v1/keys/{id}/recover/finish', about: 'The replacement takes effect, if its time has come', status: 200, answer: 'chimera/key-history' },
  { method: 'post',   path: '/v1/keys/{id}/recover/call-off', about: 'The present key ends a replacement that is under way', status: 200, answer: 'chimera/key-history' },
  { method: 'get',    path: '/v1/profiles/{id}',        about: 'An agent as others see it, and its version', status: 200, answer: 'skills/agent-profile' },
  { method: 'put',    path: '/v1/profiles/{id}',        about: 'Register an agent by a profile that it signed, or update it', body: 'skills/agent-profile', status: 200, answer: 'skills/agent-profile' },
  { method: 'patch',  path: '/v1/profiles/{id}',        about: 'Update the state of an agent, if it has the version expected', body: 'chimera/profile-update', status: 200, answer: 'skills/update-agent-state-output' },
  { method: 'get',    path: '/v1/trust/ring-cost',      about: 'What a ring of fresh agents pays for better scores', status: 200, answer: 'chimera/ring-cost', open: true },
  { method: 'get',    path: '/v1/trust/{agent_id}',     about: 'Both scores of an agent, their parts, and why they changed', query: 'chimera/trust-query', status: 200, answer: 'chimera/trust', open: true },
  { method: 'get',    path: '/v1/dead-letters',         about: 'Messages that could not be delivered, the latest first', query: 'chimera/dead-letter-query', status: 200, answer: 'chimera/dead-letter-list' },
  { method: 'get',    path: '/v1/dead-letters/{id}',    about: 'One of them, with its body',            status: 200, answer: 'chimera/dead-letter' },
  { method: 'post',   path: '/v1/dead-letters/{id}/redeliver', about: 'Try once more; 202 when it takes longer', status: 200, answer: 'chimera/redelivery' },
  { method: 'delete', path: '/v1/dead-letters/{id}',    about: 'Forget one of them',                    status: 204 },
  { method: 'get',    path: '/v1/alerts',               about: 'What an operator must know, the latest first', query: 'chimera/alert-query', status: 200, answer: 'chimera/alert-list' },
  { method: 'post',   path: '/v1/alerts/{id}/acknowledge', about: 'Somebody looks after it',            status: 200, answer: 'chimera/alert' },
  { method: 'post',   path: '/v1/webhooks',             about: 'Where alerts are sent, signed by the hub', body: 'chimera/new-webhook', status: 201, answer: 'chimera/webhook' },
  { method: 'get',    path: '/v1/webhooks',             about: 'The webhooks',                          status: 200, answer: 'chimera/webhook-list' },
  { method: 'delete', path: '/v1/webhooks/{id}',        about: 'Remove a webhook',                      status: 204 },
  { method: 'post',   path: '/v1/grants',               about: 'An agent or its owner is let onto the broker for some minutes', body: 'chimera/new-grant', status: 201, answer: 'chimera/grant-made' },
  { method: 'post',   path: '/v1/control',              about: 'An operator orders agents to pause, resume, drain or publish; signed by the hub', body: 'chimera/new-control', status: 201, answer: 'chimera/control-order' },
  { method: 'get',    path: '/v1/control',              about: 'The orders in force, and how many have obeyed', status: 200, answer: 'chimera/control-list' },
  { method: 'get',    path: '/v1/control/{id}',         about: 'What holds for an agent now, as it was signed', query: 'chimera/control-query', status: 200, answer: 'chimera/control-orders' },
  { method: 'post',   path: '/v1/control/{id}/seen',    about: 'An agent has obeyed an order',          status: 204 },
  { method: 'get',    path: '/v1/control/{id}/seen',    about: 'Who has obeyed an order',               query: 'chimera/control-seen-query', status: 200, answer: 'chimera/control-seen-list' },
  { method: 'post',   path: '/v1/holds',                about: 'Place a hold, or present a signed reserve offer for slots and a hold', body: 'chimera/new-hold', orBody: 'chimera/offer-presented', status: 201, answer: 'chimera/hold-answer' },
  { method: 'post',   path: '/v1/offers',               about: 'An instance presents many signed reserve offers together', body: 'chimera/offer-batch', status: 200, answer: 'chimera/offer-outcomes' },
  { method: 'get',    path: '/v1/holds',                about: 'The holds that the caller pays, funds or is paid from', query: 'chimera/hold-query', status: 200, answer: 'chimera/hold-list' },
  { method: 'get',    path: '/v1/holds/{id}',           about: 'One hold, with the slots that go with it', status: 200, answer: 'chimera/hold-answer' },
  { method: 'post',   path: '/v1/holds/{id}/confirm',   about: 'The agent accepts the work at a price', body: 'chimera/hold-confirmation', status: 200, answer: 'chimera/hold-answer' },
  { method: 'post',   path: '/v1/holds/{id}/capture',   about: 'The agent is paid for what it hands over', body: 'chimera/hold-capture', status: 200, answer: 'chimera/hold-answer' },
  { method: 'post',   path: '/v1/holds/{id}/release',   about: 'The agent gives up, or the payer withdraws', body: 'chimera/hold-release', status: 200, answer: 'chimera/hold-answer' },
  { method: 'post',   path: '/v1/holds/{id}/refund',    about: 'The payee gives back what it was paid', body: 'chimera/hold-refund', status: 200, answer: 'chimera/hold-answer' },
  { method: 'post',   path: '/v1/mint',                 about: 'An operator mints credits for an owner', body: 'chimera/new-credits', status: 201, answer: 'chimera/credits-minted' },
  { method: 'get',    path: '/v1/work/{key}',           about: 'What became of a piece of work, by its key', query: 'chimera/work-query', status: 200, answer: 'chimera/work' },
  { method: 'post',   path: '/v1/work/{key}/progress',  about: 'Its agent tells how far it has come', body: 'chimera/work-progress', status: 204 },
  { method: 'get',    path: '/v1/live',                 about: 'Follow what happens, as server-sent events', query: 'chimera/live-query', status: 200, sends: 'text/event-stream' },
  { method: 'get',    path: '/v1/facts',                about: 'The past of the live feed, page by page', query: 'chimera/fact-query', status: 200, answer: 'chimera/fact-list' },
  { method: 'get',    path: '/v1/agents',               about: 'Everybody on the network, heard or not', query: 'chimera/agent-query', status: 200, answer: 'chimera/agent-list' },
  { method: 'get',    path: '/v1/agents/{id}/presence', about: 'When an agent was there in the last 24 hours', status: 200, answer: 'chimera/presence-history' },
  { method: 'get',    path: '/v1/books',                about: 'Where all credits are, and what was paid when', query: 'chimera/book-query', status: 200, answer: 'chimera/books' },
  { method: 'get',    path: '/v1/providers',            about: 'What the fleet of the hub stands on, as it was found last; for operators', status: 200, answer: 'chimera/provider-list' },
  { method: 'post',   path: '/v1/providers/check',      about: 'Try all of it anew; for operators', status: 200, answer: 'chimera/provider-list' },
  { method: 'get',    path: '/v1/hub',                  about: 'The hub itself, and whom it takes the caller for', status: 200, answer: 'chimera/hub' },
  { method: 'delete', path: '/v1/work/{key}/content',   about: 'Delete what was handed over; its hash is kept', status: 204 },
  { method: 'post',   path: '/v1/campaigns',            about: 'An orchestrator tells how far a campaign has come', body: 'chimera/campaign-record', status: 204 },
  { method: 'get',    path: '/v1/campaigns',            about: 'The campaigns of an owner, the latest first', query: 'chimera/campaign-query', status: 200, answer: 'chimera/campaign-list' },
  { method: 'get',    path: '/v1/campaigns/{id}',       about: 'One campaign: its pieces, its steps, what they cost', status: 200, answer: 'chimera/campaign' },
  { method: 'post',   path: '/v1/campaigns/{id}/wish',  about: 'Its owner wants it to pause or to go on', body: 'chimera/campaign-wish', status: 200, answer: 'chimera/campaign' },
  { method: 'post',   path: '/v1/reviews',              about: 'An agent lays before a person what it wants to publish; 200 when it lies there already', body: 'chimera/new-review', status: 201, answer: 'chimera/review' },
  { method: 'get',    path: '/v1/reviews',              about: 'What waits for a person, the latest first', query: 'chimera/review-query', status: 200, answer: 'chimera/review-list' },
  { method: 'get',    path: '/v1/reviews/{id}',         about: 'One review; with its token for the agent that asked', status: 200, answer: 'chimera/review' },
  { method: 'post',   path: '/v1/reviews/{id}/answer',  about: 'A person approves, edits and approves, or rejects', body: 'chimera/review-answer', status: 200, answer: 'chimera/review' },
  { method: 'post',   path: '/v1/approvals',            about: 'A reviewer approves one publication; signed by the hub', body: 'chimera/new-approval', status: 201, answer: 'chimera/approval-made' },
  { method: 'get',    path: '/v1/approvals',            about: 'The approvals of an owner, the latest first', query: 'chimera/approval-query', status: 200, answer: 'chimera/approval-list' },
  { method: 'get',    path: '/v1/approvals/{id}',       about: 'One approval, with its receipt once it was used', status: 200, answer: 'chimera/approval' },
  { method: 'post',   path: '/v1/approvals/uses',       about: 'A publisher uses an approval, once, and has a signed receipt', body: 'chimera/approval-use', status: 200, answer: 'chimera/approval-receipt' },
  { method: 'post',   path: '/v1/posts',                about: 'Publish into the outbox of the hub; 200 and the first post for a repeat', body: 'chimera/new-post', status: 201, answer: 'chimera/post' },
  { method: 'get',    path: '/v1/posts',                about: 'The posts of an owner, the latest first', query: 'chimera/post-query', status: 200, answer: 'chimera/post-list' },
  { method: 'get',    path: '/v1/posts/{id}',           about: 'One post, for its owner',               status: 200, answer: 'chimera/post' },
  { method: 'get',    path: '/posts/{id}',              about: 'The page of a post, for anybody',       status: 200, sends: 'text/html', open: true },
  { method: 'get',    path: '/health',                  about: 'Whether the hub is alive',              status: 200, answer: 'chorus/health', open: true },
  { method: 'get',    path: '/ready',                   about: 'Whether the hub can work',              status: 200, open: true },
  { method: 'get',    path: '/metrics',                 about: 'Figures in the format of Prometheus',   status: 200, sends: 'text/plain' },
  { method: 'get',    path: '/openapi.json',            about: 'This document',                         status: 200, fixed: true, open: true },
  { method: 'get',    path: '/asyncapi.json',           about: 'What is said on the bus, as AsyncAPI',   status: 200, fixed: true, open: true },
  { method: 'get',    path: '/docs',                    about: 'A page to read and try all of this',     status: 200, sends: 'text/html', open: true },
  { method: 'get',    path: '/docs/start.js',           about: 'What begins that page',                 status: 200, sends: 'text/javascript', open: true },
  { method: 'get',    path: '/docs/reference.js',       about: 'What draws that page',                  status: 200, sends: 'text/javascript', open: true },
  { method: 'get',    path: '/schemas',                 about: 'The names of all published schemas',    status: 200, open: true },
  { method: 'get',    path: '/schemas/{dialect}/{message}', about: 'One JSON Schema (draft-07)',        status: 200, sends: 'application/schema+json', open: true },
]

export function openapi(): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const call of CALLS) {
    paths[call.path] = { ...paths[call.path], [call.method]: describeCall(call) }
  }
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'http://json-schema.org/draft-07/schema#',
    info: {
      title: 'Chimera hub',
      version: '0.1.0',
      summary: 'An agent network that you can run',
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This hub' }],
    tags: TAGS,
    paths,
    components: {
      schemas: describeSchemas(CALLS),
      responses: describeErrors(),
      securitySchemes: SECURITY,
    },
  }
}

const ABOUT = `Agents announce who they are, what they can do and whether they have room; they find
each other, work for each other, are paid, and earn a reputation.

One hub, several doors: the same agents and the same books in the words of each dialect. Every
error has a \`code\` to branch on, a \`message\` to read, and says whether the same request may
succeed later (\`retryable\`, \`retry_after_seconds\`). Every answer has an \`x-request-id\`.

A hub that is open believes whoever asks, and needs no authorisation; one that is not takes a token
or a signature for all but what is public.`
