// One account's books over a period, compared with the chain. They contain its balance at the opening block, the movements in the ledger, its balance
// at the closing block, and the blocks in between in which unknown ether moved. We read balances from the chain at exactly those blocks. If we cannot
// read a balance, it is null, never made up.
import { readBlock } from '../../../db/blocks/blocks.ts'
import type { Sql } from '../../../db/core/sql.ts'
import type { Blocks } from '../../../db/reads/exports.ts'
import type { Movement } from '../../../db/reads/statement.ts'
import type { DatedBlock } from '../../../domain/observed.ts'
import type { Address } from '../../../domain/units.ts'
import type { ChainRead } from '../../../ports/contexts.ts'
import type { Period } from './period.ts'

/** How many balances we read at most to locate unknown moves. Each move takes about log2 of the period's length in blocks. */
const READINGS_MAX = 200

/**
 * Ether that came in (positive) or left in these blocks without a trace in the ledger. The range is one block, unless providers no longer have its
 * states.
 */
export interface Other {
  fromBlock: number
  toBlock: number
  wei: bigint
}

export interface Account {
  name: string
  address: Address
  openingWei: bigint | null
  /** Source of the opening balance: the chain at that block or, if no provider has that state, the audited books. */
  openingFrom: 'chain' | 'books' | null
  movements: Movement[]
  /** The opening balance plus the movements. */
  computedWei: bigint | null
  closingWei: bigint | null
  /** The closing balance minus the computed balance: "0" if the ledger explains every wei. */
  otherWei: bigint | null
  /** The blocks in which the other ether moved. If ether came and exactly the same amount left again within one half of the period, we miss it. */
  other: Other[]
  /** The part of `otherWei` that we could not assign to a block. */
  unexplainedWei: bigint | null
}

interface AccountQuery {
  name: string
  address: Address
  period: Period
  movements(blocks: Blocks): Promise<Movement[]>
  /** The account's balance at a block, from the books. */
  booked?(block: number): Promise<bigint | null>
}

const sum = (movements: readonly { wei: bigint }[]) => movements.reduce((total, { wei }) => total + wei, 0n)

/** Draws up one account's books. */
export async function readAccount(deps: ChainRead, sql: Sql, query: AccountQuery): Promise<Account> {
  const { name, address, period } = query
  const { opening, closing } = period
  const [atOpening, atClosing] = await Promise.all([
    deps.chain.balanceAt(address, opening),
    deps.chain.balanceAt(address, closing),
  ])
  const [readWei, closingWei] = [atOpening?.wei ?? null, atClosing?.wei ?? null]
  const openingWei = readWei ?? (await query.booked?.(opening.number)) ?? null
  const openingFrom = openingWei === null ? null : readWei === null ? 'books' : 'chain'
  const movements = await query.movements({ after: opening.number, upTo: closing.number })
  const computedWei = openingWei === null ? null : openingWei + sum(movements)
  const otherWei = computedWei === null || closingWei === null ? null : closingWei - computedWei
  const other =
    openingWei === null || closingWei === null || otherWei === 0n
      ? []
      : await locate(deps, sql, query, [
          { at: opening, wei: openingWei },
          { at: closing, wei: closingWei },
        ])
  const inOneBlock = other.filter(({ fromBlock, toBlock }) => fromBlock === toBlock)
  const unexplainedWei = otherWei === null ? null : otherWei - sum(inOneBlock)
  return { name, address, openingWei, openingFrom, movements, computedWei, closingWei, otherWei, other, unexplainedWei }
}

interface Reading {
  at: DatedBlock
  wei: bigint
}

/** Finds the blocks in which the balance moved differently from the ledger: halves every stretch that differs, down to single blocks. */
async function locate(deps: ChainRead, sql: Sql, query: AccountQuery, ends: [Reading, Reading]): Promise<Other[]> {
  let readings = 0
  async function within(from: Reading, to: Reading): Promise<Other[]> {
    const bookedWei = sum(await query.movements({ after: from.at.number, upTo: to.at.number }))
    const wei = to.wei - from.wei - bookedWei
    if (wei === 0n) return []
    const whole = [{ fromBlock: from.at.number + 1, toBlock: to.at.number, wei }]
    if (to.at.number - from.at.number <= 1 || readings++ >= READINGS_MAX) return whole
    const middle = await readBlockAt(deps, sql, Math.floor((from.at.number + to.at.number) / 2))
    const balance = middle && (await deps.chain.balanceAt(query.address, middle))
    if (!middle || balance === null) return whole
    const reading = { at: middle, wei: balance.wei }
    return [...(await within(from, reading)), ...(await within(reading, to))]
  }
  return within(...ends)
}

const readBlockAt = async (deps: ChainRead, sql: Sql, number: number): Promise<DatedBlock | null> =>
  (await readBlock(sql, number)) ?? (await deps.chain.block(number))
