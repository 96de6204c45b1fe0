// What a pass answers and records, on a real chain with several things in one run: sales, wrong amounts, dust, value that no transaction explains, and payments
// that cannot be judged. Each count is that of the rows that the run wrote, and the record says what the answer says.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { CreditOutcome, PaymentsOutcome } from '../../../src/ports/outcomes.ts'
import { payInside, putForwarder, traceNothing } from '../../support/forwarder.ts'
import { cases } from '../../support/property.ts'
import { ETHER, startWorld, type World } from '../../support/world.ts'

const BASIC = ETHER / 100n
/** A tier whose buyers must hold tokens, so that each payment asks the chain. */
const FOUNDER = ETHER / 20n
/** An amount whose payments cannot be judged for a while. */
const ODD = BASIC + 3n

let world: World
let isUnreadable = false
before(async () => {
  world = await startWorld({ reconcileEverySec: 86_400 })
  await putForwarder(world)
  traceNothing(world)
  const { holding } = world.ctx.chain
  Object.assign(world.ctx.chain, {
    holding: (...asked: Parameters<typeof holding>) => (isUnreadable ? Promise.resolve(null) : holding(...asked)),
  })
  // While a row says so, payments of one amount cannot be judged.
  await world.pool.unsafe(`
    CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM payments WHERE id = NEW.payment_id AND value_wei = ${ODD}) AND NEW.decided_by = 'pass'
        AND EXISTS (SELECT FROM troubles WHERE name = 'odd') THEN RAISE EXCEPTION 'odd'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER odd BEFORE INSERT ON payment_verdicts FOR EACH ROW EXECUTE FUNCTION odd()`)
  await world.settle()
})
after(() => world.close())

interface Seen {
  cursor: number
  payments: number
  heldByPass: number
  nodes: number
  pending: number
  succeededAt: string | null
}

async function look(): Promise<Seen> {
  const [row] = await world.pool<Seen[]>`
    SELECT (SELECT block_number FROM cursors) AS cursor, (SELECT count(*) FROM payments WHERE tx_hash IS NOT NULL) AS payments,
      (SELECT count(*) FROM payment_verdicts WHERE verdict = 'held' AND decided_by = 'pass') AS "heldByPass",
      (SELECT count(*) FROM nodes) AS nodes,
      (SELECT count(*) FROM payments WHERE state IN ('seen', 'accepted', 'minting')) AS pending,
      (SELECT succeeded_at::text FROM passes WHERE name = 'payments') AS "succeededAt"`
  return row ?? assert.fail('no row')
}

/** Payments of the odd amount that are not judged yet. */
async function countOdd(): Promise<number> {
  const [row] = await world.pool<{ count: number }[]>`
    SELECT count(*) AS count FROM payments WHERE state = 'seen' AND value_wei = ${ODD.toString()}`
  return row?.count ?? 0
}

const record = async (name: string) => {
  const [row] = await world.pool<{ outcome: unknown; error: string | null }[]>`
    SELECT outcome, error FROM passes WHERE name = ${name}`
  return row
}
/** As JSON has it. */
const json = (outcome: PaymentsOutcome | CreditOutcome) =>
  JSON.parse(JSON.stringify(outcome, (_, value) => (typeof value === 'bigint' ? String(value) : value)))

const round = fc.record({
  sales: fc.constantFrom(0, 1, 2),
  wrong: fc.constantFrom(0, 1, 2),
  dust: fc.constantFrom(0, 1),
  residues: fc.constantFrom(0, 0, 1, 2),
  founders: fc.constantFrom(0, 0, 1),
  odd: fc.constantFrom(0, 1, 2),
  isUnreadable: fc.boolean(),
  isOdd: fc.boolean(),
  blocks: fc.constantFrom(0, 1, 2),
})
type Round = typeof round extends fc.Arbitrary<infer T> ? T : never

async function play({ sales, wrong, dust, residues, founders, odd, blocks }: Round): Promise<void> {
  for (let n = 0; n < sales; n++) await world.pay(5, BASIC)
  for (let n = 0; n < wrong; n++) await world.pay(6, BASIC + 1n)
  for (let n = 0; n < dust; n++) await world.pay(7, 5n)
  for (let n = 0; n < founders; n++) await world.pay(8, FOUNDER)
  for (let n = 0; n < odd; n++) await world.pay(10, ODD)
  for (let n = 0; n < residues; n++) await payInside(world, BASIC + 7n + BigInt(n))
  for (let n = 0; n < blocks; n++) await world.chain.mine()
}

async function compareRun(): Promise<void> {
  const former = await look()
  const outcome = await world.payments()
  const now = await look()
  const head = Number((await world.chain.block()).number)
  const moved = now.cursor > former.cursor
  const expected = {
    ...{ ran: true, headBlock: head, fromBlock: moved ? former.cursor + 1 : null, toBlock: moved ? now.cursor : null },
    ...{ detected: now.payments - former.payments, minted: now.nodes - former.nodes },
    ...{ held: now.heldByPass - former.heldByPass, pending: now.pending, reconciled: 0 },
  }
  const { signer: _, budgetSpent: _b, durationMs, ...told } = outcome
  assert.deepEqual(told, expected)
  assert.ok(durationMs !== null && durationMs >= 0)
  const recorded = await record('payments')
  assert.deepEqual(recorded?.outcome, json(outcome))
  // What could not be judged is still to be judged, and the record says how many those are.
  const failed = await countOdd()
  const fault = failed === 0 ? null : `${failed} payments could not be judged: see the log`
  assert.equal(recorded?.error, fault)
  assert.equal(now.succeededAt === former.succeededAt, failed > 0)
}

test('a payments pass answers and records what its rows show, in any combination', async () => {
  const compare = async (rounds: Round[]) => {
    for (const one of rounds) {
      isUnreadable = one.isUnreadable
      if (one.isOdd) await world.pool`INSERT INTO troubles (name, value) VALUES ('odd', '1')`
      await play(one)
      await compareRun()
      isUnreadable = false
      await world.pool`DELETE FROM troubles WHERE name = 'odd'`
    }
  }
  const rounds = fc.array(round, { minLength: 3, maxLength: 4 })
  await fc.assert(fc.asyncProperty(rounds, compare), { numRuns: cases(3), endOnFailure: true })
})
