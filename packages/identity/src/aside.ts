/**
 * Signatures checked in a thread beside this one, many at a time, so that a directory reads the
 * next posts while the last ones are verified.
 *
 *   T1  What is asked first is answered first, wherever it is checked: two posts of one instance
 *       keep their order.
 *   T2  A few are checked here, where that is quicker than telling another thread; the thread is
 *       started with the first that are many, and keeps no process alive.
 *   T3  A thread that fails is done without from then on, and what it owed is checked here.
 */
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { KEY_BYTES, SIGNATURE_BYTES } from './ed25519.ts'

export type Checked = {
  readonly signature: Uint8Array
  readonly bytes: Uint8Array
  readonly key: Uint8Array
}

type Verify = (signature: Uint8Array, bytes: Uint8Array, key: Uint8Array) => boolean
type Asked = { readonly checked: Checked; readonly resolve: (good: boolean) => void }

// A message to a thread and back takes as long as one or two verifications.
const MANY = 8
const LENGTH_BYTES = 4

// As text, so that Node starts it from the sources and from the build alike.
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads')
const sodium = require(workerData.sodium)
parentPort.on('message', (packed) => {
  const view = new DataView(packed.buffer)
  const good = []
  for (let at = 0; at < packed.length; ) {
    const keyAt = at + ${LENGTH_BYTES}
    const signatureAt = keyAt + ${KEY_BYTES}
    const bytesAt = signatureAt + ${SIGNATURE_BYTES}
    const end = bytesAt + view.getUint32(at)
    const key = packed.subarray(keyAt, signatureAt)
    const signature = packed.subarray(signatureAt, bytesAt)
    const bytes = packed.subarray(bytesAt, end)
    good.push(sodium.crypto_sign_verify_detached(signature, bytes, key) ? 1 : 0)
    at = end
  }
  parentPort.postMessage(Uint8Array.from(good))
})
`

/** Checks like `verify`, which is the same function here; `place` is where the thread finds it. */
export function createAside(
  verify: Verify,
  place: () => string = () => createRequire(import.meta.url).resolve('sodium-native'),
): (checked: Checked) => Promise<boolean> {
  let gathered: Asked[] = []
  let thread: Worker | undefined
  let failed = false
  const owed: (readonly Asked[])[] = []

  function checkHere(asked: readonly Asked[]): void {
    for (const { checked, resolve } of asked) {
      resolve(verify(checked.signature, checked.bytes, checked.key))
    }
  }

  function fail(): void {
    if (failed) return
    failed = true
    for (const asked of owed.splice(0)) checkHere(asked)
  }

  function take(good: Uint8Array): void {
    for (const [at, { resolve }] of (owed.shift() ?? []).entries()) resolve(good[at] === 1)
    if (owed.length === 0) thread?.unref()
  }

  function start(): Worker {
    const workerData = { sodium: place() }
    const started = new Worker(THREAD, { eval: true, workerData, execArgv: [] })
    started.on('message', take)
    started.once('error', fail)
    started.once('exit', fail)
    return started
  }

  function flush(): void {
    const asked = gathered
    gathered = []
    // T1: nothing is checked here while others wait there.
    if (failed || (asked.length < MANY && owed.length === 0)) {
      checkHere(asked)
      return
    }
    thread ??= start()
    if (owed.length === 0) thread.ref()
    owed.push(asked)
    const packed = pack(asked)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    thread.postMessage(packed, [packed.buffer])
  }

  return (checked) =>
    new Promise((resolve) => {
      // All that is asked for in one go is there when the microtasks run.
      if (gathered.length === 0) queueMicrotask(flush)
      gathered.push({ checked, resolve })
    })
}

function pack(asked: readonly Asked[]): Uint8Array<ArrayBuffer> {
  const fixed = LENGTH_BYTES + KEY_BYTES + SIGNATURE_BYTES
  const size = asked.reduce((sum, { checked }) => sum + fixed + checked.bytes.length, 0)
  const packed = new Uint8Array(size)
  const view = new DataView(packed.buffer)
  let at = 0
  for (const { checked } of asked) {
    const { key, signature, bytes } = checked
    view.setUint32(at, bytes.length)
    packed.set(key, at + LENGTH_BYTES)
    packed.set(signature, at + LENGTH_BYTES + KEY_BYTES)
    packed.set(bytes, at + fixed)
    at += fixed + bytes.length
  }
  return packed
}
