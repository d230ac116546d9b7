/**
 * Why an MCP server gave no answer.
 *
 *   F1  Branch on `code`. The message is for callers and names nothing of the server; `detail` is
 *       for the operator: cleaned, short, and without the secrets that we gave to the server.
 *   F2  `sent` says whether the server may have acted on the question. Where it is false nothing
 *       came of it, for sure.
 */
// biome-ignore format: a table is read by its columns
const SENTENCES = {
  unreachable:   'The MCP server could not be reached, or broke off.',
  timeout:       'The MCP server did not answer in time.',
  cancelled:     'The question to the MCP server was given up.',
  too_large:     'The MCP server answered with more than is read.',
  rate_limited:  'The MCP server takes no more questions for now.',
  denied:        'The MCP server does not take the credentials.',
  refused:       'The MCP server refused the question.',
  rubbish:       'The MCP server answered with something that makes no sense here.',
  misconfigured: 'The MCP server is not set up as its settings say.',
  closed:        'The connection to the MCP server is closed.',
} as const

export type McpFailureCode = keyof typeof SENTENCES

export class McpFailure extends Error {
  override readonly name = 'McpFailure'
  readonly code: McpFailureCode
  readonly detail: string
  readonly sent: boolean
  /** What a tool gave as data beside its refusal, cleaned. */
  readonly data?: unknown

  constructor(
    code: McpFailureCode,
    detail: string,
    { sent = false, data }: { readonly sent?: boolean; readonly data?: unknown } = {},
  ) {
    super(SENTENCES[code])
    this.code = code
    this.detail = detail
    this.sent = sent
    if (data !== undefined) this.data = data
  }
}
