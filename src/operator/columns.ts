// The columns of lists, on the command line and in the console: a field of the rows, its heading, and how it is shown.

/**
 * How a column's values are shown. A time is a date, or unix seconds. `size` is the length of a list, `answer` the outcome of the last of several
 * attempts, `record` any object.
 */
export type ColumnKind =
  | 'address'
  | 'answer'
  | 'count'
  | 'ether'
  | 'hash'
  | 'number'
  | 'record'
  | 'size'
  | 'span'
  | 'state'
  | 'text'
  | 'time'
  | 'words'

/** A field, or a heading with a field. The field's name decides how it is shown, unless the column does. */
export type Column = string | readonly [head: string, field: string, kind?: ColumnKind]

/** A column with every part written out. */
export interface ShownColumn {
  readonly head: string
  readonly field: string
  readonly kind: ColumnKind
}

const KINDS: readonly (readonly [name: RegExp, kind: ColumnKind])[] = [
  [/Wei$/, 'ether'],
  [/(^a|A)t$|Time$|Since$|Until$/, 'time'],
  [/Sec$/, 'span'],
  [/(^t|T)xHash$/, 'hash'],
  [/^(address|from|owner|payee|sender|wallet|holdingToken)$/, 'address'],
  [/^(state|status)$/, 'state'],
  [/^(kind|reason|action)$/, 'words'],
  [
    /^(allocated|count|entries|gasUsed|pending|sold|supply|maxPerWallet)$|Block$|Blocks$|(^b|B)lockNumber$|Count$/,
    'count',
  ],
  [/^(id|nonce|cohort|tierNo|version|sessions)$|Bps$|Id$/, 'number'],
]

export function columnOf(column: Column): ShownColumn {
  const [head, field, kind] = typeof column === 'string' ? [column, column] : column
  return { head, field, kind: kind ?? KINDS.find(([name]) => name.test(field))?.[1] ?? 'text' }
}
