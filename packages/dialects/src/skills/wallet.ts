/**
 * What the two wallet skills take and give. An amount is a decimal number on the wire and whole
 * base units inside; see units.ts.
 */
import { type Static, Type } from 'typebox'
import { requiredIf } from '../required-if.ts'
import { DateTime, textUpTo, Uuid } from '../wire.ts'
import { preset } from './defaults.ts'
import { CURRENCIES, Currency } from './units.ts'
import { WalletAddress, Word } from './words.ts'

const NETWORKS = ['mainnet', 'base', 'sepolia'] as const
const Network = Type.Enum(NETWORKS)
export type Network = Static<typeof Network>
const networkOrBase = () => preset(Type.Enum(NETWORKS, { default: 'base' }))
/** The native coin of Base is nowhere else. */
const baseOnBase = requiredIf('currency', 'BASE', [], { network: { const: 'base' } })

const Simulated = Type.Literal(true, {
  description: 'There is no chain: the money is pretended, and no network is named',
})
/** Real money is on a network, which is named; pretended money is on none. */
const networkUnlessSimulated = {
  if: { properties: { simulated: { const: true } }, required: ['simulated'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { not: { required: ['network'] } },
  else: { required: ['network'] },
}

export const FetchWalletBalanceInput = Type.Object(
  {
    wallet_address: WalletAddress,
    currency: preset(Type.Enum(CURRENCIES, { default: 'USDC' })),
    network: networkOrBase(),
  },
  { title: 'fetch_wallet_balance input', allOf: [baseOnBase] },
)
export type FetchWalletBalanceInput = Static<typeof FetchWalletBalanceInput>

export const FetchWalletBalanceOutput = Type.Object(
  {
    wallet_address: WalletAddress,
    balance: Type.Number({ minimum: 0 }),
    balance_units: Type.Optional(
      Type.String({
        pattern: '^(0|[1-9][0-9]{0,76})$',
        description: 'The same in whole base units, exactly; the number beside it may be rounded',
      }),
    ),
    currency: Currency,
    last_updated: DateTime,
    network: Type.Optional(Network),
    simulated: Type.Optional(Simulated),
    stale: Type.Optional(
      Type.Boolean({ description: 'The network was down; a stale balance authorises no debit' }),
    ),
  },
  { title: 'fetch_wallet_balance output', allOf: [baseOnBase, networkUnlessSimulated] },
)
export type FetchWalletBalanceOutput = Static<typeof FetchWalletBalanceOutput>

export const DebitWalletInput = Type.Object(
  {
    wallet_address: WalletAddress,
    amount: Type.Number({
      minimum: 0.01,
      description: 'With at most the decimals of the currency: USDC 6, ETH and BASE 18',
    }),
    currency: Currency,
    network: networkOrBase(),
    tx_description: textUpTo(200),
    idempotency_key: Uuid,
  },
  { title: 'debit_wallet input', allOf: [baseOnBase] },
)
export type DebitWalletInput = Static<typeof DebitWalletInput>

export const DebitWalletOutput = Type.Object(
  {
    success: Type.Boolean(),
    tx_id: Type.Optional(Word),
    amount_deducted: Type.Optional(Type.Number({ minimum: 0 })),
    new_balance: Type.Optional(Type.Number({ minimum: 0 })),
    confirmed_at: Type.Optional(DateTime),
    simulated: Type.Optional(Simulated),
  },
  {
    title: 'debit_wallet output',
    allOf: [
      requiredIf('success', true, ['tx_id', 'amount_deducted', 'new_balance', 'confirmed_at']),
      // No partial debit: what did not succeed took nothing.
      requiredIf('success', false, [], { amount_deducted: { const: 0 } }),
    ],
  },
)
export type DebitWalletOutput = Static<typeof DebitWalletOutput>
