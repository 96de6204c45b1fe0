// The schema's own constraints: a bug in any pass fails loudly instead of writing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Pool, Sql } from '../../src/db/core/sql.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'

const A = `0x${'a1'.repeat(20)}`
const B = `0x${'b2'.repeat(20)}`
const h = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase(1, { prepare: false })
  pool = database.pool
  // One of everything: a tier, a cohort, a mined mint, its payment and node, a round with its turn, a withdrawal.
  await pool.unsafe(`
    INSERT INTO tiers (tier_id, version, tier_no, label, price_wei, max_per_wallet, payout_bps, on_sale, from_block, from_time, entered_by)
      VALUES ('basic', 1, 1, 'Basic', 100, 10, 10000, true, 1, 1, 'test');
    INSERT INTO credit_terms (from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by) VALUES (1, true, 1, 2, 100, 10, 't');
    INSERT INTO blocks VALUES (5, '${h(5)}', '${h(4)}', 50, '${h(55)}');
    INSERT INTO cohorts (cohort, tier_no, interval_sec, next_due, block_number, block_hash) VALUES (1, 1, 100, 200, 5, '${h(5)}');
    INSERT INTO outbox (kind, sender, nonce, call, gas_limit, valid_until) VALUES ('mint', '${A}', 7, '{}', 1, 900);
    INSERT INTO outbox_attempts (tx_hash, outbox_id, attempt, raw, max_fee_wei, max_priority_fee_wei, signed_at_block)
      VALUES ('${h(70)}', 1, 1, '0x00', 1, 1, 5);
    INSERT INTO payments (tx_hash, ref, wallet, from_address, value_wei, succeeded, block_number, block_hash, tx_index, block_time)
      VALUES ('${h(10)}', '${h(10)}', '${B}', '${B}', 100, true, 5, '${h(5)}', 0, now()), ('${h(11)}', '${h(11)}', '${B}', '${B}', 100, true, 5, '${h(5)}', 1, now());
    INSERT INTO nodes (node_id, owner, cohort, ref, payment_id, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at, block_number, block_hash)
      VALUES (1, '${B}', 1, '${h(10)}', 1, 0, 0, '${h(70)}', now(), 5, '${h(5)}');
    UPDATE payments SET state = 'minted', node_id = 1, tier_id = 'basic', tier_version = 1 WHERE id = 1;
    INSERT INTO rounds VALUES (1, 'treasury', 10, 1, '${h(80)}', now(), 5, '${h(5)}');
    INSERT INTO turns (round, cohort, turn_no, due, turns, amount_wei, node_count) VALUES (1, 1, 1, 200, 1, 10, 1);
    INSERT INTO withdrawals (node_id, amount_wei, withdrawn_total_wei, to_address, tx_hash, log_index, status, created_at, block_number, block_hash)
      VALUES (1, 4, 4, '${B}', '${h(90)}', 0, 'sent', now(), 5, '${h(5)}');`)
})
after(() => database.close())

/** Runs in a transaction that rolls back, after a check of the deferred constraints. */
async function attempt(statement: string): Promise<void> {
  const done = new Error('taken back')
  await pool
    .begin(async (sql: Sql) => {
      await sql.unsafe(statement)
      await sql`SET CONSTRAINTS ALL IMMEDIATE`
      throw done
    })
    .catch((error: unknown) => {
      if (error !== done) throw error
    })
}

const tier = (fields: string) =>
  `INSERT INTO tiers (tier_id, version, tier_no, label, price_wei, max_per_wallet, payout_bps, on_sale, from_block, from_time, entered_by, live, holding_wei, holding_token)
   VALUES (${fields})`
const node = (id: number, ref: string, payment: string) =>
  `INSERT INTO nodes (node_id, owner, cohort, ref, payment_id, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at, block_number, block_hash)
   VALUES (${id}, '${B}', 1, '${ref}', ${payment}, 0, 0, '${h(71)}', now(), 6, '${h(6)}')`

const refused: [string, string, RegExp][] = [
  [
    'one intent per sender and nonce',
    `INSERT INTO outbox (kind, sender, nonce, call, gas_limit, valid_until) VALUES ('credit', '${A}', 7, '{}', 1, 900)`,
    /outbox_nonce/,
  ],
  [
    'no intent of an unknown kind',
    `INSERT INTO outbox (kind, sender, nonce, call, gas_limit, valid_until) VALUES ('withdraw', '${A}', 8, '{}', 1, 900)`,
    /outbox_kind_check/,
  ],
  ['settled if and only if in a block', `UPDATE outbox SET state = 'mined'`, /outbox_check/],
  ['in a block means hash and transaction', `UPDATE outbox SET state = 'mined', block_number = 5`, /outbox_check/],
  [
    'no bytes belong to two intents',
    `INSERT INTO outbox_attempts (tx_hash, outbox_id, attempt, raw, max_fee_wei, max_priority_fee_wei, signed_at_block) VALUES ('${h(70)}', 1, 2, '0x00', 1, 1, 5)`,
    /outbox_attempts_pkey/,
  ],
  [
    'attempts of an intent are numbered once',
    `INSERT INTO outbox_attempts (tx_hash, outbox_id, attempt, raw, max_fee_wei, max_priority_fee_wei, signed_at_block) VALUES ('${h(72)}', 1, 1, '0x00', 1, 1, 5)`,
    /outbox_attempts_outbox_id_attempt_key/,
  ],
  [
    'a payment is paid back once',
    `INSERT INTO refunds (payment_ref, tx_hash, from_address, to_address, value_wei, block_number, block_hash, recorded_by) SELECT '${h(10)}', t, '${A}', '${B}', 1, 5, '${h(5)}', 'ada' FROM unnest(ARRAY['${h(80)}', '${h(81)}']) AS t`,
    /refunds_payment_ref_key/,
  ],
  [
    'a transfer pays one payment back',
    `INSERT INTO refunds (payment_ref, tx_hash, from_address, to_address, value_wei, block_number, block_hash, recorded_by) SELECT r, '${h(80)}', '${A}', '${B}', 1, 5, '${h(5)}', 'ada' FROM unnest(ARRAY['${h(10)}', '${h(12)}']) AS r`,
    /refunds_transfer_key/,
  ],
  [
    'what a transaction took from the payments wallet is one row',
    `INSERT INTO wallet_outflows (ref, tx_hash, wallet, value_wei, fee_wei, block_number, block_hash, block_time) SELECT r, '${h(82)}', '${B}', 1, 0, 5, '${h(5)}', now() FROM unnest(ARRAY['${h(83)}', '${h(84)}']) AS r`,
    /wallet_outflows_tx_hash_wallet_inner_index_key/,
  ],
  [
    'a transfer is one payment',
    `INSERT INTO payments (tx_hash, ref, wallet, from_address, value_wei, succeeded, block_number, block_hash, block_time) VALUES ('${h(10)}', '${h(12)}', '${B}', '${B}', 1, true, 5, '${h(5)}', now())`,
    /payments_tx_hash_wallet_inner_index_key/,
  ],
  [
    'a ref is one payment',
    `INSERT INTO payments (tx_hash, ref, wallet, from_address, value_wei, succeeded, block_number, block_hash, block_time) VALUES ('${h(12)}', '${h(10)}', '${B}', '${B}', 1, true, 5, '${h(5)}', now())`,
    /payments_ref_key/,
  ],
  [
    'value without a sender is on no way to a node',
    `INSERT INTO payments (ref, wallet, value_wei, succeeded, block_number, block_hash, block_time) VALUES ('${h(12)}', '${B}', 1, true, 5, '${h(5)}', now())`,
    /payments_check/,
  ],
  [
    'a sender is proven by a transaction',
    `INSERT INTO payments (ref, wallet, from_address, value_wei, succeeded, state, reason, block_number, block_hash, block_time) VALUES ('${h(12)}', '${B}', '${B}', 1, true, 'held', 'unattributed', 5, '${h(5)}', now())`,
    /payments_check/,
  ],
  [
    'minted only with a node',
    `UPDATE payments SET state = 'minted', tier_id = 'basic', tier_version = 1 WHERE id = 2`,
    /payments_check/,
  ],
  ['a node only where minted', `UPDATE payments SET state = 'accepted' WHERE id = 1`, /payments_check/],
  [
    'two payments never one node',
    `UPDATE payments SET state = 'minted', node_id = 1, tier_id = 'basic', tier_version = 1 WHERE id = 2`,
    /payments_node/,
  ],
  ['a node that is minted for exists', `UPDATE payments SET node_id = 99 WHERE id = 1`, /payments_node_id_fkey/],
  ['accepted only into a tier', `UPDATE payments SET state = 'accepted' WHERE id = 2`, /payments_check/],
  [
    'minting only with a mint',
    `UPDATE payments SET state = 'minting', tier_id = 'basic', tier_version = 1 WHERE id = 2`,
    /payments_check/,
  ],
  ['held only with a reason', `UPDATE payments SET state = 'held' WHERE id = 2`, /payments_check/],
  ['a reason only where held or ignored', `UPDATE payments SET reason = 'holding' WHERE id = 2`, /payments_check/],
  [
    'no reason of its own making',
    `UPDATE payments SET state = 'held', reason = 'because' WHERE id = 2`,
    /payments_reason_check/,
  ],
  ['orphaned means in no block', `UPDATE payments SET state = 'orphaned' WHERE id = 2`, /payments_check/],
  [
    'in no block means orphaned',
    `UPDATE payments SET block_number = NULL, block_hash = NULL WHERE id = 2`,
    /payments_check/,
  ],
  [
    'a payment is of a version that exists',
    `UPDATE payments SET tier_id = 'basic', tier_version = 2 WHERE id = 2`,
    /payments_tier_id/,
  ],
  ['a node is minted once', node(1, h(13), 'NULL'), /nodes_pkey/],
  ['a ref is one node', node(2, h(10), 'NULL'), /nodes_ref_key/],
  ['a payment is one node', node(2, h(13), '1'), /nodes_payment_id_key/],
  ['a node has an id of the chain', node(0, h(13), 'NULL'), /nodes_node_id_check/],
  [
    'a version has a first block unless it was entered ahead',
    tier(`'plus', 1, 2, 'Plus', 101, 1, 1, true, NULL, 1, 'test', false, 0, NULL`),
    /tiers_check/,
  ],
  [
    'a change that is planned is not live',
    `${tier(`'basic', 2, 1, 'Basic', 100, 1, 1, true, 1, 1, 'test', false, 0, NULL`)}; UPDATE tiers SET names = '{label}', from_block = NULL, live = version = 2`,
    /tiers_check/,
  ],
  [
    'a tier has one version in force',
    tier(`'basic', 2, 1, 'Basic', 101, 1, 1, true, 1, 1, 'test', true, 0, NULL`),
    /tiers_live/,
  ],
  [
    'two tiers never share a number on the contract',
    tier(`'plus', 1, 1, 'Plus', 101, 1, 1, true, 1, 1, 'test', true, 0, NULL`),
    /tiers_live_no/,
  ],
  [
    'a holding names its token',
    tier(`'plus', 1, 2, 'Plus', 101, 1, 1, true, 1, 1, 'test', true, 5, NULL`),
    /tiers_check/,
  ],
  [
    'nothing is sold for nothing',
    tier(`'plus', 1, 2, 'Plus', 0, 1, 1, true, 1, 1, 'test', true, 0, NULL`),
    /tiers_price_wei_check/,
  ],
  [
    'a cohort is paid a turn once',
    `INSERT INTO rounds VALUES (2, 'treasury', 10, 1, '${h(81)}', now(), 6, '${h(6)}'); INSERT INTO turns (round, cohort, turn_no, due, turns, amount_wei, node_count) VALUES (2, 1, 2, 200, 1, 10, 1)`,
    /turns_cohort_due_key/,
  ],
  [
    'a cohort is paid once in a round',
    `INSERT INTO turns (round, cohort, turn_no, due, turns, amount_wei, node_count) VALUES (1, 1, 2, 300, 1, 10, 1)`,
    /turns_pkey/,
  ],
  [
    'turns of a cohort are numbered once',
    `INSERT INTO rounds VALUES (2, 'treasury', 10, 1, '${h(81)}', now(), 6, '${h(6)}'); INSERT INTO turns (round, cohort, turn_no, due, turns, amount_wei, node_count) VALUES (2, 1, 1, 300, 1, 10, 1)`,
    /turns_cohort/,
  ],
  [
    'a round is stored once',
    `INSERT INTO rounds VALUES (1, 'treasury', 10, 1, '${h(81)}', now(), 6, '${h(6)}')`,
    /rounds_pkey/,
  ],
  [
    'the range of a draw is not upside down',
    `INSERT INTO credit_terms (from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by) VALUES (2, true, 3, 2, 100, 10, 't')`,
    /credit_terms_check/,
  ],
  [
    'slots divide the interval',
    `INSERT INTO credit_terms (from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by) VALUES (2, true, 1, 2, 100, 30, 't')`,
    /credit_terms_check/,
  ],
  [
    'terms begin at different times',
    `INSERT INTO credit_terms (from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by) VALUES (1, true, 1, 2, 100, 10, 't')`,
    /credit_terms_from_time_key/,
  ],
  [
    'a withdrawal is stored once',
    `INSERT INTO withdrawals (node_id, amount_wei, withdrawn_total_wei, to_address, tx_hash, log_index, status, created_at, block_number, block_hash) VALUES (1, 4, 8, '${B}', '${h(90)}', 0, 'sent', now(), 5, '${h(5)}')`,
    /withdrawals_tx_hash/,
  ],
  [
    'a failed withdrawal is stored once',
    `INSERT INTO withdrawals (node_id, amount_wei, to_address, tx_hash, status, created_at, block_number, block_hash) SELECT 1, 4, '${B}', '${h(91)}', 'failed', now(), 5, '${h(5)}' FROM generate_series(1, 2)`,
    /withdrawals_tx_hash/,
  ],
  [
    'only what went through has a total',
    `INSERT INTO withdrawals (node_id, amount_wei, withdrawn_total_wei, to_address, tx_hash, status, created_at, block_number, block_hash) VALUES (1, 4, 8, '${B}', '${h(92)}', 'failed', now(), 5, '${h(5)}')`,
    /withdrawals_check/,
  ],
  [
    'no more is withdrawn than was ever credited',
    `UPDATE nodes SET withdrawn_wei = 11 WHERE node_id = 1`,
    /totals_check/,
  ],
  [
    'no round goes while what it paid is withdrawn',
    `UPDATE nodes SET withdrawn_wei = 4 WHERE node_id = 1; DELETE FROM rounds`,
    /totals_check/,
  ],
  ['one block per height', `INSERT INTO blocks VALUES (5, '${h(6)}', '${h(4)}', 50, '${h(55)}')`, /blocks_pkey/],
]
for (const [rule, statement, constraint] of refused) {
  test(`the database keeps to it: ${rule}`, () => assert.rejects(attempt(statement), constraint))
}

const allowed: [string, string][] = [
  ['a tier off sale may share a price', tier(`'plus', 1, 2, 'Plus', 100, 1, 1, false, 1, 1, 'test', true, 0, NULL`)],
  [
    'the next version may keep price and number',
    `UPDATE tiers SET live = false; ${tier(`'basic', 2, 1, 'Basic', 100, 1, 1, true, 1, 1, 'test', true, 0, NULL`)}`,
  ],
  [
    'another sender may have the same nonce',
    `INSERT INTO outbox (kind, sender, nonce, call, gas_limit, valid_until) VALUES ('credit', '${B}', 7, '{}', 1, 900)`,
  ],
  [
    'a payment with its node',
    `${node(2, h(11), '2')}; UPDATE payments SET state = 'minted', node_id = 2, tier_id = 'basic', tier_version = 1 WHERE id = 2`,
  ],
  ['a node without a payment', node(2, h(13), 'NULL')],
  ['all that was credited may be withdrawn', `UPDATE nodes SET withdrawn_wei = 10 WHERE node_id = 1`],
]
for (const [rule, statement] of allowed) test(`the database lets be: ${rule}`, () => attempt(statement))
