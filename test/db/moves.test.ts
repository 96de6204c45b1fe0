// Moves of payments on the real database: each one in the table works, no other one does, and no other SQL makes any.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { Pool, Sql } from '../../src/db/core/sql.ts'
import { type Change, move, writeVerdict } from '../../src/db/payments/moves.ts'
import { rewindPayments } from '../../src/db/payments/rows.ts'
import {
  MOVES,
  type Move,
  type MoveName,
  mayMove,
  PAYMENT_STATES,
  type PaymentState,
} from '../../src/domain/transitions.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'

const ROOT = new URL('../../', import.meta.url)
const BUYER = `0x${'b2'.repeat(20)}`
const h = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
const NAMES = Object.keys(MOVES) as MoveName[]
const ruleOf = (name: MoveName): Move => MOVES[name]

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase(1, { prepare: false })
  pool = database.pool
  // A tier, a pending mint, and a node that belongs to no payment yet.
  await pool.unsafe(`
    INSERT INTO tiers (tier_id, version, tier_no, label, price_wei, max_per_wallet, payout_bps, on_sale, from_block, from_time, entered_by)
      VALUES ('basic', 1, 1, 'Basic', 100, 10, 10000, true, 1, 1, 'test');
    INSERT INTO cohorts (cohort, tier_no, interval_sec, next_due, block_number, block_hash) VALUES (1, 1, 100, 200, 5, '${h(5)}');
    INSERT INTO outbox (kind, sender, nonce, call, gas_limit, valid_until) VALUES ('mint', '${BUYER}', 7, '{}', 1, 900);
    INSERT INTO nodes (node_id, owner, cohort, ref, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at, block_number, block_hash)
      VALUES (1, '${BUYER}', 1, '${h(10)}', 0, 0, '${h(70)}', now(), 5, '${h(5)}')`)
})
after(() => database.close())

/** Runs `body` in a transaction that rolls back, after a check of the deferred constraints. */
async function attempt(body: (sql: Sql) => Promise<void>): Promise<void> {
  const done = new Error('taken back')
  await pool
    .begin(async (sql) => {
      await body(sql)
      await sql`SET CONSTRAINTS ALL IMMEDIATE`
      throw done
    })
    .catch((error: unknown) => {
      if (error !== done) throw error
    })
}

/** Columns that a payment in this state must have, or may have. */
function columnsOf(sql: Sql, state: PaymentState) {
  const inBlock = state !== 'orphaned'
  return sql`tier_id = 'basic', tier_version = 1, outbox_id = 1, node_id = ${state === 'minted' ? 1 : null},
    block_number = ${inBlock ? 5 : null}, block_hash = ${inBlock ? h(5) : null}`
}

const REASONS: Partial<Record<PaymentState, string>> = { held: 'walletLimit', ignored: 'failed' }

/** A payment in this state. */
async function payment(sql: Sql, state: PaymentState, reason = REASONS[state] ?? null): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    INSERT INTO payments (tx_hash, ref, wallet, from_address, value_wei, succeeded, block_number, block_hash, tx_index, block_time)
    VALUES (${h(10)}, ${h(10)}, ${BUYER}, ${BUYER}, 100, true, 5, ${h(5)}, 0, now()) RETURNING id`
  const id = row?.id ?? 0
  await sql`UPDATE payments SET state = ${state}, reason = ${reason}, ${columnsOf(sql, state)} WHERE id = ${id}`
  return id
}

const standing = async (sql: Sql, id: number) => {
  const [row] = await sql<{ state: string; reason: string | null; verdicts: number; tier: string | null }[]>`
    SELECT state, reason, tier_id AS tier, (SELECT count(*) FROM payment_verdicts WHERE payment_id = p.id) AS verdicts
    FROM payments p WHERE id = ${id}`
  return row ?? assert.fail()
}

/** Input that any move accepts. */
const anyChange = (sql: Sql, id: number, name: MoveName, to: PaymentState) =>
  ({
    where: sql`p.id = ${id}`,
    set: columnsOf(sql, to),
    ...(ruleOf(name).to.length > 1 && { to: sql`${to}`, reason: sql`${REASONS[to] ?? null}` }),
    ...((ruleOf(name).reasons?.length ?? 0) > 1 && { reason: ruleOf(name).reasons?.[0] }),
    evidence: { rule: 'test' },
    by: 'test',
  }) as Change<MoveName>

for (const name of NAMES.filter((name) => ruleOf(name).from.length > 0)) {
  test(`${name} is made from the states of the table to the states of the table, and from and to no other`, async () => {
    const { to: allowed, verdict } = ruleOf(name)
    for (const from of PAYMENT_STATES) {
      for (const to of allowed.length > 1 ? PAYMENT_STATES : allowed) {
        await attempt(async (sql) => {
          const reason = from === 'held' ? (ruleOf(name).heldFor?.[0] ?? 'walletLimit') : undefined
          const id = await payment(sql, from, reason)
          const moved = await move(sql, name, anyChange(sql, id, name, to))
          const expected = mayMove(name, from, to)
          assert.equal(moved, expected ? 1 : 0, `${from} to ${to}`)
          const { state, verdicts } = await standing(sql, id)
          assert.equal(state, expected ? to : from)
          assert.equal(verdicts, expected && verdict ? 1 : 0, `verdicts after ${from} to ${to}`)
        })
      }
    }
  })
}

test('a payment that is held for good is not the judge’s to move', async () => {
  for (const name of ['accept', 'hold', 'ignore'] as const) {
    await attempt(async (sql) => {
      const id = await payment(sql, 'held', 'wrongAmount')
      assert.equal(await move(sql, name, anyChange(sql, id, name, ruleOf(name).to[0] ?? 'seen') as never), 0)
      assert.deepEqual(await standing(sql, id), { state: 'held', reason: 'wrongAmount', tier: 'basic', verdicts: 0 })
    })
  }
})

test('only its refund, its mint or a cancellation moves a payment that is being refunded', async () => {
  const allowed = NAMES.filter(
    (name) => ruleOf(name).heldFor?.includes('refunding') ?? ruleOf(name).from.includes('held'),
  )
  assert.deepEqual(allowed.sort(), ['cancelRefund', 'copyVerdict', 'orphan', 'recordMint', 'refund'])
  for (const name of NAMES.filter((name) => ruleOf(name).from.includes('held'))) {
    await attempt(async (sql) => {
      const id = await payment(sql, 'held', 'refunding')
      const to = ruleOf(name).to[0] ?? 'seen'
      assert.equal(await move(sql, name, anyChange(sql, id, name, to)), allowed.includes(name) ? 1 : 0, name)
    })
  }
})

test('a verdict on a payment whose state allows none is an error, and writes nothing', async () => {
  await attempt(async (sql) => {
    const id = await payment(sql, 'dismissed')
    const verdict = { evidence: {}, by: 'ada' }
    await assert.rejects(
      writeVerdict(sql, id, { move: 'release', tier: { tierId: 'basic', version: 1 }, ...verdict }),
      /not allow the move/,
    )
    await assert.rejects(
      writeVerdict(sql, id, { move: 'hold', reason: 'holding', tier: null, ...verdict }),
      /not allow the move/,
    )
    assert.deepEqual(await standing(sql, id), { state: 'dismissed', reason: null, tier: 'basic', verdicts: 0 })
  })
})

test('a verdict keeps the tier unless it has one, and keeps the reason of a decided payment', async () => {
  await attempt(async (sql) => {
    const id = await payment(sql, 'held', 'recheck')
    await writeVerdict(sql, id, { move: 'dismiss', evidence: {}, by: 'ada' })
    assert.deepEqual(await standing(sql, id), { state: 'dismissed', reason: 'recheck', tier: 'basic', verdicts: 1 })
  })
  await attempt(async (sql) => {
    const id = await payment(sql, 'seen')
    await writeVerdict(sql, id, { move: 'ignore', reason: 'zero', tier: null, evidence: {}, by: 'pass' })
    assert.deepEqual(await standing(sql, id), { state: 'ignored', reason: 'zero', tier: null, verdicts: 1 })
  })
})

test('an orphaned payment stays orphaned if its node’s block is reorganised out, too', async () => {
  await attempt(async (sql) => {
    // Its block reappeared above its node's, and was then rewound alone.
    const id = await payment(sql, 'orphaned')
    await sql`UPDATE nodes SET payment_id = ${id}`
    assert.equal(await rewindPayments(sql, 4), 0)
    assert.equal((await standing(sql, id)).state, 'orphaned')
  })
})

test('no other SQL changes a payment’s state, and every move of the table is made somewhere', () => {
  const sources = globSync('{src/**/*.ts,migrations/*.sql}', { cwd: ROOT }).map((file) => ({
    file,
    text: readFileSync(new URL(file, ROOT), 'utf8'),
  }))
  const others = sources.filter(({ file }) => file !== 'src/db/payments/moves.ts')
  assert.equal(others.length, sources.length - 1)
  for (const { file, text } of others) {
    assert.doesNotMatch(text, /(INSERT|MERGE)\s+INTO\s+(public\.)?payments\b/i, file)
    for (const [, changed = ''] of text.matchAll(/UPDATE\s+(?:ONLY\s+)?(?:public\.)?payments\b(.*?)(?:WHERE|`|;)/gis))
      assert.doesNotMatch(changed, /\bstate\b\s*[=,)]/i, `${file}: UPDATE payments${changed}`)
  }
  const callers = others.filter(({ file }) => file !== 'src/domain/transitions.ts').map(({ text }) => text)
  const made = [...callers, readFileSync(new URL('src/db/payments/moves.ts', ROOT), 'utf8')].join('\n')
  for (const name of NAMES) assert.match(made, new RegExp(`'${name}'`), `${name} is made nowhere`)
})

/** Never called: the compiler must reject it. */
export function undeclared(sql: Sql): unknown[] {
  const where = sql`true`
  const judged = { evidence: {}, by: 'pass' }
  return [
    // @ts-expect-error there is no such move
    move(sql, 'unsell', { where }),
    // @ts-expect-error a verdict has its evidence
    move(sql, 'accept', { where }),
    // @ts-expect-error the judge holds nothing for this
    move(sql, 'hold', { where, reason: 'unattributed', ...judged }),
    // @ts-expect-error a move to several states names one
    move(sql, 'undoMint', { where }),
    // @ts-expect-error a move to one state names none
    move(sql, 'orphan', { where, to: sql`'seen'` }),
    // @ts-expect-error a mint is no verdict
    writeVerdict(sql, 1, { move: 'recordMint', ...judged }),
  ]
}
