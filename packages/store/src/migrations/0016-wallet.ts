/**
 * Debits of wallets. On a chain: each with its nonce and its signed bytes, kept before anybody
 * sends them. Pretended: what each wallet has spent.
 *
 * Sums are texts of digits, since they have up to 77 of them and a backup passes through JSON.
 * Nothing is deleted, and of a transaction only its end may be written (K3 of the wallet's port).
 */
import { APPLICATION_ROLE } from '../engine/database.ts'
import type { Migration } from './migration.ts'

export const wallet: Migration = {
  version: 16,
  name: 'wallet',
  breaking: false,
  sql: `
-- Whoever gives a nonce holds the row of its account.
CREATE TABLE wallet_accounts (
  chain bigint NOT NULL,
  address text NOT NULL,
  PRIMARY KEY (chain, address)
);

CREATE TABLE wallet_debits (
  key text NOT NULL,
  attempt bigint NOT NULL,
  content text NOT NULL,
  chain bigint NOT NULL,
  address text NOT NULL,
  asset text NOT NULL,
  units text NOT NULL CHECK (units ~ '^[0-9]{1,78}$'),
  fee_units text NOT NULL CHECK (fee_units ~ '^[0-9]{1,78}$'),
  -- JSON as text: it may have characters that a column of text has not.
  description text NOT NULL,
  since_block bigint NOT NULL,
  at bigint NOT NULL,
  nonce bigint NOT NULL,
  bytes text NOT NULL,
  hash text NOT NULL,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'confirmed', 'failed')),
  -- How it ended, and the transaction that is on the chain.
  end_hash text,
  end_why text,
  end_block bigint,
  end_units text,
  end_at bigint,
  PRIMARY KEY (key, attempt),
  UNIQUE (chain, address, nonce),
  CHECK ((state = 'open') = (end_at IS NULL))
);
-- Of all transactions under a key one may take effect (W2).
CREATE UNIQUE INDEX wallet_debits_one ON wallet_debits (key) WHERE state <> 'failed';
CREATE INDEX wallet_debits_open ON wallet_debits (chain, address, nonce) WHERE state = 'open';

CREATE TABLE wallet_purses (
  wallet text NOT NULL,
  currency text NOT NULL,
  spent text NOT NULL CHECK (spent ~ '^[0-9]{1,78}$'),
  PRIMARY KEY (wallet, currency)
);

CREATE TABLE wallet_purse_debits (
  key text PRIMARY KEY,
  content text NOT NULL,
  wallet text NOT NULL,
  currency text NOT NULL,
  units text NOT NULL,
  description text NOT NULL,
  at bigint NOT NULL,
  balance_units text NOT NULL
);

GRANT SELECT, INSERT, UPDATE ON wallet_accounts, wallet_purses TO ${APPLICATION_ROLE};
GRANT SELECT, INSERT ON wallet_debits, wallet_purse_debits TO ${APPLICATION_ROLE};
GRANT UPDATE (state, end_hash, end_why, end_block, end_units, end_at) ON wallet_debits
  TO ${APPLICATION_ROLE};
`,
}
