/** X-7 the AsyncAPI document is whole: what it refers to is in it, and no channel lacks a part. */
import assert from 'node:assert/strict'
import type { AgentId, InstanceId } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { asyncapi } from './asyncapi.ts'
import { DIALECTS } from './dialects.ts'
import { CHANNELS, releaseSubject, speakerIn, subjectBetween, subjectsOf } from './topics.ts'

type Node = { readonly [name: string]: unknown }
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null
// What is served is its JSON, and nothing else.
const document: unknown = JSON.parse(JSON.stringify(asyncapi()))

function at(...path: readonly string[]): Node {
  let found: unknown = document
  for (const name of path) found = isNode(found) ? found[name] : undefined
  assert.ok(isNode(found), path.join('/'))
  return found
}

/** Every reference of the document itself; those inside of payloads are the schemas' own. */
function refsIn(value: unknown): string[] {
  if (!isNode(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    if (name === 'schema') return []
    return name === '$ref' ? [String(member)] : refsIn(member)
  })
}

describe('X-7 the AsyncAPI document', () => {
  test('names its version, and refers only to what is in it', () => {
    assert.equal(at().asyncapi, '3.0.0')
    assert.equal(typeof at('info').title, 'string')
    assert.equal(typeof at('info').version, 'string')
    const refs = refsIn(document)
    assert.ok(refs.length > 0)
    for (const ref of refs) {
      assert.match(ref, /^#\//)
      at(...ref.slice(2).split('/'))
    }
  })

  test('has a channel for each topic, with the parameters of its address', () => {
    for (const { name, subject } of CHANNELS) {
      const { address, parameters = {} } = at('channels', name)
      assert.equal(address, subject)
      const named = [...subject.matchAll(/\{(\w+)\}/g)].map(([, each]) => each)
      assert.deepEqual(Object.keys(parameters ?? {}), named)
    }
    const subjects = CHANNELS.map(({ subject }) => subject)
    assert.equal(new Set(subjects).size, subjects.length)
    assert.equal(new Set(CHANNELS.map(({ name }) => name)).size, subjects.length)
  })

  test('has operations whose messages are those of their channel', () => {
    for (const [name, operation] of Object.entries(at('operations'))) {
      assert.ok(isNode(operation))
      assert.ok(operation.action === 'send' || operation.action === 'receive', name)
      for (const part of [operation, ...(isNode(operation.reply) ? [operation.reply] : [])]) {
        const [channel = ''] = refsIn(part.channel)
        const messages = refsIn(part.messages)
        assert.equal(messages.length, 1)
        for (const message of messages) assert.ok(message.startsWith(`${channel}/messages/`), name)
      }
    }
  })

  test('carries the very schemas that the code validates with', () => {
    const dialects: Readonly<Record<string, Readonly<Record<string, { schema: object }>>>> =
      DIALECTS
    for (const name of Object.keys(at('components', 'messages'))) {
      const [dialect = '', message = ''] = name.split('.')
      const { schema } = at('components', 'messages', name, 'payload')
      const own = dialects[dialect]?.[message]?.schema
      assert.deepEqual(schema, JSON.parse(JSON.stringify(own)))
    }
  })

  test('a channel for a message that nobody has is a mistake', () => {
    const [channel] = CHANNELS
    assert.ok(channel)
    assert.throws(() => asyncapi([{ ...channel, message: 'moltbook/unheard-of' }]), /unheard-of/)
  })
})

describe('AV-12 what an agent may say and hear', () => {
  const agent = '00000000-0000-4000-8000-00000000000a' as AgentId
  const other = '00000000-0000-4000-8000-00000000000b' as AgentId
  const instances = ['00000000-0000-4000-8000-00000000000c' as InstanceId]
  const { publish, subscribe } = subjectsOf({ agent, instances })
  const said = (patterns: readonly string[], subject: string): boolean =>
    patterns.some((each) => new RegExp(`^${each.replaceAll('*', '[^.]+')}$`).test(subject))
  const fill = (subject: string, ids: Readonly<Record<string, string>>): string =>
    subject.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '')

  for (const { name, subject, agents } of CHANNELS) {
    test(`${name}: its own, as far as the table says`, () => {
      const asked = { agent: other, requester: agent, planner: other, instance: instances[0] ?? '' }
      const own = { agent, requester: other, planner: other, instance: instances[0] ?? '' }
      const says = name === 'request' || name === 'cancel' ? asked : own
      const hears = name === 'response' || name === 'result' ? asked : own
      assert.equal(said(publish, fill(subject, says)), agents !== 'hear')
      assert.equal(said(subscribe, fill(subject, hears)), agents !== 'say')
    })
  }

  test('T1 never says anything in the name of another', () => {
    const forged = { agent: other, requester: other, planner: other, instance: other }
    for (const { name, subject } of CHANNELS) {
      const open = ['presence', 'capability', 'reserve', 'release'].includes(name)
      assert.equal(said(publish, fill(subject, forged)), open, name)
    }
  })

  test('T1 never hears what was said to another alone', () => {
    const theirs = { agent: other, requester: other, planner: other, instance: other }
    const alone = ['request', 'cancel', 'response', 'result', 'reserve', 'release', 'control']
    // Posts of all are what hubs hear.
    alone.push('presence')
    for (const name of alone) {
      const { subject = '' } = CHANNELS.find((each) => each.name === name) ?? {}
      assert.equal(said(subscribe, fill(subject, theirs)), false, name)
    }
  })

  test('a planner hears that an instance gives back what was promised to it', () => {
    assert.ok(said(subscribe, `moltbook.release.${other}.${agent}`))
  })

  test('who speaks to whom is the channel of the table', () => {
    for (const name of ['request', 'cancel', 'response'] as const) {
      const { subject = '' } = CHANNELS.find((each) => each.name === name) ?? {}
      const ids =
        name === 'response' ? { agent, requester: other } : { requester: agent, agent: other }
      assert.equal(subjectBetween(name, agent, other), fill(subject, ids))
      assert.equal(speakerIn(subjectBetween(name, agent, other)), agent)
    }
    const [instance = '' as InstanceId] = instances
    const { subject = '' } = CHANNELS.find((each) => each.name === 'release') ?? {}
    assert.equal(releaseSubject(instance, agent), fill(subject, { instance, planner: agent }))
  })

  test('T2 says nothing where the hub speaks', () => {
    for (const each of publish) assert.ok(!each.startsWith('chimera.'), each)
  })
})
