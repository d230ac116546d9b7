/**
 * A process that is made to be killed: it orders payments, holds and reservations without end,
 * seals on the side, and prints a line for each answer that it got. Started with an address and a
 * seed; from its input it reads what those before it were answered, and proves that first.
 */
import { text } from 'node:stream/consumers'
import type { IdempotencyKey } from '@chimera/domain/ids'
import type { BookingCommand } from '@chimera/domain/work/booking'
import { openDatabase } from '../src/engine/open.ts'
import { createSealer } from '../src/facts/sealer.ts'
import { createLedger } from '../src/ledger/ledger.ts'
import { migrate } from '../src/migrate.ts'
import { answerOf, asked, capture, confirm, giveUp, hold, open, pay, reserve } from './books.ts'
import { createHands, digestOf, START } from './hands.ts'
import { OWNED, proveAcknowledged } from './proof.ts'

const OWNERS = 6
const AT_ONCE = 12

const [, , address = '', seed = '1'] = process.argv
const hands = createHands(Number(seed))
const { below } = hands.chance

const database = await openDatabase(address)
await migrate(database, { now: START })
const before = (await text(process.stdin)).split('\n').filter((line) => line !== '')
await proveAcknowledged(database, before)
// Few in a batch, so that there are two of them at once.
const ledger = createLedger({ database, ...hands, most: 4, lanes: 2 })

/** The line is out before the next command is made: pipes are written at once. */
async function order(id: string, command: BookingCommand): Promise<boolean> {
  const remember = {
    scope: { requester: 'hammer', responder: 'ledger', key: id as IdempotencyKey },
    content: digestOf(command),
    answer: () => id,
  }
  const submitted = await ledger.submit({ ...asked(command), remember })
  process.stdout.write(`${id} ${answerOf(submitted).replaceAll(' ', '+')}\n`)
  return submitted.decision.ok
}

async function hammer(lane: number): Promise<never> {
  for (let turn = 0; ; turn += 1) {
    const id = `${seed}-${lane}-${turn}`
    const from = below(OWNERS)
    const parties = { from: `o${from}`, to: `o${(from + 1 + below(OWNERS - 1)) % OWNERS}` }
    const amountCents = 20 + below(30)
    switch (below(3)) {
      case 0:
        await order(`pay:${id}`, pay(id, parties, 1 + below(50)))
        continue
      case 1:
        if (!(await order(`hold:${id}`, hold(id, parties, amountCents)))) continue
        await work(id)
        continue
      default: {
        // Of this process alone: what it leaves behind when it is killed does not lapse, since
        // time stands still.
        const on = `i-${seed}-${below(2)}`
        const money = { ...parties, amountCents }
        const offer = reserve(id, { on, owned: OWNED, slots: 1 + below(2), money })
        if (await order(`reserve:${id}`, offer)) await work(`hold-${id}`)
      }
    }
  }
}

async function work(id: string): Promise<void> {
  await order(`confirm:${id}`, confirm(id, 10 + below(10)))
  if (below(4) === 0) await order(`giveup:${id}`, giveUp(id))
  else await order(`capture:${id}`, capture(id, 10))
}

async function sealing(): Promise<never> {
  const { seal } = createSealer({ database, digestOf, most: 20 })
  for (;;) {
    await seal()
    await hands.clock.sleep(1 + below(15))
  }
}

for (let at = 0; at < OWNERS; at += 1) await ledger.submit(asked(open(`o${at}`, 100_000)))
await Promise.all([sealing(), ...Array.from({ length: AT_ONCE }, (_, lane) => hammer(lane))])
