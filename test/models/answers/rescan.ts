// A rescan as a second reading of docs/ARCHITECTURE.md (Mending), api/admin.yaml and docs/ADMIN.md: blocks are read again in order until some differ, and the ledger goes
// back to before the first difference; what it did is in the audit log.

export interface Entry {
  kind: 'payment' | 'outflow' | 'ownerAct'
  block: number
  place: number
  wei: bigint
  failed: boolean
  /** Who has it: one of both, or both with other amounts. */
  at: 'both' | 'chain' | 'ledger' | 'differs'
}
export interface Given {
  startBlock: number
  oldest: number
  cursor: number
  entries: Entry[]
  fromBlock: number
  dryRun: boolean
  isHalted: boolean
  /** The height from which on the chain has other blocks; null if it has none. */
  fork: number | null
}
interface Happening {
  blockNumber: number
  key: string
}
export type Words = (entry: Entry, wei: bigint) => string
const ASKED_AT_ONCE = 200

export function rescan(given: Given, words: Words) {
  const { fromBlock, cursor, oldest, startBlock, fork, dryRun } = given
  if (given.isHalted) return { refused: 'conflict' }
  if (fromBlock > cursor) return { refused: 'invalid' }
  // It goes back to the block before, which must be known, unless there is none.
  if (fromBlock < oldest || (fromBlock === oldest && fromBlock !== startBlock)) return { refused: 'conflict' }
  if (fork !== null && fork <= cursor) return { refused: 'notYet' }
  let from = fromBlock
  for (;;) {
    const to = Math.min(cursor, from + ASKED_AT_ONCE - 1)
    const some = given.entries.filter(({ block, at }) => block >= from && block <= to && at !== 'both')
    const told = (side: 'chain' | 'ledger'): Happening[] =>
      some
        .filter(({ at }) => at === side || at === 'differs')
        .map((one) => ({
          blockNumber: one.block,
          key: words(one, side === 'chain' && one.at === 'differs' ? one.wei + 1n : one.wei),
        }))
    if (some.length > 0 || to === cursor) {
      const first = some.length === 0 ? null : Math.min(...some.map(({ block }) => block))
      const found = { missing: told('chain'), surplus: told('ledger') }
      const wentBackTo = dryRun || first === null ? null : first - 1
      return { dryRun, fromBlock, toBlock: to, followedTo: cursor, ...found, wentBackTo }
    }
    from = to + 1
  }
}
