/** The published schemas by name: what `/schemas` serves and the OpenAPI document refers to. */
import { DIALECTS } from '@chimera/dialects/dialects'
import type { Messages } from '@chimera/dialects/messages'

export type Message = `${string}/${string}`

/** A message by dialect and name; undefined when there is none of that name. */
export function messageOf(message: Message): Messages[string] | undefined {
  const [dialect = '', name = ''] = message.split('/')
  const dialects: Readonly<Record<string, Messages>> = DIALECTS
  const messages = Object.hasOwn(dialects, dialect) ? dialects[dialect] : undefined
  return messages && Object.hasOwn(messages, name) ? messages[name] : undefined
}

export function schemaOf(dialect: string, message: string): Messages[string]['schema'] | undefined {
  return messageOf(`${dialect}/${message}`)?.schema
}

export function schemaNames(): readonly Message[] {
  return Object.entries(DIALECTS).flatMap(([dialect, messages]) =>
    Object.keys(messages).map((message): Message => `${dialect}/${message}`),
  )
}
