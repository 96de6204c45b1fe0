// Up to which block a run judges and mints, as a second reading of docs/SETTINGS.md (FINALITY) and docs/ARCHITECTURE.md (Fork guard; Histories; Finality): never above the last
// common block of histories that differ, and with `guarded` only as far as the chain is final if the contract cannot use the guard.

export interface Rule {
  finality: number | 'guarded' | 'finalized'
  guardUsable: boolean
  /** The last common block of histories that differ; null if they do not. */
  common: number | null
}

/** `firm`: how far the chain is final; null if nothing is. */
export function settledTo({ finality, guardUsable, common }: Rule, cursor: number, firm: number | null): number {
  const bounds = [cursor]
  if (common !== null) bounds.push(common)
  if (typeof finality === 'number') bounds.push(cursor - finality)
  else if (finality === 'finalized' || !guardUsable) bounds.push(firm ?? -1)
  return bounds.reduce((least, one) => (one < least ? one : least))
}
