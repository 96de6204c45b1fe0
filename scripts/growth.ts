// How the ledger grows: lives through blocks, sales and rounds on a chain and a database of its own, and prints what each adds to the
// database. docs/SCALING.md has the figures: node bin/with-runtime.mjs scripts/growth.ts
import type { Pool } from '../src/db/sql.ts'
import { wei } from '../src/domain/units.ts'
import { ETHER, enterTier, INTERVAL_SEC, startWorld } from '../test/support/world.ts'

const BUYERS = [5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
const NODES_EACH = 60
const ROUNDS = 60
const PRICE_WEI = ETHER / 30n

// The database and the chain do not keep this process alive by themselves.
const alive = setInterval(() => {}, 60_000)
const world = await startWorld({}, { maxPerWallet: 256n })
try {
  await enterTier(world, { tierId: 'bulk', tierNo: 4, priceWei: wei(PRICE_WEI), maxPerWallet: 250 })
  await world.settle()
  await report('block without anything of ours', 1_000, async () => {
    await world.chain.mine(1_000)
    await world.payments()
  })
  await report('payment, minted, and its node', BUYERS.length * NODES_EACH, async () => {
    for (let i = 0; i < NODES_EACH; i++) {
      for (const account of BUYERS) await world.pay(account, PRICE_WEI)
      await world.chain.mine()
    }
    await world.settle()
  })
  await report('round', ROUNDS, async () => {
    for (let i = 0; i < ROUNDS; i++) {
      await world.chain.increaseTime(INTERVAL_SEC)
      await world.rest()
    }
  })
} finally {
  await world.close()
  clearInterval(alive)
}

/** Prints what `count` of a thing added, and to which tables. */
async function report(what: string, count: number, live: () => Promise<void>): Promise<void> {
  const before = await tables(world.pool)
  const start = performance.now()
  await live()
  const after = await tables(world.pool)
  const grown = [...after].map(([table, now]) => {
    const then = before.get(table) ?? { rows: 0, bytes: 0 }
    return { table, rows: (now.rows - then.rows) / count, bytes: (now.bytes - then.bytes) / count }
  })
  const bytes = grown.reduce((sum, one) => sum + one.bytes, 0)
  console.log(
    `${count} times a ${what}, in ${Math.round((performance.now() - start) / 1000)} s: ${Math.round(bytes)} bytes each`,
  )
  for (const one of grown.filter(({ rows }) => rows !== 0).sort((a, b) => b.bytes - a.bytes)) {
    console.log(
      `  ${one.table.padEnd(20)} ${one.rows.toFixed(2).padStart(7)} rows ${Math.round(one.bytes).toString().padStart(6)} bytes`,
    )
  }
}

/** Rows of each table, and its bytes with indexes, as they are once nothing lies about any more. */
async function tables(pool: Pool): Promise<Map<string, { rows: number; bytes: number }>> {
  await pool`VACUUM (FULL, ANALYZE)`
  const rows = await pool<{ table: string; rows: number; bytes: number }[]>`
    SELECT relname::text AS table, greatest(reltuples, 0)::int AS rows, pg_total_relation_size(oid)::int8 AS bytes
    FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`
  return new Map(rows.map(({ table, ...size }) => [table, size]))
}
