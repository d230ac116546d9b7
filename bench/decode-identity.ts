/**
 * Reading the OpenClaw identity against parsing it: what our checks add to what nobody can avoid.
 */
import { readFileSync } from 'node:fs'
import { readIdentity } from '@chimera/dialects/openclaw'
import type { Benchmark } from './frame.ts'

const EXAMPLE = '../conformance/vectors/openclaw/identity/accept/document-example.json'
const { wire } = JSON.parse(readFileSync(new URL(EXAMPLE, import.meta.url), 'utf8'))
const text = JSON.stringify(wire)

/** Messages that were parsed apart, so that no decoder profits from seeing one object again. */
const parsed = Array.from({ length: 256 }, () => JSON.parse(text))

export const benchmark: Benchmark = {
  name: 'decode-identity',
  method:
    `The identity example of the OpenClaw document (${text.length} bytes) is validated against ` +
    'its schema, its bounds and its cross-field rules, and decoded, from 256 parsed copies in ' +
    'turn. The peer is JSON.parse of the same text. At least 1.0 means that reading a message ' +
    'costs no more than parsing it.',
  ours: {
    name: 'validate and decode',
    run: (times) => {
      for (let at = 0; at < times; at += 1) {
        if (!readIdentity(parsed[at & 255]).ok) throw new Error('the example was refused')
      }
    },
  },
  peer: {
    name: 'JSON.parse',
    run: (times) => {
      for (let at = 0; at < times; at += 1) JSON.parse(text)
    },
  },
  target: { direction: 'at least', ratio: 1 },
}
