/**
 * Runs in the thread of Node's module hooks: tells which local files a module is made of, also
 * those that turn out to be wrong.
 */
import type { InitializeHook, ResolveHook } from 'node:module'
import type { MessagePort } from 'node:worker_threads'

let told: MessagePort | undefined

export const initialize: InitializeHook<{ readonly port: MessagePort }> = ({ port }) => {
  told = port
}

export const resolve: ResolveHook = async (specifier, context, next) => {
  const resolved = await next(specifier, context)
  const { url } = resolved
  const isLocal = url.startsWith('file:') && !url.includes('/node_modules/')
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  if (isLocal) told?.postMessage(url)
  return resolved
}
