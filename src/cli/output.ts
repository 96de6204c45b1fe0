// Output of a command. Results go to stdout, as text for people or as JSON. Everything else goes to stderr, so that a script can read only stdout,
// and a person sees both.
import { toJson } from '../lib/json.ts'
import { TIME_MAX, timeInWords } from '../lib/times.ts'
import { type Column, type ColumnKind, columnOf } from '../operator/columns.ts'
import { type AtTerminal, Dialogue } from './dialogue.ts'
import { RefusedError, UsageError } from './errors.ts'
import { inEther } from './ether.ts'
import type { Io } from './io.ts'

export interface Output {
  /** True with --json. */
  readonly json: boolean
  /** For messages along the way; goes to stderr. */
  say(text: string): void
  /** The result, or one line of it: `value` with --json, else the text. Resolves once the reader has taken it. */
  result(value: unknown, text: string | (() => string)): Promise<void>
}

export function createOutput(io: Io, json: boolean): Output {
  const command = calledAs(io.env)
  // Shows commands in a message so that this person can run them as written.
  const asCalled = (text: string) => text.replaceAll('"node-ledger ', `"${command} `)
  return {
    json,
    say: (text) => void io.stderr.write(`${asCalled(text)}\n`),
    async result(value, text) {
      const line = json ? toJson(value) : asCalled(typeof text === 'string' ? text : text())
      await written(io, `${line}\n`)
    },
  }
}

/** Writes to stdout. Rejects if the write fails: if the disk is full, for example, there is no result. */
export const written = ({ stdout }: Pick<Io, 'stdout'>, text: string | Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })

/** How the person calls the command: through npx, through a script of their own that sets the variable, or by its name. */
function calledAs({ NODE_LEDGER_COMMAND, npm_command }: NodeJS.ProcessEnv): string {
  return NODE_LEDGER_COMMAND || (npm_command === undefined ? 'node-ledger' : 'npx node-ledger')
}

/** Columns of text, each as wide as its widest entry; a dash for a missing value. */
export function table(heads: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const lines = [heads, ...rows.map((row) => row.map(cell))]
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** A table of these columns. Shows amounts of wei in ether. */
export function tableOf(rows: readonly unknown[], columns: readonly Column[]): string {
  const specs = columns.map(columnOf)
  return table(
    specs.map(({ head, kind }) => (kind === 'ether' ? head.replace(/Wei$/, ' ETH') : head)),
    (rows as Readonly<Record<string, unknown>>[]).map((row) =>
      specs.map(({ field, kind }) => entryOf(kind, row[field])),
    ),
  )
}

/** A terminal line has no room for more; --json shows it in full. */
const RECORD_CHARS_MAX = 80

function entryOf(kind: ColumnKind, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (kind === 'ether') return inEther(value as string)
  if (kind === 'span') return `${value} s`
  if (kind === 'time' && typeof value === 'number') return new Date(value * 1_000)
  if (kind === 'size') return (value as unknown[]).length
  if (kind === 'record') {
    const line = toJson(value)
    return line.length > RECORD_CHARS_MAX ? `${line.slice(0, RECORD_CHARS_MAX)}…` : line
  }
  if (kind !== 'answer') return value
  const last = (value as { error: string | null; status: number | null }[]).at(-1)
  return last?.error ?? last?.status
}

/** Names and values, one pair per line. */
export function fields(pairs: readonly (readonly [string, unknown])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`).join('\n')
}

/** A result in full: names and values, one a line. What is nested is indented under its name. Amounts of wei are in ether. */
export function outline(value: object): string {
  const entries = Object.entries(value).map(([name, of]) => [name, [of].flat() as unknown[]] as const)
  const pairs = entries
    .filter(([, all]) => !all.some(isNested))
    .map(([name, all]) => [name, all.map((one) => shownAs(name, one)).join(' ')] as const)
  const sections = entries.flatMap(([name, all]) =>
    all.filter(isNested).map((one) => `${name}\n${outline(one).replaceAll(/^/gm, '  ')}`),
  )
  return [...(pairs.length > 0 ? [fields(pairs)] : []), ...sections].join('\n')
}

/** A field of a result: its name shows whether it is an amount or a time. */
function shownAs(name: string, value: unknown): string {
  const { kind } = columnOf(name)
  if (kind === 'ether') return ether(value)
  // A Safe's file has milliseconds, which are no time of ours.
  const isTime = kind === 'time' && typeof value === 'number' && value <= TIME_MAX
  return cell(isTime ? new Date(value * 1_000) : value)
}

const isNested = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Date)

const ether = (wei: unknown) => (/^-?\d+$/.test(String(wei)) ? `${inEther(wei as string)} ETH (${wei} wei)` : cell(wei))

function cell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (value instanceof Date) return timeInWords(Math.floor(value.getTime() / 1000), Date.now() / 1000)
  return typeof value === 'object' ? toJson(value) : String(value)
}

/** Shows what a person is about to be asked about. With `--yes` there is no question, so the outcome comes first. */
export function preview({ flags, out }: { flags: ReadonlySet<string>; out: Output }, text: string): void {
  if (!flags.has('yes')) out.say(text)
}

/**
 * Asks before something that cannot be undone, and returns only after a yes. `--yes` answers the question. Without `--yes` and without a terminal it
 * throws a UsageError, because a script must be explicit. If the user declines, it throws a RefusedError that describes the state.
 */
export async function mustAgree(
  call: AtTerminal & { readonly flags: ReadonlySet<string> },
  question: string,
  otherwise = 'No change.',
): Promise<void> {
  if (call.flags.has('yes')) return
  const dialogue = new Dialogue(call)
  if (!dialogue.canAsk) throw new UsageError('No terminal to confirm on: add --yes to do it anyway.')
  try {
    if (!/^y(es)?$/i.test(await dialogue.ask(`${question} [y/N]`, otherwise))) throw new RefusedError(otherwise)
  } finally {
    dialogue.close()
  }
}
