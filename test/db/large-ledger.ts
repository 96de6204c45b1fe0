// A ledger of 5,000 nodes for tests of the database: one payment, node, transfer, round, refund and so on per block.
import type { Pool } from '../../src/db/core/sql.ts'
import type { Address, Hash } from '../../src/domain/units.ts'

export const NODES = 5_000
/** The nodes of the first block lie at 100, the last three in this one. */
export const HEAD = NODES + 100

export const hashOf = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as Hash
export const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as Address
/** One payment, node, transfer, withdrawal, mint and header per block. */
export async function fillLedger(sql: Pool): Promise<void> {
  // Before the first row, because autovacuum would replace the statistics that tests change, even if it begins now.
  await sql`DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
      EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = false)', name);
    END LOOP; END $$`
  const hash = (n: string) => sql`'0x' || lpad(to_hex(${sql.unsafe(n)}), 64, '0')`
  const address = (n: string) => sql`'0x' || lpad(to_hex(${sql.unsafe(n)}), 40, '0')`
  const each = sql`FROM generate_series(1, ${NODES}::int) n`
  await sql.begin(async (sql) => {
    await sql`SET LOCAL session_replication_role = replica`
    // If all payments were of one tier, the planner would rightly walk all of them, so there are two.
    await sql`INSERT INTO tiers (tier_id, version, tier_no, label, price_wei, max_per_wallet, payout_bps, on_sale, from_block,
      from_time, entered_by) VALUES ('basic', 1, 1, 'Basic', 100, 10, 10000, true, 0, 1, 'test'),
      ('plus', 1, 2, 'Plus', 200, 10, 10000, true, 0, 1, 'test')`
    await sql`INSERT INTO cohorts (cohort, tier_no, interval_sec, next_due, size, per_node_wei, turn_count, block_number, block_hash)
      SELECT n, 1, 100, 1000000, 100, 0, 0, 1, ${hash('1')} FROM generate_series(1, 200) n`
    await sql`INSERT INTO cohort_states (cohort, block_number, interval_sec, next_due, size, per_node_wei, turn_count)
      SELECT n % 200 + 1, n + 100, 100, 1000000, 100, 0, 0 ${each}`
    await sql`INSERT INTO payments (id, tx_hash, ref, wallet, from_address, value_wei, succeeded, state, node_id, tier_id, tier_version, codes,
        block_number, block_hash, tx_index, block_time) OVERRIDING SYSTEM VALUE
      SELECT n, ${hash('n')}, ${hash('n')}, '0x' || repeat('f3', 20), ${address('n')}, 100, true, 'minted', n, CASE n % 2 WHEN 0 THEN 'basic' ELSE 'plus' END, 1, 'code-' || n % 100, n + 100, ${hash('n + 100')}, 0,
        to_timestamp(n + 100) ${each}`
    await sql`INSERT INTO payment_verdicts (payment_id, verdict, evidence, decided_by) SELECT n, 'accepted', '{}', 'pass' ${each}`
    // A few held ones, older than all the others.
    await sql`INSERT INTO payments (id, tx_hash, ref, wallet, from_address, value_wei, succeeded, state, reason, block_number, block_hash, tx_index,
        block_time) OVERRIDING SYSTEM VALUE
      SELECT -n, ${hash('1000000 + n')}, ${hash('1000000 + n')}, '0x' || repeat('f3', 20), ${address('n')}, 99, true, 'held',
        CASE WHEN n > 15 THEN 'holding' ELSE 'wrongAmount' END, 50, ${hash('50')}, n, to_timestamp(50) FROM generate_series(1, 20) n`
    await sql`INSERT INTO nodes (node_id, owner, cohort, ref, payment_id, per_node_at_mint_wei, turns_at_mint, mint_tx_hash,
        minted_at, block_number, block_hash)
      SELECT n, ${address('n')}, n % 200 + 1, ${hash('n')}, n, 0, 0, ${hash('n')}, to_timestamp(n + 100), n + 100,
        ${hash('n + 100')} ${each}`
    await sql`INSERT INTO owners (owner, nodes) SELECT owner, 1 FROM nodes`
    await sql`INSERT INTO node_transfers (block_number, log_index, node_id, from_address, to_address, tx_hash, block_hash)
      SELECT n + 100, 1, n, '0x' || repeat('0', 40), ${address('n')}, ${hash('n')}, ${hash('n + 100')} ${each}`
    await sql`INSERT INTO withdrawals (amount_wei, block_hash, block_number, created_at, confirmed_at, log_index, node_id, status,
        to_address, tx_hash, withdrawn_total_wei)
      SELECT 5, ${hash('n + 100')}, n + 100, to_timestamp(1), to_timestamp(1), 2, n, 'sent', ${address('n')}, ${hash('n')}, 5 ${each}`
    await sql`INSERT INTO outbox (id, kind, sender, nonce, call, gas_limit, guard_block, valid_until, state, block_number, block_hash, tx_hash)
      OVERRIDING SYSTEM VALUE SELECT n, 'mint', ${addressOf(1)}, n, '{}', 1, n + 99, n + 999, 'mined', n + 100, ${hash('n + 100')},
        ${hash('n')} ${each}`
    await sql`INSERT INTO outbox_attempts (tx_hash, outbox_id, attempt, raw, max_fee_wei, max_priority_fee_wei, signed_at_block)
      SELECT ${hash('n')}, n, 1, '0x00', 1, 1, n + 99 ${each}`
    await sql`INSERT INTO blocks (number, hash, parent_hash, time, prevrandao)
      SELECT n + 100, ${hash('n + 100')}, ${hash('n + 99')}, n + 100, ${hash('n')} ${each}`
    await sql`INSERT INTO seed_blocks (number, time, parent_time, seed, proof) SELECT n + 100, n + 100, n + 99, ${hash('n')}, 'proven' ${each}`
  })
  await fillRest(sql)
  await sql`UPDATE totals SET nodes = ${NODES}, owners = ${NODES}, rounds = ${NODES}, distributed_wei = 1000000, sales_wei = 100000000, withdrawn_wei = 100000`
  await sql`INSERT INTO wallet_books (wallet, in_wei, out_wei, dust_transfers, zero_transfers) VALUES ('0x' || repeat('f3', 20), 100000000, 1000000, ${NODES}, ${NODES})`
  await sql`SELECT setval(pg_get_serial_sequence('payments', 'id'), ${NODES})`
  await sql`VACUUM (ANALYZE)`
  // Counts the reads of filling now, and not with the first measured statement.
  await sql`SELECT pg_stat_force_next_flush()`
}

/** A row per block of what the first tests do not need. */
async function fillRest(sql: Pool): Promise<void> {
  const hash = (n: string) => sql`'0x' || lpad(to_hex(${sql.unsafe(n)}), 64, '0')`
  const address = (n: string) => sql`'0x' || lpad(to_hex(${sql.unsafe(n)}), 40, '0')`
  const each = sql`FROM generate_series(1, ${NODES}::int) n`
  await sql.begin(async (sql) => {
    await sql`SET LOCAL session_replication_role = replica`
    await sql`INSERT INTO rounds (round, mode, total_wei, node_count, tx_hash, created_at, block_number, block_hash)
      SELECT n, 'treasury', 200, 2, ${hash('n')}, to_timestamp(n + 100), n + 100, ${hash('n + 100')} ${each}`
    await sql`INSERT INTO turns (round, cohort, turn_no, due, turns, amount_wei, node_count)
      SELECT n, n % 200 + 1, n / 200 + 1, n, 1, 100, 2 ${each}`
    await sql`INSERT INTO single_turns (round, cohort, due) SELECT n, n % 200 + 1, n ${each}`
    await sql`INSERT INTO skips (round, cohort, due, turns) SELECT n, n % 200 + 1, n, 1 ${each}`
    await sql`INSERT INTO refunds (payment_ref, tx_hash, from_address, to_address, value_wei, block_number, block_hash, final, recorded_by)
      SELECT ${hash('n')}, ${hash('n + 7000000')}, ${address('3')}, ${address('n')}, 100, n + 100, ${hash('n + 100')}, n < ${NODES - 5}, 'test' ${each}`
    await sql`INSERT INTO wallet_outflows (ref, tx_hash, wallet, to_address, value_wei, fee_wei, block_number, block_hash, block_time)
      SELECT ${hash('n')}, ${hash('n')}, '0x' || repeat('f3', 20), ${address('n')}, 100, 1, n + 100, ${hash('n + 100')}, to_timestamp(n + 100) ${each}`
    await sql`INSERT INTO payment_wallets (wallet, from_block, from_time, watched_from, entered_by)
      VALUES ('0x' || repeat('f3', 20), 0, 0, 0, 'test')`
    await sql`INSERT INTO referral_codes (code, version, payee, commission_bps, from_block, entered_by)
      SELECT 'code-' || n, 1, ${address('n + 1000000')}, 500, 0, 'test' FROM generate_series(0, 99) n`
    await sql`INSERT INTO dust (block_number, tx_index, wallet_id, tx_hash, from_address, value_wei)
      SELECT n + 100, 0, 1, decode(lpad(to_hex(n), 64, '0'), 'hex'), decode(lpad(to_hex(n), 40, '0'), 'hex'), 1 ${each}`
    await sql`INSERT INTO zero_transfers (block_number, wallet_id, transfers) SELECT n + 100, 1, 1 ${each}`
    await sql`INSERT INTO owner_acts (block_number, log_index, name, detail, at, tx_hash, block_hash)
      SELECT n + 100, 0, 'EtherReceived', '{"amount":"1"}', to_timestamp(n + 100), ${hash('n')}, ${hash('n + 100')} ${each}`
    await sql`INSERT INTO expulsions (node_id, cohort, credited_wei, turn_count, expelled_at, tx_hash, block_number, block_hash)
      SELECT n, n % 200 + 1, 0, 0, to_timestamp(n + 100), ${hash('n')}, n + 100, ${hash('n + 100')} FROM generate_series(1, 20) n`
    await sql`INSERT INTO attributions (ref, residue_ref, is_rest, tx_hash, tx_index, inner_index, from_address, attributed_by)
      SELECT ${hash('n')}, ${hash('n')}, true, ${hash('n')}, 0, 1, ${address('n')}, 'test' ${each}`
    await sql`INSERT INTO payer_codes (payment_id, block_hash, code) SELECT n, ${hash('n + 100')}, '{"kind":"none"}' ${each}`
    await sql`INSERT INTO grants (ref, reason, granted_by) SELECT ${hash('n')}, 'test', 'test' ${each}`
    await sql`INSERT INTO audit (actor, action, subject, at) SELECT 'test', 'attributed', ${hash('n')}, to_timestamp(n + 100) ${each}`
    await sql`INSERT INTO price_history (hour, usd, quoted_at) SELECT date_trunc('hour', to_timestamp(n * 3600), 'UTC'), 1, now() ${each}`
    await sql`INSERT INTO allowlists (root, label, entries, allocated, entered_by) VALUES (${hash('1')}, 'test', 1, 1, 'test')`
    await sql`INSERT INTO allowlist_entries (list, address, allocation, leaf) SELECT 1, ${address('n')}, 1, n ${each}`
    await sql`INSERT INTO idempotency_keys (actor, key, digest) SELECT 'test', 'key ' || n, 'x' ${each}`
    await sql`INSERT INTO used_nonces (nonce_hash, expires_at) SELECT ${hash('n')}, now() ${each}`
    await sql`INSERT INTO proven_wallets (address, deployed) SELECT ${address('n')}, true ${each}`
    await sql`INSERT INTO webhook_endpoints (endpoint, url, secrets, added_by) VALUES ('x', 'https://x.test', '{x}', 'test')`
    await sql`INSERT INTO webhook_events (id, type, body) SELECT 'evt_' || n, 'x', '{}' ${each}`
    await sql`INSERT INTO webhook_deliveries (seq, endpoint, state) SELECT n, 'x', 'delivered' ${each}`
    await sql`INSERT INTO webhook_attempts (delivery_id, duration_ms) SELECT n, 1 ${each}`
  })
}
