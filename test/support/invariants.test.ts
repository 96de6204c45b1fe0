// Tests the invariants themselves: each one detects its own breach.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkInvariants } from './invariants.ts'
import { ETHER, INTERVAL_SEC, startWorld, type World } from './world.ts'

/** An amount that matches no price and is not dust. */
const CHANGE = 10n ** 14n

let world: World
before(async () => {
  // Without the reconciler, which would repair or report what we break here.
  world = await startWorld({ reconcileEverySec: 1_000_000 })
  await world.settle()
  await world.pay(5, ETHER / 100n)
  await world.pay(6, ETHER / 40n)
  await world.pay(6, CHANGE)
  await world.pay(6, 1n)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  await world.act(5, 'withdraw', [1n, world.at(5), 10n])
  await world.rest()
})
after(() => world.close())

const HASH = `0x${'77'.repeat(32)}`
const broken: [string, string, string, RegExp][] = [
  [
    'a payment that was lost',
    `DELETE FROM payment_verdicts; DELETE FROM payments WHERE value_wei = ${CHANGE}`,
    '',
    /I1/,
  ],
  [
    'a payment of another amount',
    `UPDATE payments SET value_wei = value_wei + 1 WHERE state = 'held'`,
    `UPDATE payments SET value_wei = value_wei - 1 WHERE state = 'held'`,
    /I1/,
  ],
  [
    'dust of another amount',
    `UPDATE dust SET value_wei = value_wei + 1`,
    `UPDATE dust SET value_wei = value_wei - 1`,
    /I1/,
  ],
  [
    'an owner that is not the owner',
    `UPDATE nodes SET owner = '${`0x${'99'.repeat(20)}`}' WHERE node_id = 1`,
    `UPDATE nodes SET owner = (SELECT to_address FROM node_transfers WHERE node_id = 1) WHERE node_id = 1`,
    /I4: node 1/,
  ],
  [
    'a withdrawal that was not counted',
    `UPDATE nodes SET withdrawn_wei = 9 WHERE node_id = 1`,
    `UPDATE nodes SET withdrawn_wei = 10 WHERE node_id = 1`,
    /I4: node 1/,
  ],
  [
    'a cohort that is due at another time',
    `UPDATE cohorts SET next_due = next_due + 1 WHERE size > 0`,
    `UPDATE cohorts SET next_due = next_due - 1 WHERE size > 0`,
    /I4: cohort/,
  ],
  [
    'a round of another total',
    `UPDATE rounds SET total_wei = total_wei + 1`,
    `UPDATE rounds SET total_wei = total_wei - 1`,
    /I5/,
  ],
  [
    'a turn whose seed is not the published block',
    `UPDATE turns SET seed_block = seed_block - 1`,
    `UPDATE turns SET seed_block = seed_block + 1`,
    /I5/,
  ],
  [
    'a turn that does not recompute',
    `UPDATE turns SET payout_bps = payout_bps + 1`,
    `UPDATE turns SET payout_bps = payout_bps - 1`,
    /I5: a published turn/,
  ],
  [
    'totals that drifted',
    `UPDATE totals SET sales_wei = sales_wei + 1`,
    `UPDATE totals SET sales_wei = sales_wei - 1`,
    /kept totals/,
  ],
  [
    'a payment accepted beyond its allowance',
    `UPDATE payment_verdicts SET evidence = jsonb_set(evidence, '{nodesOfTier}', '99') WHERE verdict = 'accepted'`,
    `UPDATE payment_verdicts SET evidence = jsonb_set(evidence, '{nodesOfTier}', '0') WHERE verdict = 'accepted'`,
    /I8/,
  ],
  [
    'a transaction that was never stored',
    `UPDATE outbox_attempts SET tx_hash = '${HASH}' WHERE outbox_id = 1`,
    `UPDATE outbox_attempts SET tx_hash = (SELECT tx_hash FROM outbox WHERE id = 1) WHERE outbox_id = 1`,
    /I7/,
  ],
  [
    'a header that is missing',
    `CREATE TABLE kept AS SELECT * FROM blocks WHERE number = 3; DELETE FROM blocks WHERE number = 3`,
    `INSERT INTO blocks SELECT * FROM kept; DROP TABLE kept`,
    /I9/,
  ],
]

test('a world in order passes', () => checkInvariants(world))

// The lost payment stays lost, so it comes last.
for (const [what, breaks, mends, found] of [...broken.slice(1), ...broken.slice(0, 1)]) {
  test(`the invariants find ${what}`, async () => {
    await world.pool.unsafe(breaks)
    await assert.rejects(checkInvariants(world), found)
    if (mends) await world.pool.unsafe(mends)
  })
}
