// The blocks of a surveyed range that we have read, and how these blocks changed the watched accounts. The accounts' states must show these changes
// and no others.

import type { Block, ObservedRange, Watching } from '../../domain/observed.ts'
import type { Address, Hash } from '../../domain/units.ts'
import type { LoggedBlock, SurveyReader } from '../../ports/chain.ts'

/** How the blocks that we have read changed an account. */
export interface Effect {
  /** How many transactions the account sent. */
  nonces: number
  balanceWei: bigint
}

export interface Seen {
  /** The hash of a block; null if we have not read it. */
  hashOf(number: number): Hash | null
  /** Reads the given blocks, except those that it has read before. @returns false if they are not available. */
  read(numbers: readonly number[]): Promise<boolean>
  /** How the blocks that we have read, after `low` and up to `high`, changed an account. */
  effectOn(account: Address, low: number, high: number): Effect
  /** Everything we have read up to `last`, as one range that ends there. */
  rangeTo(last: Block): ObservedRange
}

/** Starts with no blocks read. `loggedBlocks` are the blocks with logs of the factory. */
export function createSeen(survey: SurveyReader, loggedBlocks: readonly LoggedBlock[], watching: Watching): Seen {
  const hashes = new Map<number, Hash>()
  const ranges: ObservedRange[] = []
  const effects = new Map<Address, (Effect & { block: number })[]>()

  function note(account: Address, block: number, effect: Partial<Effect>): void {
    const entries = effects.get(account) ?? []
    effects.set(account, entries)
    entries.push({ block, nonces: 0, balanceWei: 0n, ...effect })
  }

  function add(range: ObservedRange): void {
    ranges.push(range)
    for (const { number, hash } of range.blocks) hashes.set(number, hash)
    for (const { wallet, blockNumber, valueWei, succeeded } of range.transfers)
      if (succeeded) note(wallet, blockNumber, { balanceWei: valueWei })
    for (const { wallet, blockNumber, valueWei, feeWei, succeeded } of range.outflows)
      note(wallet, blockNumber, { nonces: 1, balanceWei: -feeWei - (succeeded ? valueWei : 0n) })
    const wallets = new Set(watching.wallets.map(({ wallet }) => wallet))
    // Transactions from a payments wallet to the factory are already counted among the wallet's outflows.
    for (const { sender, blockNumber } of range.sent) if (!wallets.has(sender)) note(sender, blockNumber, { nonces: 1 })
  }

  return {
    hashOf: (number) => hashes.get(number) ?? null,
    async read(numbers) {
      const unread = [...new Set(numbers)].filter((number) => !hashes.has(number)).toSorted((a, b) => a - b)
      if (unread.length === 0) return true
      const range = await survey.observeBlocks(unread, loggedBlocks, watching)
      if (range) add(range)
      return range !== null
    },
    effectOn(account, low, high) {
      const sum: Effect = { nonces: 0, balanceWei: 0n }
      for (const { block, nonces, balanceWei } of effects.get(account) ?? []) {
        if (block <= low || block > high) continue
        sum.nonces += nonces
        sum.balanceWei += balanceWei
      }
      return sum
    },
    rangeTo: (last) => ({ ...together(ranges, last), watching }),
  }
}

/** Merges ranges into one that ends at `last`, in chain order. */
function together(ranges: readonly ObservedRange[], last: Block): Omit<ObservedRange, 'watching'> {
  type Placed = { blockNumber: number; txIndex: number; logIndex?: number }
  const inOrder = <T extends Placed>(pick: (range: ObservedRange) => readonly T[]): T[] =>
    ranges
      .flatMap(pick)
      .filter(({ blockNumber }) => blockNumber <= last.number)
      // Of one transaction we read the entries in their order.
      .toSorted((a, b) => a.blockNumber - b.blockNumber || (a.logIndex ?? a.txIndex) - (b.logIndex ?? b.txIndex))
  const blocks = ranges.flatMap((range) => range.blocks.filter(({ number }) => number < last.number))
  return {
    isSurveyed: true,
    blocks: [...blocks.toSorted((a, b) => a.number - b.number), last],
    fees: [],
    transfers: inOrder((range) => range.transfers),
    outflows: inOrder((range) => range.outflows),
    sent: inOrder((range) => range.sent),
    failedWithdrawals: inOrder((range) => range.failedWithdrawals),
    events: inOrder((range) => range.events),
  }
}
