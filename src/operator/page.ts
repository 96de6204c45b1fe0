// Pages of long lists: newest first, each page beginning after the last row of the one before. The cost of a page does not grow
// with how far back it lies.
import type { FieldReader } from './input.ts'

const LIMIT_DEFAULT = 50
export const LIMIT_MAX = 200

/** A page: rows under their own name, and the `cursor` of the next page, null on the last. */
export type PageOf<T> = Record<string, T[] | string | null>

/** `limit` (1 to 200, 50) and `cursor`, the id of the last row seen. */
export function readPageFields(fields: FieldReader): { limit: number; before: number | null } {
  return {
    limit: fields.wholeOrNull('limit', 1, LIMIT_MAX) ?? LIMIT_DEFAULT,
    before: fields.wholeOrNull('cursor', 1, Number.MAX_SAFE_INTEGER),
  }
}

/** Makes a page of the rows read, of which one more than the limit was asked for: it says whether there is another page. */
export function cachedResponseOf<T extends { id: number }>(name: string, rows: readonly T[], limit: number): PageOf<T> {
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return { [name]: shown, nextCursor: last ? String(last.id) : null }
}
