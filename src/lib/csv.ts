// Reads and writes CSV. What we write is RFC 4180: commas, CRLF, doubled quotes. A spreadsheet must never take a cell of it for a formula, because
// some of what we export was written by strangers. What we read comes from any spreadsheet; we refuse a row instead of guessing what it means.

/** Characters with which a formula may begin in a spreadsheet (OWASP's list). */
const FORMULA = /^[=+\-@\t\r\n]/
const NUMBER = /^-?\d+(\.\d+)?$/

/** One cell. Null makes an empty cell. A text that could be a formula gets an apostrophe in front, unless it is a number. */
function csvCell(value: string | null): string {
  if (value === null) return ''
  const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** One line, with its line end. */
export const csvLine = (cells: readonly (string | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`

/** How many bytes of a list we read at most, because a file that is not text may have no line ends. */
const BYTES_MAX = 128 * 1024 * 1024
/** How much of a row we hold at most: an address, a number, and a note of some paragraphs. */
const ROW_CHARS_MAX = 4_000
const SPECIAL = /["\n,;\t]/g
/** What a header may call a column that is for people only. */
const NOTES = ['note', 'notes', 'comment']

/** The columns of a list, in the order that they have without a header. Each with the names that a header may give it, in lower-case letters. */
export type Columns<Name extends string> = Readonly<Record<Name, readonly string[]>>

/** A row by column, or what is wrong with it; and the line on which it begins, from 1. */
export type CsvRow<Name extends string> = { readonly line: number } & (
  | { readonly cells: Readonly<Record<Name, string>>; readonly problem: null }
  | { readonly problem: string }
)

/**
 * The rows of a list, one by one. The first comma, semicolon or tab outside quotes separates the columns of the whole list. The first row may be a
 * header, in any order and case. Empty rows do not count. In a list of one column, further cells are notes, and a row may be a remark after a #.
 * Holds the rows of one chunk at a time, each of at most 4,000 characters.
 */
export async function* readCsv<Name extends string>(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  columns: Columns<Name>,
): AsyncGenerator<CsvRow<Name>> {
  const names = Object.keys(columns) as Name[]
  let titles: readonly string[] | null = null
  for await (const { line, cells, problem } of rawRows(chunks)) {
    const isRemark = names.length === 1 && cells[0]?.startsWith('#') && (titles ?? names)[0] === names[0]
    if (isRemark) continue
    if (problem !== null) yield { line, problem }
    else if (titles === null && isHeader(cells, columns)) {
      titles = cells.map((cell) => titleOf(cell, columns))
      if (names.every((name) => titles?.filter((title) => title === name).length === 1) && !titles.includes(UNKNOWN))
        continue
      return yield { line, problem: headerProblem(columns) }
    } else {
      titles ??= names
      yield { line, ...rowOf(cells, titles, names) }
    }
  }
}

const [NOTE, UNKNOWN] = ['(note)', '(unknown)']

/** The column that a cell of a header names. Empty if it names none, because spreadsheets fill up rows with commas. */
function titleOf(cell: string, columns: Columns<string>): string {
  const letters = cell.toLowerCase().replaceAll(/[^a-z]/g, '')
  if (cell === '' || NOTES.includes(letters)) return cell && NOTE
  return Object.keys(columns).find((name) => columns[name]?.includes(letters)) ?? UNKNOWN
}

/** True if a cell is the name of a column, or if no cell has a digit, because every row of a list has one. */
const isHeader = (cells: readonly string[], columns: Columns<string>) =>
  cells.some((cell) => cell !== '' && titleOf(cell, columns) !== UNKNOWN) || !cells.some((cell) => /\d/.test(cell))

const headerProblem = (columns: Columns<string>) =>
  `a header must have ${Object.values(columns)
    .map((names) => names.join(' or '))
    .join(', and ')}, each once, and otherwise only note`

function rowOf<Name extends string>(cells: readonly string[], titles: readonly string[], names: readonly Name[]) {
  const values = names.map((name) => [name, cells[titles.indexOf(name)] ?? ''] as const)
  const hasNotes = titles === names && names.length === 1
  const isInColumns = cells.every((cell, i) => cell === '' || titles[i] || hasNotes)
  if (!isInColumns || values.some(([, value]) => value === '')) return { problem: `it must be ${names.join(',')}` }
  return { cells: Object.fromEntries(values) as Record<Name, string>, problem: null }
}

interface RawRow {
  readonly line: number
  readonly cells: readonly string[]
  readonly problem: string | null
}

async function* rawRows(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<RawRow> {
  const splitter = new RowSplitter()
  let [bytes, rest]: [number, string] = [0, '']
  let decoder: TextDecoder | null = null
  for await (const chunk of chunks) {
    // A spreadsheet's "Unicode text" is UTF-16. The decoder removes either byte order mark.
    decoder ??= new TextDecoder(chunk[0] === 0xff && chunk[1] === 0xfe ? 'utf-16le' : 'utf-8')
    const text = rest + decoder.decode(chunk, { stream: true })
    // A carriage return at the end of a chunk may be half a line end.
    rest = text.endsWith('\r') ? '\r' : ''
    yield* splitter.take(text.slice(0, text.length - rest.length))
    bytes += chunk.length
    if (bytes > BYTES_MAX) return yield { line: splitter.line, cells: [], problem: 'the list is longer than 128 MiB' }
  }
  yield* splitter.end(rest + (decoder?.decode() ?? ''))
}

/** Splits text into rows of cells, in pieces of any size that do not cut a line end in two. */
class RowSplitter {
  /** The line that is being read, from 1. */
  line = 1
  #from = 1
  #separator: string | null = null
  #cells: string[] = []
  #cell = ''
  #quotes: 'none' | 'open' | 'closed' | 'after' = 'none'
  #size = 0
  #problem: string | null = null

  /** The rows that end in this text. */
  take(piece: string): RawRow[] {
    const text = piece.replaceAll(/\r\n?/g, '\n')
    const rows: RawRow[] = []
    let at = 0
    for (const { 0: char, index } of text.matchAll(SPECIAL)) {
      this.#add(text.slice(at, index))
      at = index + 1
      if (char === '\n') this.line++
      if (char === '"') this.#quote()
      else if (this.#quotes === 'open') this.#add(char)
      else if (char === '\n') rows.push(...this.#endRow())
      else this.#separate(char)
    }
    this.#add(text.slice(at))
    return rows
  }

  /** The rows that end with the list. */
  end(piece: string): RawRow[] {
    const rows = this.take(piece)
    if (this.#quotes === 'open') this.#fail('its quotes do not end')
    return [...rows, ...this.#endRow()]
  }

  #add(text: string): void {
    if (text === '') return
    this.#size += text.length
    if (this.#size > ROW_CHARS_MAX) this.#fail(`it has more than ${ROW_CHARS_MAX.toLocaleString('en')} characters`)
    if (this.#problem !== null) return
    if (this.#quotes === 'none' || this.#quotes === 'open') this.#cell += text
    else if (text.trim() === '') this.#quotes = 'after'
    else this.#fail('text follows a closing quote')
  }

  #quote(): void {
    if (this.#quotes === 'open') this.#quotes = 'closed'
    else if (this.#quotes === 'closed') {
      this.#quotes = 'open'
      this.#add('"')
    } else if (this.#quotes === 'none' && this.#cell.trim() === '' && this.#problem === null) {
      this.#quotes = 'open'
      this.#cell = ''
    } else this.#add('"')
  }

  #separate(char: string): void {
    this.#separator ??= char
    if (char === this.#separator) this.#endCell()
    else this.#add(char)
  }

  /** What follows in the line does not count. */
  #fail(problem: string): void {
    this.#problem ??= problem
    this.#quotes = 'none'
    this.#cell = ''
  }

  #endCell(): void {
    if (this.#problem === null) this.#cells.push(this.#cell.trim())
    this.#cell = ''
    this.#quotes = 'none'
    this.#size++
  }

  #endRow(): RawRow[] {
    this.#endCell()
    const [line, cells, problem] = [this.#from, this.#cells, this.#problem]
    this.#from = this.line
    this.#cells = []
    this.#problem = null
    this.#size = 0
    return problem === null && cells.every((cell) => cell === '') ? [] : [{ line, cells, problem }]
  }
}
