/**
 * The peer of the round trip: the server of the A2A project's own SDK, as its samples put it
 * together, with an executor that does as little as can be. Nobody is asked who it is, nothing is
 * signed, and tasks are kept in memory.
 */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import { type AgentCard, Role, TaskState } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
} from '@a2a-js/sdk/server'
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import { answerIn } from './process-of.ts'

/** `message`: answers at once and keeps nothing; `task`: a task that is kept and completed. */
export type A2aTold = 'message' | 'task'

const CARD: AgentCard = {
  name: 'Word count',
  description: 'Counts words',
  supportedInterfaces: [
    { url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' },
  ],
  provider: undefined,
  version: '1.0.0',
  capabilities: { streaming: false, pushNotifications: false, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [
    {
      id: 'word_count',
      name: 'Word count',
      description: 'Counts words',
      tags: [],
      examples: [],
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
    },
  ],
  signatures: [],
}

function executorOf(told: A2aTold): AgentExecutor {
  return {
    async execute({ userMessage, taskId, contextId }, bus) {
      const part = userMessage.parts[0]
      const text = part?.content?.$case === 'text' ? part.content.value : ''
      const words = String(text.split(/\s+/).length)
      const message = {
        messageId: taskId,
        contextId,
        taskId: told === 'task' ? taskId : '',
        role: Role.ROLE_AGENT,
        parts: [
          {
            content: { $case: 'text', value: words } as const,
            metadata: undefined,
            filename: '',
            mediaType: '',
          },
        ],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      }
      if (told === 'message') bus.publish(AgentEvent.message(message))
      else {
        const status = { state: TaskState.TASK_STATE_COMPLETED, message, timestamp: undefined }
        const task = { id: taskId, contextId, artifacts: [], history: [], metadata: undefined }
        bus.publish(AgentEvent.task({ ...task, status }))
      }
      bus.finished()
    },
    cancelTask: async () => undefined,
  }
}

/** As much of Express as is used here: it brings no types. */
type Express = () => RequestListener & {
  readonly use: (handler: ReturnType<typeof jsonRpcHandler>) => void
}
const express: Express = createRequire(import.meta.url)('express')

answerIn(async (told: A2aTold) => {
  const requestHandler = new DefaultRequestHandler(CARD, new InMemoryTaskStore(), executorOf(told))
  const app = express()
  app.use(jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
  const server = createServer({ keepAliveTimeout: 600_000 }, app)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' ? address?.port : undefined
})
