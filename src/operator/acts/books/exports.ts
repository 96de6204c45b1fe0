// Exports as CSV, streamed from one snapshot of the ledger. The last line holds the number of rows, their control totals and
// the ledger's block. A file without that line is incomplete; do not book it.
import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import { readCursor } from '../../../db/blocks/blocks.ts'
import { inSnapshot } from '../../../db/core/snapshot.ts'
import type { Pool, Sql } from '../../../db/core/sql.ts'
import {
  type Blocks,
  EXPORT_FORMS,
  EXPORT_KINDS,
  type ExportForm,
  openRows,
  ownerForm,
} from '../../../db/reads/exports.ts'
import type { DatedBlock } from '../../../domain/observed.ts'
import type { Address } from '../../../domain/units.ts'
import { csvLine } from '../../../lib/csv.ts'
import type { ChainRead, FollowRules, RuledBy } from '../../../ports/contexts.ts'
import { isOperatorRefusal, type OperatorRefusal, type ReplicaDb, refuseAct } from '../../act.ts'
import { defineReading } from '../../define-act.ts'
import * as field from '../../input.ts'
import { type AskedPeriod, checkPeriod, findPeriod, PERIOD, periodIn } from './period.ts'

type ExportContext = ReplicaDb & ChainRead & RuledBy<FollowRules>

/** How many exports may run at a time on one pool. Each holds a connection for as long as its reader takes. */
const EXPORTS_MAX = 2
/** A reader that takes nothing for this long is gone. Until then its snapshot keeps the database from cleaning up. */
const STALLED_MS = 60_000

/** A file that we write while it is read. It starts with its header. If the database fails, the stream fails too, before the last line. */
export interface ExportFile {
  stream: Readable
  filename: string
  contentType: string
}

const underWay = new WeakMap<Pool, number>()

const TABLES = [...EXPORT_KINDS, 'owner'] as const

/** One table of the books. Without a period, covers the whole ledger. A node belongs to the period of its mint. */
export const exportLedger = defineReading({
  path: null,
  command: 'export',
  group: 'books',
  summary: 'write a table of the books as CSV; the last line has the number of rows and the totals',
  details: `Without a period it exports the whole ledger, from one snapshot. "owner" lists what one wallet was credited and withdrew,
with the hour's price of ether if known.`,
  examples: ['export payments --month 2026-10 --out payments.csv', 'export owner --address <address> --out owner.csv'],
  args: ['kind'],
  onChain: true,
  fields: {
    kind: field.word(`which table: ${TABLES.join(', ')}`, TABLES),
    ...PERIOD,
    address: field.orNull(field.address('the wallet, for "owner"')),
  },
  check: (request, checking) => {
    checkPeriod(request, checking)
    const isOwners = request.kind === 'owner'
    if (isOwners !== checking.isGiven('address'))
      checking.complain('address', isOwners ? 'is required: whose table it is' : 'is only for "owner"')
  },
  run: (deps: ExportContext, { kind, address, ...request }) => {
    const form = kind === 'owner' ? ownerForm(address as Address) : EXPORT_FORMS[kind]
    return exportAs(deps, periodIn(request), kind, form)
  },
})

export const exportOwner = defineReading({
  path: 'exports/owner.csv',
  isFile: true,
  summary: 'what a wallet was credited and withdrew, as CSV, with the price of the hour',
  fields: { address: field.address('the wallet'), ...PERIOD },
  check: checkPeriod,
  run: (deps: ExportContext, { address, ...request }) => exportAs(deps, periodIn(request), 'owner', ownerForm(address)),
})

export const EXPORTS = EXPORT_KINDS.map((kind) =>
  defineReading({
    path: `exports/${kind}.csv`,
    isFile: true,
    summary: `all ${kind} of a period as CSV`,
    fields: PERIOD,
    check: checkPeriod,
    run: (deps: ExportContext, request) => exportAs(deps, periodIn(request), kind, EXPORT_FORMS[kind]),
  }),
)

async function exportAs(
  deps: ExportContext,
  request: AskedPeriod,
  name: string,
  form: ExportForm,
): Promise<ExportFile | OperatorRefusal> {
  const pool = deps.readPool
  const running = underWay.get(pool) ?? 0
  if (running >= EXPORTS_MAX)
    return refuseAct('notYet', `${EXPORTS_MAX} exports are running: try again when one is done.`)
  underWay.set(pool, running + 1)
  const whole = request.from === null && request.to === null
  return begin(pool, name, form, async (sql) => {
    if (whole) return null
    const period = await findPeriod(deps, sql, request)
    return isOperatorRefusal(period) ? period : { after: period.opening.number, upTo: period.closing.number }
  })
}

/** Resolves once the first rows are there. A failure before that gets a proper answer instead of a broken file. */
function begin(
  pool: Pool,
  name: string,
  form: ExportForm,
  blocksOf: (sql: Sql) => Promise<Blocks | null | OperatorRefusal>,
): Promise<ExportFile | OperatorRefusal> {
  const stream = new PassThrough()
  // A reader has its own error handler. If there is no reader, there is no handler, and an error would end the process.
  stream.on('error', () => {})
  const { promise, resolve, reject } = Promise.withResolvers<ExportFile | OperatorRefusal>()
  const running = inSnapshot(pool, async (sql): Promise<string | null> => {
    const head = await readCursor(sql)
    const blocks = await blocksOf(sql)
    if (isOperatorRefusal(blocks)) {
      resolve(blocks)
      return null
    }
    const fetch = await openRows(sql, name, form, blocks)
    let rows = await fetch()
    resolve({
      stream,
      filename: `node-ledger-${name}-${head?.number ?? 0}.csv`,
      contentType: 'text/csv; charset=utf-8',
    })
    await write(stream, csvLine(form.columns))
    const sums = summing(form)
    let count = 0
    for (; rows.length > 0; rows = await fetch()) {
      count += rows.length
      await write(stream, rows.map((row) => sums.add(row)).join(''))
    }
    return lastLine(form, count, sums.totals, head)
  })
  const release = () => underWay.set(pool, (underWay.get(pool) ?? 1) - 1)
  // The slot is freed here, so a caller who has read the last line may ask for the next file immediately.
  running.finally(release).then(
    (last) => stream.end(last ?? undefined),
    (error: unknown) => {
      reject(error)
      stream.destroy(error as Error)
    },
  )
  return promise
}

/** Writes, and waits until the reader has drained the buffer. Throws if the reader disconnected or stalled. */
async function write(stream: PassThrough, text: string): Promise<void> {
  if (stream.write(text)) return
  const abort = new AbortController()
  const onClose = () => abort.abort(new Error('the reader disconnected'))
  stream.once('close', onClose)
  const stallTimer = setTimeout(() => abort.abort(new Error('the reader stalled')), STALLED_MS)
  try {
    if (stream.destroyed) onClose()
    await once(stream, 'drain', { signal: abort.signal })
  } catch {
    throw abort.signal.reason
  } finally {
    clearTimeout(stallTimer)
    stream.off('close', onClose)
  }
}

/** Makes lines from rows and sums their columns on the way, so that the totals match the written lines. */
function summing({ columns, totals }: ExportForm) {
  const sums = totals.map((total) => ({
    name: total.name,
    wei: 0n,
    at: columns.indexOf(total.column),
    only: total.only && { at: columns.indexOf(total.only.column), is: total.only.is },
  }))
  return {
    totals: sums,
    add(row: readonly (string | null)[]): string {
      for (const sum of sums) {
        const cell = row[sum.at]
        if (cell != null && (!sum.only || row[sum.only.at] === sum.only.is)) sum.wei += BigInt(cell)
      }
      return csvLine(row)
    },
  }
}

/** The last line has as many cells as every other line, because readers reject a CSV with uneven lines. */
function lastLine(
  { columns }: ExportForm,
  rows: number,
  totals: readonly { name: string; wei: bigint }[],
  head: DatedBlock | null,
): string {
  const cells: (string | null)[] = [
    '#total',
    `rows=${rows}`,
    ...totals.map(({ name, wei }) => `${name}=${wei}`),
    `block=${head?.number ?? ''}`,
    `hash=${head?.hash ?? ''}`,
    `time=${head ? new Date(head.time * 1000).toISOString() : ''}`,
  ]
  while (cells.length < columns.length) cells.push(null)
  return csvLine(cells)
}
