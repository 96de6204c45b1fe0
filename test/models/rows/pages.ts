// Lists in pages, by docs/ADMIN.md (Pages): newest first, at most `limit` a page, and `nextCursor` is null on the last one. So all pages together are
// the list, every row once, whatever the limit.

export interface Filter {
  state?: string
  from?: string
  tierId?: string
}
export interface Row {
  id: number
  state: string
  from: string
  tierId: string | null
}

/** The ids of the rows that a filter shows, newest first. */
export function listOf(rows: Row[], filter: Filter): number[] {
  const found: number[] = []
  for (const one of rows) {
    if (filter.state !== undefined && one.state !== filter.state) continue
    if (filter.from !== undefined && one.from !== filter.from) continue
    if (filter.tierId !== undefined && one.tierId !== filter.tierId) continue
    found.push(one.id)
  }
  return found.toSorted((a, b) => b - a)
}

/** How many pages a list has. One that is full and the last has no page after it. */
export const pagesOf = (count: number, limit: number): number => Math.max(1, Math.ceil(count / limit))
