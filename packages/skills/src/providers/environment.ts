/**
 * Providers by variables alone, for whoever has no settings file: the usual names of keys, and ours
 * for the rest. A part that the settings say themselves is not looked for here.
 */
import type { Environment } from './secrets.ts'
import type { ProviderSettings, SecretPlace } from './settings.ts'

/** What each variable does, for the pages and the help. */
// biome-ignore format: a table is read by its columns
export const PROVIDER_VARIABLES = {
  GEMINI_API_KEY:             'a key of Google: gemini-3-flash is asked',
  OPENAI_API_KEY:             'a key of OpenAI: gpt-4o-mini is asked, or is the fallback',
  CHIMERA_MODEL_URL:          'the base address of a server that speaks the language of OpenAI; asked first',
  CHIMERA_MODEL:              'the model to ask for there',
  CHIMERA_MODEL_KEY:          'its key, where it needs one',
  CHIMERA_HUB:                'the hub at which agents are registered',
  CHIMERA_TOKEN:              'the token to present to it, or CHIMERA_TOKEN_FILE',
  CHIMERA_AGENT_KEY_FILE:     'the file of the key of the agent, which signs its profile',
  CHIMERA_WALLET_RPC_BASE:    'a node of Base, and _MAINNET and _SEPOLIA alike',
  CHIMERA_WALLET_PAYEE:       'the address that debits go to',
  CHIMERA_WALLET_KEY_FILE:    'the file of the key that signs debits, or CHIMERA_WALLET_KEY',
  CHIMERA_ALLOW_NET:          'private networks that may be dialled, separated by commas',
} as const satisfies Readonly<Record<string, string>>

export function withEnvironment(
  settings: ProviderSettings,
  environment: Environment,
): ProviderSettings {
  const models = settings.models ?? modelsIn(environment)
  const hub = settings.hub ?? hubIn(environment)
  const wallet = settings.wallet ?? walletIn(environment)
  const allowNet = settings.allowNet ?? listIn(environment.CHIMERA_ALLOW_NET)
  return {
    ...settings,
    ...(models.length > 0 && { models }),
    ...(hub && { hub }),
    ...(wallet && { wallet }),
    ...(allowNet.length > 0 && { allowNet }),
  }
}

type Models = NonNullable<ProviderSettings['models']>

function modelsIn(environment: Environment): Models {
  const { CHIMERA_MODEL_URL: url, CHIMERA_MODEL: name } = environment
  const own: Models =
    isSet(url) && isSet(name)
      ? [{ name, kind: 'compatible', url, ...keyIn(environment, 'CHIMERA_MODEL_KEY') }]
      : []
  const google = ['GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'].find((env) =>
    isSet(environment[env]),
  )
  return [
    ...own,
    ...(google === undefined
      ? []
      : [{ name: 'gemini-3-flash', kind: 'google' as const, key: { env: google } }]),
    ...(isSet(environment.OPENAI_API_KEY)
      ? [{ name: 'gpt-4o-mini', kind: 'openai' as const, key: { env: 'OPENAI_API_KEY' } }]
      : []),
  ]
}

function hubIn(environment: Environment): ProviderSettings['hub'] {
  const { CHIMERA_HUB: url, CHIMERA_AGENT_KEY_FILE: key } = environment
  if (!isSet(url)) return undefined
  const token = placeIn(environment, 'CHIMERA_TOKEN')
  return { url, ...(token && { token }), ...(isSet(key) && { key }) }
}

function walletIn(environment: Environment): ProviderSettings['wallet'] {
  const {
    CHIMERA_WALLET_RPC_MAINNET: mainnet,
    CHIMERA_WALLET_RPC_BASE: base,
    CHIMERA_WALLET_RPC_SEPOLIA: sepolia,
    CHIMERA_WALLET_PAYEE: payee,
  } = environment
  if (![mainnet, base, sepolia].some(isSet)) return undefined
  return {
    rpc: {
      ...(isSet(mainnet) && { mainnet: { env: 'CHIMERA_WALLET_RPC_MAINNET' } }),
      ...(isSet(base) && { base: { env: 'CHIMERA_WALLET_RPC_BASE' } }),
      ...(isSet(sepolia) && { sepolia: { env: 'CHIMERA_WALLET_RPC_SEPOLIA' } }),
    },
    ...(isSet(payee) && { payee }),
    ...keyIn(environment, 'CHIMERA_WALLET_KEY'),
  }
}

function keyIn(environment: Environment, name: string): { key?: SecretPlace } {
  const key = placeIn(environment, name)
  return key ? { key } : {}
}

function placeIn(environment: Environment, name: string): SecretPlace | undefined {
  const file = environment[`${name}_FILE`]
  if (isSet(file)) return { file }
  return isSet(environment[name]) ? { env: name } : undefined
}

const listIn = (text = ''): string[] =>
  text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))

const isSet = (value: string | undefined): value is string => value !== undefined && value !== ''
