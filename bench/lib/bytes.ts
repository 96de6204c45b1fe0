// Measures how many bytes a ledger's life adds to the database: blocks, sales and rounds on their own chain and
// database. docs/SCALING.md has the figures.
import type { Pool } from '../../src/db/core/sql.ts'
import { wei } from '../../src/domain/units.ts'
import { ETHER, enterTier, INTERVAL_SEC, startWorld, type World } from '../../test/support/world.ts'

const BUYERS = [5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
const PRICE_WEI = ETHER / 30n

/** Bytes added by each kind of event. */
export interface Growth {
  what: string
  count: number
  /** Bytes including indexes, after vacuuming. */
  bytes: number
  /** Rows by table, the heaviest table first. */
  tables: { table: string; rows: number; bytes: number }[]
}

/** Runs through this many empty blocks, nodes for each of ten buyers, and rounds, in its own world. */
export async function measureBytes(counts: { blocks: number; nodesEach: number; rounds: number }): Promise<Growth[]> {
  const world = await startWorld({}, { maxPerWallet: 256n })
  try {
    await enterTier(world, { tierId: 'bulk', tierNo: 4, priceWei: wei(PRICE_WEI), maxPerWallet: 250 })
    await world.settle()
    return [
      await grownBy(world, 'block without anything of ours', counts.blocks, async () => {
        await world.chain.mine(counts.blocks)
        await world.payments()
      }),
      await grownBy(world, 'payment, minted, and its node', BUYERS.length * counts.nodesEach, async () => {
        for (let i = 0; i < counts.nodesEach; i++) {
          for (const account of BUYERS) await world.pay(account, PRICE_WEI)
          await world.chain.mine()
        }
        await world.settle()
      }),
      await grownBy(world, 'round', counts.rounds, async () => {
        for (let i = 0; i < counts.rounds; i++) {
          await world.chain.increaseTime(INTERVAL_SEC)
          await world.rest()
        }
      }),
    ]
  } finally {
    await world.close()
  }
}

async function grownBy({ pool }: World, what: string, count: number, live: () => Promise<void>): Promise<Growth> {
  const before = await tables(pool)
  await live()
  const after = await tables(pool)
  const grown = [...after].map(([table, now]) => {
    const then = before.get(table) ?? { rows: 0, bytes: 0 }
    return { table, rows: (now.rows - then.rows) / count, bytes: (now.bytes - then.bytes) / count }
  })
  const heaviest = grown.filter(({ rows }) => rows !== 0).sort((a, b) => b.bytes - a.bytes)
  return { what, count, bytes: grown.reduce((sum, one) => sum + one.bytes, 0), tables: heaviest }
}

/** Rows of each table, and its bytes including indexes, after vacuuming. */
async function tables(pool: Pool): Promise<Map<string, { rows: number; bytes: number }>> {
  await pool`VACUUM (FULL, ANALYZE)`
  const rows = await pool<{ table: string; rows: number; bytes: number }[]>`
    SELECT relname::text AS table, greatest(reltuples, 0)::int AS rows, pg_total_relation_size(oid)::int8 AS bytes
    FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`
  return new Map(rows.map(({ table, ...size }) => [table, size]))
}
