// How much of a block's list its root covers, as a second reading of docs/ARCHITECTURE.md (Evidence) and of the Polygon forms in docs/decisions: a root commits to
// the whole list, but the chain's own last item may be outside of it, encoded or not.

export interface Item {
  /** Whether it has the form of the chain's own item: from and to the zero address, without gas. */
  isOwn: boolean
  /** Whether its bytes can be computed. */
  encodes: boolean
}
/** What the root in the header is of: of so many leading items as they are, or of something else. */
export interface Root {
  of: number | null
}
export interface Verdict {
  kind: 'proven' | 'contradicted' | 'unprovable'
  count: number
}

export function covered(items: Item[], root: Root): Verdict {
  const last = items.at(-1)
  const before = items.slice(0, -1)
  if (before.some(({ encodes }) => !encodes)) return { kind: 'unprovable', count: 0 }
  if (last !== undefined && !last.encodes && !last.isOwn) return { kind: 'unprovable', count: 0 }
  // What has no bytes is under no root.
  if (last?.encodes !== false && root.of === items.length) return { kind: 'proven', count: items.length }
  if (last?.isOwn && root.of === before.length) return { kind: 'proven', count: before.length }
  return { kind: 'contradicted', count: 0 }
}
