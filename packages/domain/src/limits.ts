/**
 * Every bound with its reason (A5: nothing is unbounded). What comes from outside is measured
 * against these before anything is done with it; what an operator may change is a setting that
 * starts from here.
 */
const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

export const LIMITS = {
  /**
   * Largest body: four times the largest identity seen with a hundred schemas; keeps parsing under
   * a millisecond.
   */
  bodyBytes: 256 * 1024,
  /** All header fields of a request: a signature, a token and what proxies add are 4 KiB. */
  headerBytes: 16 * 1024,
  /** Header fields of a request: a browser behind three proxies sends some thirty. */
  headerFields: 100,
  /** Deeper JSON than this is an attack on a recursive reader, not a message. */
  jsonDepth: 32,
  /**
   * How many wrong fields one error lists: enough to fix a message in one go, too few to be
   * amplified.
   */
  issues: 20,

  /** Free text of a person or an agent: OpenClaw bounds descriptions at 1000. */
  descriptionChars: 1_000,
  /** Names that people read. */
  nameChars: 200,
  /** Opaque owner and orchestrator ids (CH-13). */
  ownerChars: 128,
  /** Skill and capability names, versions included. */
  skillChars: 128,
  /** Addresses; what browsers and proxies agree on. */
  urlChars: 2_048,
  /** Correlation and trace ids, idempotency keys. */
  keyChars: 256,
  /** The status feed's `notes` (SF-2). */
  notesChars: 256,

  /** Skills of one agent: what a directory row can show and an index can hold 100 000 times. */
  skillsPerAgent: 100,
  /** One published input or output schema. */
  schemaBytes: 32 * 1024,
  schemaDepth: 16,
  /** Schemas within one: each costs half a millisecond once, when it is made ready. */
  schemaParts: 300,
  /** Instructions of all patterns of one schema; more is a pattern that nobody can read. */
  schemaPatterns: 5_000,
  /** Steps that one check by a stranger's schema may take: a few hundredths of a second. */
  schemaSteps: 1_000_000,
  /**
   * Callers whose requests of the last minute are counted each by itself, some hundred bytes each;
   * whoever comes when all of these are at it shares one count with the rest.
   */
  pacedCallers: 10_000,
  /**
   * How long a hub may use what it was given ahead of a caller's limit: a caller that asks now and
   * then costs one question a minute, and what a killed hub had is free again after two.
   */
  aheadMs: MINUTE_MS,
  /** Requests at one hub that wait to hear whether their caller may ask: a second's worth. */
  allowancesWaiting: 10_000,
  /** Agents of one owner, so that one owner cannot fill the directory. A setting. */
  agentsPerOwner: 1_000,
  /** Slots of one instance; the profile's own bound is 100 tasks. */
  slotsPerInstance: 1_000,
  /** Live copies of one agent, so that one key cannot fill the directory's memory. */
  instancesPerAgent: 100,
  /**
   * A hundred million credits in hundredths: sums over a hundred thousand full accounts stay exact
   * integers.
   */
  amountCents: 10_000_000_000,

  /** Clock skew between honest machines. */
  skewMs: 30 * SECOND_MS,
  /** A signed request may be this old. */
  requestAgeMs: 60 * SECOND_MS,
  /** Nonces are kept this long: a request's age plus skew on both sides. */
  nonceMs: 120 * SECOND_MS,

  /**
   * Presence posts (AV-1): every 10 s, 30 s while draining, valid for three cadences, never over
   * 120 s.
   */
  presenceCadenceMs: 10 * SECOND_MS,
  drainingCadenceMs: 30 * SECOND_MS,
  missedCadences: 3,
  presenceTtlMs: 120 * SECOND_MS,
  /**
   * An agent that only sends heartbeats is offline this long after its last sign of life (CH-3).
   */
  heartbeatSilenceMs: 90 * SECOND_MS,
  /** Back-off of presence on network trouble ends here (AV-4). */
  presenceBackoffMs: 5 * MINUTE_MS,
  /** How often the directory probes instances directly (AV-6). */
  probeMs: 5 * MINUTE_MS,
  /** What is due is probed this often: a cadence, so that a probe is no later than a post. */
  probeWaveMs: 10 * SECOND_MS,
  /** Who does not answer a probe in so long would not acknowledge an offer in time (AV-8). */
  probeAnswerMs: 3 * SECOND_MS,
  /** Probes under way: 64 that hang, asked twice each, still leave 3200 in five minutes. */
  probesAtOnce: 64,
  /** Probes of this time are judged together; a shorter one would judge by two or three. */
  probeWindowMs: MINUTE_MS,
  /**
   * Fewer answers than this share mean that it is the hub that reaches nobody (P-13). Low, since
   * agents behind a firewall never answer and say nothing about the hub.
   */
  probeReachShare: 1 / 10,
  /**
   * A return within this time of a fall is a flap (AV-6, P-13): twice the longest back-off, so that
   * an instance that fights with its network is recognised when it gets through.
   */
  flapMemoryMs: 10 * MINUTE_MS,
  /** Silent for so many cadences, an instance has missed a post, even if that was a bit late. */
  quietCadences: 1.5,
  /** Below so many instances a share says nothing: two of four may well have died together. */
  brakeInstances: 5,
  /** More than this share quiet at once is less likely their deaths than our cut (P-13). */
  brakeShare: 1 / 3,
  /** The brake ends at half of what set it, so that it does not go on and off at the edge. */
  brakeReleaseShare: 1 / 6,
  /**
   * The brake holds at most so long. After a cut of five minutes agents wait up to as long again
   * before they try (AV-4); a longer hold would list the dead for a longer cut's sake.
   */
  brakeMs: 10 * MINUTE_MS,
  /** Sweeps of the directory are at least so far apart: each reads every instance. */
  sweepMs: SECOND_MS,

  /**
   * OpenClaw status and the feed: a heartbeat a minute (OC-4, SF-3), a change within 5 s (OC-3,
   * SF-4).
   */
  statusCadenceMs: 60 * SECOND_MS,
  /**
   * Further changes are folded into one update so long after the previous; half a second is left to
   * arrive.
   */
  coalesceMs: 4_500,
  /** Messages of one agent in a minute (SF-4). */
  statusPerMinute: 60,
  /** How far a feed heartbeat may be off its minute (SF-3). */
  statusSlackMs: 5 * SECOND_MS,
  /** OpenClaw wants *at least* one in 60 s (OC-4): sent 5 s early, a late one is still in time. */
  openclawBeatMs: 55 * SECOND_MS,
  /** `maintenance_until` is an hour ahead if the end is unknown; renewed before it passes. */
  maintenanceBeatMs: 50 * MINUTE_MS,
  /** Changes of presence are folded for a second: slots move often, and a second is soon enough. */
  presenceFoldMs: SECOND_MS,
  /** The feed's retries after the first attempt (SF-5). */
  feedRetries: 5,
  /** After the last retry one probe in so long (SF-5). */
  feedProbeMs: MINUTE_MS,
  /**
   * Message ids that a receiver remembers per feed alias (SF-7): a minute at the highest rate, and
   * an honest publisher has one message under way at a time.
   */
  feedMemory: 60,
  /** Names that the feed is heard under: as many as a large hub has agents. Free to invent. */
  feedAliases: 10_000,
  /** Names that one agent has in the feed, which are kept for ever: one, and room for renaming. */
  aliasesPerAgent: 10,
  /** Names that one credential publishes under: each stands for an agent of its owner. */
  aliasesPerCredential: 1_000,
  /** Failures in a row, or of one kind, that are no longer chance (SF-10, SF-13). */
  alertFailures: 3,
  /** Updates that wait to be published before somebody is told (SF-10). A setting. */
  feedQueue: 100,
  /** The share of agents that publish while the rollout is tried out (SF-11). A setting. */
  canaryShare: 0.1,
  /** How long it is tried out before everybody publishes (SF-13). */
  canaryMs: 48 * HOUR_MS,
  /** More failures than this share in this time switch publishing off (SF-13). Settings. */
  rolloutFailureShare: 0.05,
  rolloutWindowMs: 10 * MINUTE_MS,

  /** A reservation that nobody uses is free again (AV-8). */
  reservationMs: 30 * SECOND_MS,
  /** Answers to reserve offers (AV-8) and to collaboration requests (OC-11). */
  ackMs: 3 * SECOND_MS,
  responseMs: 10 * SECOND_MS,
  /** A synchronous wait for a job turns into 202 (CH-4). */
  syncWaitMs: 120 * SECOND_MS,

  /** Deferred requests of one agent (OC-15). */
  queuedWork: 100,
  /** One priority level better for each so long waited (OC-15), so that nobody starves. */
  priorityAgeMs: 60 * SECOND_MS,
  /** Answers are remembered until so long after the result (OC-12). */
  answerMs: DAY_MS,
  /** Work that waits for a person and has no deadline is cancelled then (OC-19). */
  approvalWaitMs: DAY_MS,
  /** Accepted work that never ended releases its hold so long after its deadline (P-3). */
  holdGraceMs: DAY_MS,
  /**
   * The latest deadline that an agent may accept work with when its payer named none: accepted work
   * binds the payer's credits.
   */
  workMs: 30 * DAY_MS,
  /**
   * A reputation update at least every 24 h (OC-9): due 5 min early, so that a late one is in time.
   */
  reputationBeatMs: DAY_MS - 5 * MINUTE_MS,
  /** Collaborations that the window score looks at (OC-8). */
  outcomeWindow: 100,
  /**
   * Changes of its scores that are kept ready for each agent, with their reasons: some weeks of a
   * busy one, in 20 KB. Older ones are in the trail.
   */
  scoreChanges: 50,
  /**
   * Successes that count per ordered pair of owners (CH-12), and the days they are counted over. A
   * setting.
   */
  pairSuccesses: 10,
  pairWindowMs: 30 * DAY_MS,

  /**
   * Attempts to deliver one message: with waits that double up to two hours they take about a day,
   * which is longer than most outages and shorter than anybody's memory.
   */
  deliveryAttempts: 25,
  deliveryWaitMs: 2 * HOUR_MS,
  /** One attempt in all. A receiver that needs longer should answer first and work then. */
  deliveryMs: 20 * SECOND_MS,
  /** A claim outlives its attempt by the skew of another hub's clock and some time to record it. */
  deliveryClaimMs: MINUTE_MS,
  /** Messages that wait for one address: a day of one every minute and a half. */
  deliveriesPerTarget: 1_000,
  /** Attempts at once, and of these to one host: a slow one takes an eighth of the room. */
  deliveriesAtOnce: 32,
  /** Results in one message to the hub: small ones fill half of what a body may be. */
  resultsAtOnce: 100,
  /** Offers that are shown to the hub together: half a body, as for results. */
  offersAtOnce: 200,
  deliveriesPerHost: 4,
  /** How often a hub looks for messages that are due. */
  deliveryLookMs: SECOND_MS,
  /** Undelivered messages are kept so long and so many of each owner, the latest. */
  letterMs: 30 * DAY_MS,
  lettersPerOwner: 1_000,
  lettersPerPage: 100,
  /** Whoever redelivers by hand waits so long for the outcome, and is then told to look later. */
  redeliveryWaitMs: 5 * SECOND_MS,

  /** Where alerts are sent: a pager, a chat, and room for tools. Each costs a delivery an alert. */
  webhooks: 20,
  /** Subjects of one kind of alert; more at once have one cause, and one alert says so. */
  alertSubjects: 100,
  /** How often conditions are looked at that nobody reports. */
  alertLookMs: 5 * SECOND_MS,
  /**
   * An alert is confirmed this often while its condition lasts, and over when no hub has confirmed
   * it for the lease: several beats and the skew between two hubs, so that a flap is one alert.
   */
  alertBeatMs: 15 * SECOND_MS,
  alertLeaseMs: MINUTE_MS,
  /** Alerts that are over are kept so long and so many, the latest. */
  alertMs: 90 * DAY_MS,
  alertHistory: 10_000,
  alertsPerPage: 100,
  /** The words of an alert: a line on a pager. */
  alertChars: 300,
  /** Denied requests in one minute that are no longer somebody's typing error. */
  denialsPerMinute: 60,
  /** An alert of an event rather than a condition stands so long after the last one. */
  alertEchoMs: 5 * MINUTE_MS,
  /** Undelivered messages are an alert for an hour after the last one. */
  letterAlertMs: HOUR_MS,
  /** A feed that went silent is news for a day; then the agent is simply not there. */
  feedSilenceMs: DAY_MS,

  /** An order holds at most a quarter of a year: what is to hold for longer is given again. */
  controlMs: 90 * DAY_MS,
  /** Unless told otherwise; long enough that what was forgotten does not come back overnight. */
  controlDefaultMs: 30 * DAY_MS,
  /** Why an order was given: a line for whoever runs the agent. */
  controlReasonChars: 300,
  /** Orders in one list: more at once is a fleet that is steered agent by agent. */
  controlOrders: 500,
  /** Who has obeyed, on one page. */
  controlSeenPerPage: 1_000,

  /** As long as a session's token lives: nobody has to revoke what lets an agent onto the bus. */
  grantMs: 15 * 60 * 1_000,
  /** Instances whose offers one connection hears; the broker checks each message against all. */
  grantInstances: 32,
  /**
   * Grants of one agent that have not ended, at one hub: one for each of its instances, and another
   * for each while the first still holds. Each one lets a connection onto the broker.
   */
  grantsPerAgent: 200,

  /** Results on one page: each may hold as much as a message does. */
  resultsPerPage: 20,
  /** The content of a result is kept so long (E2). A setting. */
  resultsMs: 30 * DAY_MS,
  /** Results whose hold could not be settled are tried again so long after (P-3). */
  resettleMs: 10 * SECOND_MS,

  /** Hits on one page of discovery: more than a planner tries, few enough to explain each (P-6). */
  hitsPerPage: 100,

  /** Agents on one page of the whole list: a picture of a small network in one answer. */
  agentsPerPage: 200,
  /** Facts on one page, and how many are looked at for it: a search goes on page by page. */
  factsPerPage: 500,
  factsLooked: 5_000,
  /** Spans of time on one plot of the volume: a month by the hour. */
  volumeSpans: 744,

  /** Readers of the live feed at one hub, and of these of one caller. The first is a setting. */
  liveReaders: 1_000,
  liveReadersPerCaller: 500,
  /** What a reader has not taken yet: some thousand events, or a second of a busy network. */
  liveBufferBytes: 1_048_576,
  /** Events that a hub has at hand, so that who resumes soon does not ask the database. */
  liveRing: 10_000,
  /** A reader that is catching up takes something within this time, or is cut off. */
  livePatienceMs: 30 * SECOND_MS,
  /** Proxies close what is silent for a minute, some of them for half. */
  liveBeatMs: 15 * SECOND_MS,
  /** A stream is opened anew so often, so that who may hear it is looked at again. */
  liveStreamMs: HOUR_MS,
  /** What is appended together is told together: faster than anybody sees. */
  livePullMs: 25,

  /** Retries of one skill call, whichever errors it meets (SK-2). */
  skillRetries: 3,
  /** A provider that asks for a longer wait is not waited for: the caller is told instead. */
  skillWaitMs: MINUTE_MS,
  /** One attempt of a skill that names no timeout, and the longest that one may name. */
  skillMs: 30 * SECOND_MS,
  skillMostMs: DAY_MS,
  /** A skill that still runs so long after its signal was aborted has not listened. */
  skillGraceMs: SECOND_MS,
  /** Runs of one skill that go on after their end: more, and it is left alone until some stop. */
  skillStrays: 10,
  /** Calls under way at one runner. A setting; what an agent takes on is bounded by its slots. */
  skillCalls: 1_000,
  /** Members and elements of one input or output: the body limit holds fewer of a useful kind. */
  skillNodes: 50_000,
  /** An output may be larger than a message: a result is also read by those who ask in process. */
  skillBytes: 4 * 1024 * 1024,
  /** Cached answers of one runner. Settings. */
  skillCacheEntries: 10_000,
  skillCacheBytes: 64 * 1024 * 1024,
  /** Answers under a key that are kept in memory or in a file; a database holds more. A setting. */
  skillAnswers: 100_000,
  /** Calls whose successes make the rate that is shown (SK-4): some minutes of a busy skill. */
  skillRateCalls: 100,
  /** Threads of one skill, each with the memory that it is allowed. Settings. */
  skillThreads: 4,
  skillMemoryMb: 128,
  /** A thread stops by itself within this time after its signal, or is ended. */
  skillThreadGraceMs: 100,
  /** Failures in a row that are no longer chance, and how long a provider is left alone then. */
  breakerFailures: 5,
  breakerOpenMs: 10 * SECOND_MS,
  breakerMostMs: 5 * MINUTE_MS,
  /** While one call tries whether a provider works, others are told to come back so much later. */
  breakerTryMs: SECOND_MS,
  /** Providers that a runner keeps a breaker for; the one that was asked least lately goes. */
  breakers: 1_000,

  /** Approval tokens (SK-10). */
  approvalTtlMs: 2 * HOUR_MS,
  /** What stands behind ten skills, several servers and models each; a screen of it. */
  providersShown: 100,
  /** Spans in the picture of a day: one a minute, which no screen can tell apart. */
  presenceSpans: 1_440,
  /** The name of whoever approved: a person, a mail address, a token. */
  reviewerChars: 128,
  /** Posts or approvals on one page: each post holds up to 5000 characters. */
  postsPerPage: 50,
  /** A text that a person has sent back so often is not written once more by a machine (SK-16). */
  contentRejections: 3,
  /** A review that nobody answers expires then at the latest: a trend is old by the next day. */
  reviewMs: DAY_MS,
  /** Pieces of content of one campaign: more than a person wants to look at in a day. */
  campaignPieces: 20,
  /** Steps of a campaign that are kept to be looked at: some for each piece and each rejection. */
  campaignSteps: 400,
  /** A deprecated skill version is kept at least so long (SK-5). */
  deprecationMs: 30 * DAY_MS,
  /** Major versions of one skill that run side by side (SK-5). */
  skillMajors: 2,
  /** An owner's recovery of a lost key waits so long, so that a thief is noticed. A setting. */
  recoveryDelayMs: 2 * DAY_MS,
} as const
