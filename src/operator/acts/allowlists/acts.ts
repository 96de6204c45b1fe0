// The operator's allowlists: wallets with the number of nodes that each may buy, identified by the root of a tree over them. A list can never change,
// and has no effect until a tier names it. The operator may publish it. The route takes a short list, the command a file.

import { inTransaction, type Pool } from '../../../db/core/sql.ts'
import { notifyLedgerChanged } from '../../../db/core/state.ts'
import { insertAllowlist, insertAllowlistPart, publishAllowlist, readAllowlists } from '../../../db/sale/allowlists.ts'
import { POSTED_ENTRIES_MAX } from '../../../domain/payers/allowlists.ts'
import type { Hash } from '../../../domain/units.ts'
import { counted } from '../../../domain/units.ts'
import type { LedgerDb } from '../../../ports/contexts.ts'
import { type Actor, type OperatorRefusal, recordAct, refuseAct, refuseField } from '../../act.ts'
import { defineAct, defineReading } from '../../define-act.ts'
import * as field from '../../input.ts'
import { type BuiltList, build, type ListPreview } from './built.ts'
import { readList } from './read.ts'

/** Newest first. */
export const listAllowlists = defineReading({
  path: 'allowlists',
  command: 'allowlists list',
  summary: 'list the allowlists, newest first',
  examples: ['allowlists list'],
  fields: {},
  run: async ({ pool }: LedgerDb) => ({ allowlists: await readAllowlists(pool) }),
  columns: ['root', 'label', 'entries', 'allocated', 'published', 'enteredBy', 'enteredAt'],
})

/** A list, entered or previewed. `changed` is false if the ledger already had it, or if this is a preview. */
export interface EnteredList extends ListPreview {
  dryRun: boolean
  changed: boolean
}

const ROWS_BYTES_MAX = 16_384
/** What the operator enters besides the rows. */
export const GIVEN = { label: field.text('its name, for you', { max: 64 }), reason: field.REASON }

export const addAllowlist = defineAct({
  path: 'allowlists',
  scope: 'prices',
  command: 'allowlists add',
  summary: 'add an allowlist: wallets, and how many nodes each may buy',
  details: `Each row of the file is address,allocation. A first line of column names (wallet, amount, note) can give another order. Commas, semicolons
or tabs separate the cells; there are at most 1,000,000 rows. If a line is bad, the service adds nothing.
A list never changes: add a new one, and enter its root in the tier.`,
  examples: ['allowlists add --file <list-file> --label "first phase" --yes'],
  asks: 'Enter this list permanently?',
  leavesOut: ['rows'],
  fields: {
    rows: field.ofForm<string>(
      `lines of address,allocation, up to ${POSTED_ENTRIES_MAX}; the command takes larger lists`,
      {
        schema: { type: 'string', maxLength: ROWS_BYTES_MAX },
        value: 'rows',
        otherwise: '',
        form: `lines of address,allocation, up to ${POSTED_ENTRIES_MAX}`,
        parse: (input) => (typeof input === 'string' && input.length <= ROWS_BYTES_MAX ? input : undefined),
      },
    ),
    label: GIVEN.label,
    dryRun: field.flag('only check it, and list its mistakes'),
    reason: GIVEN.reason,
  },
  run: async ({ pool }: LedgerDb, actor, { rows, dryRun, ...of }): Promise<EnteredList | OperatorRefusal> => {
    const list = build(await readList([Buffer.from(rows)], POSTED_ENTRIES_MAX))
    if (dryRun) return { ...list.preview, dryRun, changed: false }
    if (list.preview.root === null)
      return refuseField('invalid', 'rows', `has bad lines. ${problemsInWords(list.preview).join(' ')}`)
    return await enterList(pool, actor, list, of)
  },
  says: enteredInWords,
})

/** Enters a list without bad lines, in one transaction. */
export async function enterList(
  pool: Pool,
  actor: Actor,
  { preview, parts }: BuiltList,
  { label, reason }: { label: string; reason: string | null },
): Promise<EnteredList> {
  const { root, entries, allocated } = preview
  if (root === null) throw new Error('a list with a bad line cannot be entered')
  return await inTransaction(pool, async (sql) => {
    const id = await insertAllowlist(sql, { root, label, entries, allocated, enteredBy: actor.name })
    if (id === null) return { ...preview, dryRun: false, changed: false }
    for (const part of parts) await insertAllowlistPart(sql, id, part)
    const after = { label, entries, allocated }
    await recordAct(sql, actor, { action: 'allowlistEntered', subject: root, after, reason })
    await notifyLedgerChanged(sql)
    return { ...preview, dryRun: false, changed: true }
  })
}

export function enteredInWords({ dryRun, changed, ...preview }: EnteredList): string {
  const { root } = preview
  if (root === null) return problemsInWords(preview).join(' ')
  return `${dryRun ? 'Valid, not entered' : changed ? 'Entered' : 'No change'}: ${root}, ${sizeInWords(preview)}.`
}

export const sizeInWords = ({ entries, allocated }: Pick<ListPreview, 'entries' | 'allocated'>) =>
  `${counted(entries, 'wallet')}, ${counted(allocated, 'node')} in all`

/** What is wrong with a list, one problem a line. */
export const problemsInWords = ({ badLines, duplicates, badChecksums, problems }: ListPreview): string[] => [
  `Bad lines: ${badLines}; duplicates: ${duplicates}; wrong checksums: ${badChecksums}.`,
  ...problems.map(({ line, text }) => `Line ${line}: ${text}.`),
]

export const publishList = defineAct({
  path: 'allowlists/:root/publish',
  scope: 'prices',
  command: 'allowlists publish',
  summary: 'publish an allowlist: from then on anyone may read all of it',
  details: 'Anyone can then recompute its root, and check that a wallet is not on it. You cannot undo this.',
  examples: ['allowlists publish <root> --yes'],
  asks: 'Publish it?',
  fields: { root: field.hash('the list'), reason: field.REASON },
  change: async ({ sql, record }, { root }): Promise<{ root: Hash; changed: boolean } | OperatorRefusal> => {
    if (!(await readAllowlists(sql)).some((list) => list.root === root))
      return refuseAct('notFound', `There is no allowlist ${root}.`)
    const hasChanged = await publishAllowlist(sql, root)
    if (hasChanged) record({ action: 'allowlistPublished', subject: root })
    return { root, changed: hasChanged }
  },
  preview: async ({ root, changed }, _request, sql) => {
    const list = (await readAllowlists(sql)).find((one) => one.root === root)
    return changed && list
      ? `Anyone may then read all of "${list.label}": ${sizeInWords(list)}. You cannot undo this.`
      : 'No change: it is published already.'
  },
  says: ({ root, changed }) => (changed ? `Published: ${root}.` : 'No change.'),
})
