/**
 * `chimera audit`: writes the trail to a file, and proves such a file without a hub, a database or
 * a network (P-10).
 */
import { type Score, scoresOf } from '@chimera/domain/claims'
import type { AgentId } from '@chimera/domain/ids'
import { shownHundredths } from '@chimera/domain/trust/running-score'
import { NEWCOMER, type Standing } from '@chimera/domain/trust/trust'
import { createScores, type Scores as HubScores } from '@chimera/hub/views/scores'
import { canonicalDigest } from '@chimera/identity/canonical'
import type { Database } from '@chimera/store/engine/database'
import { createSealer } from '@chimera/store/facts/sealer'
import { type TrailView, viewTrail } from '@chimera/store/facts/view'
import { requireSchema } from '@chimera/store/migrate'
import { Command } from 'commander'
import { encodeClaims, encodeFact, headOf, writeHead } from '../audit-file.ts'
import { type Put, refuseTaken, writeLines } from '../line-file.ts'
import { type Break, type Proof, proveFile } from '../proof.ts'
import { plain, printJson, printTable, writeCredits } from '../show.ts'
import { type StorageFlags, useDatabase, withStorageFlags } from '../storage.ts'
import { FAILED, MISUSED, Trouble } from '../trouble.ts'

export function auditVerb(): Command {
  return new Command('audit')
    .description('Write the trail to a file, and prove such a file offline')
    .addCommand(
      withStorageFlags(new Command('export'))
        .description('Every sealed fact as a line of JSON, after a line with what is claimed')
        .option('--out <file>', 'Where to write; standard output otherwise.')
        .action(exportTrail),
    )
    .addCommand(
      new Command('verify')
        .description('Walk the chain and derive every balance and score again; exit 1 on a break')
        .argument('<file>', 'What `chimera audit export` wrote')
        .option('--until <seq:hash>', 'A head that you kept, which must still be in the chain.')
        .option('--json', 'Print one JSON object with what was derived and what differs.')
        .action(verify),
    )
    .addHelpText(
      'after',
      `
Examples:
  chimera audit export --out trail.jsonl
  chimera audit export --database postgres://chimera@127.0.0.1/chimera | gzip > trail.jsonl.gz
  chimera audit verify trail.jsonl
  chimera audit verify trail.jsonl --until 1042:9f86d081884c7d65…`,
    )
}

type ExportFlags = StorageFlags & { readonly out?: string }

async function exportTrail({ out, ...storage }: ExportFlags): Promise<void> {
  if (out !== undefined) refuseTaken(out)
  await useDatabase(storage, {}, async (database) => {
    await requireSchema(database)
    await sealRest(database)
    await viewTrail(database, async (view) => {
      const fill = (put: Put) => writeTrail(view, put)
      await (out === undefined ? fill(putOut) : writeLines(out, fill))
      const { seq } = view.head
      console.error(`${seq} facts${out === undefined ? '' : ` in ${out}`}; the head of the chain:`)
      console.error(writeHead(view.head))
      console.error('Keep it apart from the file: it proves that nothing was rewritten later.')
    })
  })
}

/** What a hub that was killed had no time for. */
async function sealRest(database: Database): Promise<void> {
  await createSealer({ database, digestOf: canonicalDigest }).seal()
}

async function writeTrail({ head, balances, walk }: TrailView, put: Put): Promise<void> {
  const scores = createScores()
  for await (const page of walk()) scores.follow(page)
  await put(encodeClaims({ head, balances, scores: scoresOf(standingsIn(scores)) }))
  for await (const page of walk()) for (const sealed of page) await put(encodeFact(sealed))
}

/** As the hub publishes them. Whoever has done nothing yet has nothing to claim. */
function standingsIn({ memory, standingOf }: HubScores): ReadonlyMap<AgentId, Standing> {
  const all = [...memory.owners.keys()].map((agent) => [agent, standingOf(agent)] as const)
  return new Map(all.filter(([, standing]) => standing !== NEWCOMER))
}

/** Waits for whoever reads the pipe. */
async function putOut(line: string): Promise<void> {
  if (process.stdout.write(`${line}\n`)) return
  await new Promise<void>((resolve) => void process.stdout.once('drain', resolve))
}

type VerifyFlags = { readonly until?: string; readonly json?: boolean }

function verify(file: string, { until, json = false }: VerifyFlags): void {
  const known = until === undefined ? undefined : headOf(until)
  if (until !== undefined && known === undefined) {
    const expected = 'a number and a hash of 64 hexadecimal digits, such as `verify` prints'
    throw new Trouble(`until, from the flag --until: expected ${expected}.`, MISUSED)
  }
  const proof = proveFile(file, known)
  if (json) printJson(encodeProof(proof))
  else if (proof.broken === undefined) showDerived(proof)
  for (const line of findingsOf(proof)) console.error(line)
  if (!proof.ok) process.exitCode = FAILED
}

// biome-ignore format: a table is read by its columns
const BREAKS: Readonly<Record<Break['kind'], string>> = {
  gap:       'it is missing',
  reordered: 'it stands elsewhere, or another comes twice',
  altered:   'the row is not what was sealed',
  unlinked:  'it does not follow on the one before: that one was replaced, or this one put in',
  truncated: 'the chain ends before the head that is known',
  rewritten: 'the chain is whole, but not the one that the known head belongs to',
  unclaimed: 'the chain goes further than the export says of itself',
}

function findingsOf(proof: Proof): readonly string[] {
  const { broken, head, count, faults, differences, scoreDifferences } = proof
  if (broken !== undefined) {
    return [`Broken at fact ${broken.seq}: ${BREAKS[broken.kind]} (${broken.kind}).`]
  }
  if (proof.ok && head !== undefined) {
    return [
      `${count} facts hold together, and every balance and score follows from them. Head:`,
      writeHead(head),
    ]
  }
  return [
    ...faults.map(({ seq, kind }) => `Broken at fact ${seq}: ${FAULTS[kind]} (${kind}).`),
    ...differences.map(({ side, derivedCents, claimedCents }) => {
      const claimed = claimedCents === undefined ? 'nothing' : writeCredits(claimedCents)
      return plain(`${side}: the facts give ${writeCredits(derivedCents)}, claimed is ${claimed}.`)
    }),
    ...scoreDifferences.map(({ agent, derived, claimed }) =>
      plain(`${agent}: the facts give ${writeScore(derived)}, claimed is ${writeScore(claimed)}.`),
    ),
  ]
}

const FAULTS = {
  posting_invalid: 'it moves credits in a way that no rule allows',
  overdrawn: 'it takes more than was there',
} as const

function showDerived({ balances, scores }: Proof): void {
  const sides = [...balances].filter(([, cents]) => cents !== 0)
  printTable(
    [{ title: 'SIDE' }, { title: 'BALANCE', align: 'right' }],
    sides.map(([side, cents]) => [side, writeCredits(cents)]),
  )
  if (scores.size === 0) return
  console.log()
  printTable(
    [{ title: 'AGENT' }, { title: 'SCORE', align: 'right' }, { title: 'WINDOW', align: 'right' }],
    [...scores].map(([agent, score]) => [agent, ...writtenScores(score)]),
  )
}

const writtenScores = ({ runningMicro, windowMicro }: Score): readonly [string, string] => [
  writeCredits(shownHundredths(runningMicro)),
  (windowMicro / 1_000_000).toFixed(6),
]

const writeScore = (score: Score | undefined): string =>
  score === undefined ? 'nothing' : writtenScores(score).join(' and ')

function encodeProof({ head, balances, scores, ...rest }: Proof): unknown {
  return {
    ...rest,
    ...(head && { head: writeHead(head) }),
    balances: Object.fromEntries(balances),
    scores: Object.fromEntries(scores),
  }
}
