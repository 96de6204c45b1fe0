// Reads an allowlist as CSV (lib/csv.ts): the wallet, and how many nodes it may buy. Keeps only the parsed rows. A single bad line rejects the list.
// We count all bad lines, and name the first twenty.
import { parseAddress } from '../../../chain/digest.ts'
import { ALLOCATION_MAX, ENTRIES_MAX } from '../../../domain/payers/allowlists.ts'
import type { Address } from '../../../domain/units.ts'
import { readCsv } from '../../../lib/csv.ts'
import type { Entries } from './tree.ts'

/** How many problems we show at most. */
const PROBLEMS_MAX = 20
const COLUMNS = { address: ['address', 'wallet'], allocation: ['allocation', 'amount'] }

/** What is wrong with a line. */
export interface LineProblem {
  line: number
  text: string
}

/** The content of a list, and what is wrong with it. */
export interface ListRead extends Entries {
  /** The sum of the allocations. */
  allocated: number
  badLines: number
  /** How many of the bad lines repeat a wallet, and how many have a wrong checksum. */
  duplicates: number
  badChecksums: number
  problems: LineProblem[]
}

/** Reads a whole list, of at most `entriesMax` rows. */
export async function readList(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  entriesMax = ENTRIES_MAX,
): Promise<ListRead> {
  const list = new List(entriesMax)
  for await (const row of readCsv(chunks, COLUMNS)) {
    const problem = row.problem ?? list.refuse(row.line, row.cells)
    if (problem !== null) list.complain(row.line, problem)
    if (list.isOver) break
  }
  if (list.read.addresses.length === 0 && list.read.badLines === 0) list.complain(1, 'the list has no row')
  return list.read
}

class List {
  readonly #entriesMax: number
  readonly #lineOf = new Map<Address, number>()
  readonly read = {
    addresses: [] as Address[],
    allocations: [] as number[],
    allocated: 0,
    badLines: 0,
    duplicates: 0,
    badChecksums: 0,
    problems: [] as LineProblem[],
  }
  isOver = false

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  /** Takes a row, or returns what is wrong with it. */
  refuse(line: number, { address, allocation }: Readonly<Record<keyof typeof COLUMNS, string>>): string | null {
    const { read } = this
    if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return 'the address must be 0x and 40 hex digits'
    const wallet = parseAddress(address)
    if (wallet === null) {
      read.badChecksums++
      return 'the checksum of the address is wrong'
    }
    if (!/^[1-9][0-9]{0,9}$/.test(allocation) || Number(allocation) > ALLOCATION_MAX)
      return `the allocation must be a whole number from 1 to ${ALLOCATION_MAX}`
    const earlierLine = this.#lineOf.get(wallet)
    if (earlierLine !== undefined) {
      read.duplicates++
      return `the address is already on line ${earlierLine}`
    }
    this.isOver = read.addresses.length === this.#entriesMax
    if (this.isOver) return `a list has at most ${this.#entriesMax.toLocaleString('en')} rows`
    this.#lineOf.set(wallet, line)
    read.addresses.push(wallet)
    read.allocations.push(Number(allocation))
    read.allocated += Number(allocation)
    return null
  }

  complain(line: number, text: string): void {
    this.read.badLines++
    if (this.read.problems.length < PROBLEMS_MAX) this.read.problems.push({ line, text })
  }
}
