/** The status feed to an outside receiver that knows who publishes by the certificate it shows. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAgent, tlsFromFiles } from '@chimera/agent'
import { createIngestion } from '@chimera/harness'
import { createAuthority } from '@chimera/host/testing/certificates'
import { wordCount } from '../skills.ts'
import { aside, openHub, say, title } from '../stage.ts'

const hub = await openHub()
title('A status feed with certificates on both sides')

// In production these come from whoever runs your certificates, and the files are renewed in place.
const home = await mkdtemp(join(tmpdir(), 'chimera-feed-'))
const feedAuthority = createAuthority('The feed’s authority')
const ourAuthority = createAuthority('Our authority')
const ours = ourAuthority.certify('chimera-counter')
const files = { cert: join(home, 'cert'), key: join(home, 'key'), ca: join(home, 'ca') }
await writeFile(files.cert, ours.cert)
await writeFile(files.key, ours.key, { mode: 0o600 })
await writeFile(files.ca, feedAuthority.cert)

/** The receiver: OpenClaw's in production, the harness's here. */
const ingestion = await createIngestion({
  tls: feedAuthority.certify('feed', ['127.0.0.1']),
  auth: { by: 'mtls', ca: ourAuthority.cert },
})

const agent = createAgent({
  name: 'chimera-counter',
  owner: 'bolt',
  hub: hub.address,
  skills: [wordCount],
  feed: { url: ingestion.url, auth: { by: 'mtls', tls: tlsFromFiles(files) } },
  directory: false,
  signals: false,
  log: 'silent',
})
await agent.start()
await agent.stop()

assert.deepEqual(ingestion.statuses(), ['AVAILABLE', 'PAUSED'])
for (const { publisher, message } of ingestion.seen) {
  assert.equal(publisher, 'chimera-counter')
  say(`${message?.status}: ${message?.notes}`)
}
say('both were shown with our certificate, and the receiver’s was checked')
aside('a minute of it would have brought heartbeats; trouble would have been tried again')

await ingestion.close()
await rm(home, { recursive: true, force: true })
await hub.stop()
