/** `chimera ledger`: what an owner has and what moved, or the economy as a whole. */
import { checker } from '@chimera/dialects/check'
import { schema } from '@chimera/dialects/chorus'
import { centsOf } from '@chimera/dialects/wire'
import { setting } from '@chimera/host/settings/declare'
import { whole } from '@chimera/host/settings/kinds'
import { Command } from 'commander'
import { askHub, understand } from '../ask.ts'
import { HUB_ADDRESS, HUB_TOKEN, readFlags } from '../flags.ts'
import { type Column, printJson, printTable, writeCredits } from '../show.ts'

const ASKED = {
  ...HUB_ADDRESS,
  ...HUB_TOKEN,
  limit: setting(whole({ least: 1, most: 1_000 }), {
    fallback: 20,
    about: 'How many transfers to list, the latest first.',
  }),
} as const

const BALANCES: readonly Column[] = [{ title: 'OWNER' }, { title: 'BALANCE', align: 'right' }]

export function ledgerVerb(): Command {
  return new Command('ledger')
    .description('Balances and transfers: of one owner, or of everybody')
    .argument('[owner]', 'Whose account; without one, the whole economy')
    .option('--hub <address>', ASKED.hub.about)
    .option('--token-file <file>', ASKED.token.about)
    .option('--limit <count>', ASKED.limit.about)
    .option('--json', 'Print one JSON object with all of it.')
    .addHelpText(
      'after',
      `
Examples:
  chimera ledger
  chimera ledger alice --limit 100
  chimera ledger alice --json | jq .account.balance`,
    )
    .action(run)
}

type Options = Readonly<Record<string, unknown>> & { readonly json?: boolean }

async function run(owner: string | undefined, options: Options): Promise<void> {
  const { json = false, ...flags } = options
  const { hub, token, limit } = await readFlags(ASKED, flags)
  const query = new URLSearchParams({
    limit: String(limit),
    ...(owner !== undefined && { owner_id: owner }),
  })
  const path = owner === undefined ? '/economy' : `/accounts/${encodeURIComponent(owner)}`
  const [standing, moved] = await Promise.all([
    askHub(hub, path, { token }),
    askHub(hub, `/audit?${query.toString()}`, { token }),
  ])
  const { transactions } = understand(moved, { check: checker(schema.AuditList), hub })
  if (json) {
    const named = owner === undefined ? { economy: standing } : { account: standing }
    return printJson({ ...named, transactions })
  }
  if (owner === undefined) showEconomy(standing, hub)
  else {
    const account = understand(standing, { check: checker(schema.Account), hub })
    printTable(BALANCES, [[account.owner_id, writeCredits(centsOf(account.balance))]])
  }
  if (transactions.length === 0) return console.error('Nothing was transferred yet.')
  console.log()
  printTable(
    [
      { title: 'WHEN' },
      { title: 'FROM' },
      { title: 'TO' },
      { title: 'AMOUNT', align: 'right' },
      { title: 'JOB' },
    ],
    transactions.map((each) => [
      each.timestamp_utc,
      each.from_owner,
      each.to_owner,
      writeCredits(centsOf(each.amount)),
      each.job_id,
    ]),
  )
}

function showEconomy(answer: unknown, hub: string): void {
  // Balances are as many as there are accounts, which no bound on a message allows for.
  const { all_balances: balances, ...figures } = Object(answer) as Record<string, unknown>
  const economy = understand(figures, { check: checker(schema.Economy), hub })
  printTable(
    [{ title: 'ACCOUNTS' }, { title: 'TRANSFERS' }, { title: 'VOLUME', align: 'right' }],
    [
      [
        economy.total_accounts,
        economy.total_transactions,
        writeCredits(centsOf(economy.total_volume)),
      ],
    ],
  )
  // An economy whose balances are not for this caller's eyes has none of them.
  if (typeof balances !== 'object' || balances === null) return
  const owners = Object.entries(balances).filter(([, balance]) => typeof balance === 'number')
  if (owners.length === 0) return
  console.log()
  printTable(
    BALANCES,
    owners.map(([owner, balance]) => [owner, writeCredits(centsOf(Number(balance)))]),
  )
}
