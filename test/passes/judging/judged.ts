// Payments as if they had been followed, judged by pages: for the tests of judging.
import assert from 'node:assert/strict'
import { readCursor } from '../../../src/db/blocks/blocks.ts'
import { insertIncomingTransfers } from '../../../src/db/payments/rows.ts'
import { type Address, address, hash, wei } from '../../../src/domain/units.ts'
import { judge } from '../../../src/passes/steps/judge.ts'
import type { World } from '../../support/world.ts'

export const payer = (n: number): Address => address(`0x${(0xace0 + n).toString(16).padStart(40, '0')}`)
export const keyOf = (n: number) => hash(`0x${(0x5a1e0000 + n).toString(16).padStart(64, '0')}`)

export interface Paid {
  from: Address
  valueWei: bigint
  succeeded?: boolean
}

/** Writes payments into the followed block, in this order, as following would; the rows are inserted in another order. */
export async function enterPayments(world: World, paid: readonly Paid[]): Promise<void> {
  const { number: blockNumber, hash: blockHash, time: blockTime } = (await readCursor(world.pool)) ?? assert.fail()
  const transfers = paid.map(({ from, valueWei, succeeded = true }, txIndex) => ({
    blockNumber,
    blockHash,
    blockTime,
    txIndex,
    from,
    succeeded,
    txHash: keyOf(txIndex),
    wallet: world.at(3),
    valueWei: wei(valueWei),
  }))
  const size = Math.ceil(transfers.length / 100)
  for (let last = transfers.length; last > 0; last -= size)
    await insertIncomingTransfers(world.pool, transfers.slice(Math.max(0, last - size), last))
}

type Parts = Partial<Pick<World['ctx'], 'log' | 'chain' | 'contract'>>

export type JudgeOptions = Parts & { most?: number }

/** Judges all that waits, by pages of this size. */
export async function judgePages(world: World, page: number, { most = 10_000, ...parts }: JudgeOptions = {}) {
  const cursor = (await readCursor(world.pool)) ?? assert.fail()
  const run = { checkLock: () => {}, outOfTime: () => false, page, most }
  return await judge({ ...world.ctx, ...parts }, cursor, cursor.number, run)
}

/** The payments' states in their order, as one letter each. */
export async function statesOf(world: World): Promise<string> {
  const rows = await world.pool<{ state: string }[]>`SELECT state FROM payments ORDER BY tx_index`
  return rows.map(({ state }) => state[0]).join('')
}
