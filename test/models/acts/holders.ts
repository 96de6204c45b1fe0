// Who held a node when, and whose a credit or a withdrawal is, by docs/BOOKS.md (An owner's file, Exports), docs/CONTRACT.md (Rounds) and the tables of
// migrations/0001_schema.sql. What happened is taken one after the other, in the order of the chain.
//
// Choices in what the documents leave open:
// - The wallet "that held the node after the round's block" is the one that held it when the block ended.
// - A node has the rounds after its mint and before its expulsion, also within a block.
// - An owner's file is in the order of the blocks; in a block credits come first, and each kind by node.

export type Happening = { block: number } & (
  | { kind: 'mint'; node: number; to: string; cohort: number }
  | { kind: 'transfer'; node: number; to: string }
  | { kind: 'withdrawal'; node: number; to: string; wei: bigint; isFailed: boolean }
  | { kind: 'expulsion'; node: number }
  | { kind: 'round'; amounts: Map<number, bigint> }
)
/** In the order of the chain; `place` is its number in all. */
export type Placed = Happening & { place: number }

export interface Movement {
  kind: 'credit' | 'withdrawal'
  block: number
  node: number
  holder: string
  wei: bigint
  /** The place of the round or the withdrawal. */
  place: number
  to: string | null
}

/** The wallet that held a node after everything up to a place. */
function holderAt(all: Placed[], node: number, upTo: (one: Placed) => boolean): string {
  let holder = ''
  for (const one of all)
    if ((one.kind === 'mint' || one.kind === 'transfer') && one.node === node && upTo(one)) holder = one.to
  return holder
}

export const holderOf = (all: Placed[], node: number): string => holderAt(all, node, () => true)

/** The nodes that a round credits, with their cohorts. */
export function creditedBy(all: Placed[], round: Placed): { node: number; cohort: number }[] {
  const found: { node: number; cohort: number }[] = []
  for (const one of all) {
    if (one.kind !== 'mint' || one.place > round.place) continue
    const out = all.find((other) => other.kind === 'expulsion' && other.node === one.node)
    if (out === undefined || out.place > round.place) found.push(one)
  }
  return found
}

/** Every credit and every withdrawal that moved ether, each with the wallet whose it is. */
export function movementsOf(all: Placed[]): Movement[] {
  const found: Movement[] = []
  for (const one of all) {
    const { block, place } = one
    if (one.kind === 'withdrawal' && !one.isFailed) {
      const holder = holderAt(all, one.node, (other) => other.place < place)
      found.push({ kind: 'withdrawal', block, node: one.node, holder, wei: one.wei, place, to: one.to })
    }
    if (one.kind !== 'round') continue
    for (const { node, cohort } of creditedBy(all, one)) {
      const wei = one.amounts.get(cohort)
      const holder = holderAt(all, node, (other) => other.block <= block)
      if (wei !== undefined) found.push({ kind: 'credit', block, node, holder, wei, place, to: null })
    }
  }
  return found
}

/** The movements of a wallet's file. */
export function fileOf(all: Placed[], wallet: string): Movement[] {
  const own = movementsOf(all).filter(({ holder }) => holder === wallet)
  return own.toSorted(
    (a, b) => a.block - b.block || (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : a.node - b.node || a.place - b.place),
  )
}

/** What a file sums, by docs/BOOKS.md: each column of wei, of withdrawals only what was sent. */
const SUMMED: Record<string, string[]> = {
  ...{ nodes: ['creditedWei', 'withdrawnWei', 'balanceWei'], credits: ['amountWei'], withdrawals: ['amountWei'] },
}

/** A whole file from its rows: a header, and a last line as long as the others, with the rows, the sums and the ledger's block. */
export function fileText(
  kind: string,
  columns: readonly string[],
  rows: Record<string, string | null>[],
  head: { number: number; hash: string; time: number } | null,
): string {
  const sumOf = (name: string, column: string, some: Record<string, string | null>[]) => {
    let wei = 0n
    for (const row of some) wei += BigInt(row[column] ?? 0)
    return `${name}=${wei}`
  }
  const of = (one: string) => rows.filter((row) => row.kind === one)
  const summed = rows.filter((row) => kind !== 'withdrawals' || row.status === 'sent')
  const sums =
    kind === 'owner'
      ? [sumOf('creditedWei', 'amountWei', of('credit')), sumOf('withdrawnWei', 'amountWei', of('withdrawal'))]
      : (SUMMED[kind] ?? []).map((name) => sumOf(name, name, summed))
  const end = [head?.number ?? '', head?.hash ?? '', head === null ? '' : new Date(head.time * 1_000).toISOString()]
  const last = ['#total', `rows=${rows.length}`, ...sums, `block=${end[0]}`, `hash=${end[1]}`, `time=${end[2]}`]
  const lines = [columns, ...rows.map((row) => columns.map((name) => row[name] ?? '')), last]
  return lines.map((cells) => `${[...cells, ...columns.slice(cells.length).fill('')].join(',')}\r\n`).join('')
}
