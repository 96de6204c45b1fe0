// Reads an allowlist as CSV (`address,allocation`), chunk by chunk, and keeps only the parsed rows and one line. A single bad line rejects the list.
// We count all bad lines, and name the first twenty.
import { checksum } from '../../../chain/digest.ts'
import { ALLOCATION_MAX, ENTRIES_MAX } from '../../../domain/payers/allowlists.ts'
import type { Address } from '../../../domain/units.ts'
import type { Entries } from './tree.ts'

/** How many problems we show at most. */
const PROBLEMS_MAX = 20
/** A row has 42 characters, a comma and ten digits; quotes and spaces may be added. */
const LINE_BYTES_MAX = 200
/** How many bytes of a list we read at most, because a file that is not text may have no line ends. */
const BYTES_MAX = 128 * 1024 * 1024
const HEADER = /^address,allocation$/i

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
  const reader = new ListReader(entriesMax)
  for await (const chunk of chunks) {
    reader.take(chunk)
    if (reader.isOver) break
  }
  return reader.end()
}

class ListReader {
  readonly #entriesMax: number
  readonly #addresses: Address[] = []
  readonly #allocations: number[] = []
  readonly #lineOf = new Map<Address, number>()
  readonly #problems: LineProblem[] = []
  #allocated = 0
  #badLines = 0
  #duplicates = 0
  #badChecksums = 0
  #line = 0
  #bytes = 0
  /** The start of a line that is not complete yet; empty once it is too long. */
  #rest = Buffer.alloc(0)
  #restIsLong = false
  isOver = false

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  take(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    let from = 0
    for (let to = chunk.indexOf(10); to >= 0 && !this.isOver; to = chunk.indexOf(10, from)) {
      this.#endLine(chunk.subarray(from, to))
      from = to + 1
    }
    this.#keep(chunk.subarray(from))
    if (this.#bytes <= BYTES_MAX || this.isOver) return
    this.isOver = true
    this.#complain('the list is longer than 128 MiB')
  }

  end(): ListRead {
    if (!this.isOver && (this.#rest.length > 0 || this.#restIsLong)) this.#endLine(new Uint8Array())
    if (this.#addresses.length === 0 && this.#badLines === 0) this.#complain('the list has no row')
    return {
      addresses: this.#addresses,
      allocations: this.#allocations,
      allocated: this.#allocated,
      badLines: this.#badLines,
      duplicates: this.#duplicates,
      badChecksums: this.#badChecksums,
      problems: this.#problems,
    }
  }

  #keep(part: Uint8Array): void {
    this.#restIsLong ||= this.#rest.length + part.length > LINE_BYTES_MAX
    this.#rest = this.#restIsLong ? Buffer.alloc(0) : Buffer.concat([this.#rest, part])
  }

  #endLine(part: Uint8Array): void {
    this.#keep(part)
    this.#line++
    const [bytes, isLong] = [this.#rest, this.#restIsLong]
    ;[this.#rest, this.#restIsLong] = [Buffer.alloc(0), false]
    // Trimming removes the carriage return and the byte order mark that spreadsheets write.
    const cells = bytes.toString().trim().split(',').map(unquoted)
    const isHeader = this.#line === 1 && HEADER.test(cells.join())
    if (isHeader || (cells.join() === '' && !isLong)) return
    const problem = isLong ? `it has more than ${LINE_BYTES_MAX} bytes` : this.#refuse(cells)
    if (problem !== null) this.#complain(problem)
  }

  /** Takes a row, or returns what is wrong with it. */
  #refuse([address = '', allocation = '', ...more]: readonly string[]): string | null {
    if (allocation === '' || more.length > 0) return 'it must be address,allocation'
    if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return 'the address must be 0x and 40 hex digits'
    const wallet = address.toLowerCase() as Address
    const digits = address.slice(2)
    const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
    if (isMixed && checksum(wallet) !== address) {
      this.#badChecksums++
      return 'the checksum of the address is wrong'
    }
    if (!/^[1-9][0-9]{0,9}$/.test(allocation) || Number(allocation) > ALLOCATION_MAX)
      return `the allocation must be a whole number from 1 to ${ALLOCATION_MAX}`
    const known = this.#lineOf.get(wallet)
    if (known !== undefined) {
      this.#duplicates++
      return `the address is already on line ${known}`
    }
    this.isOver = this.#addresses.length === this.#entriesMax
    if (this.isOver) return `a list has at most ${this.#entriesMax.toLocaleString('en')} rows`
    this.#lineOf.set(wallet, this.#line)
    this.#addresses.push(wallet)
    this.#allocations.push(Number(allocation))
    this.#allocated += Number(allocation)
    return null
  }

  #complain(text: string): void {
    this.#badLines++
    if (this.#problems.length < PROBLEMS_MAX) this.#problems.push({ line: Math.max(1, this.#line), text })
  }
}

const unquoted = (cell: string): string => {
  const text = cell.trim()
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1).trim() : text
}
