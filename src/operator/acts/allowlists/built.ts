// A list after reading and building, in parts of a size that one statement can store.
import { type AllowlistPart, PAGE_NODES } from '../../../db/sale/allowlists.ts'
import { NODE_BYTES } from '../../../domain/payers/allowlists.ts'
import type { Hash } from '../../../domain/units.ts'
import type { ListRead } from './read.ts'
import { buildTree } from './tree.ts'

/** Rows per part. A part has twice as many nodes: about 700 KB. */
const PART_ROWS = 8 * PAGE_NODES

/** What we show about a list before it is entered. */
export interface ListPreview
  extends Pick<ListRead, 'allocated' | 'badLines' | 'duplicates' | 'badChecksums' | 'problems'> {
  /** The root of the list's tree; null if a line is bad. */
  root: Hash | null
  entries: number
}

/** A list that can be entered: its preview shows no bad line. */
export interface BuiltList {
  readonly preview: ListPreview
  readonly parts: readonly AllowlistPart[]
}

/** Builds the tree of a list, unless a line is bad. */
export function build(list: ListRead): BuiltList {
  const { addresses, allocations, ...summary } = list
  const entries = addresses.length
  const tree = summary.badLines === 0 ? buildTree(list) : null
  const parts: AllowlistPart[] = []
  for (let from = 0; tree && from < entries; from += PART_ROWS) {
    const to = from + PART_ROWS
    parts.push({
      addresses: addresses.slice(from, to),
      allocations: allocations.slice(from, to),
      leaves: [...tree.leaves.subarray(from, to)],
      // There are nearly twice as many nodes as rows.
      firstPage: (2 * from) / PAGE_NODES,
      nodes: tree.nodes.subarray(2 * from * NODE_BYTES, 2 * to * NODE_BYTES),
    })
  }
  return { preview: { root: tree?.root ?? null, entries, ...summary }, parts }
}
