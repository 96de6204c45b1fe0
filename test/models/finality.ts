// How far a chain is final by what its providers say, as a second reading of docs/ARCHITECTURE.md and docs/THREATS.md: no provider alone takes a block
// back or makes one final.

export interface Said {
  number: number
  hash: string
}
/** What counts of what several providers call final; `null` if none of them calls a block final. */
export interface Final extends Said {
  voices: number
}

/**
 * The lowest block that a provider calls final. A provider that names another block than the ledger has there is left out, unless no other is left. A provider
 * speaks for a block only if the ledger has that very block.
 */
export function finalOf(said: Said[], own: Map<number, string>): Final | null {
  const voices = said.filter((one) => own.get(one.number) === one.hash).length
  const others = said.filter((one) => own.get(one.number) === undefined || own.get(one.number) === one.hash)
  let lowest: Said | null = null
  for (const one of others.length > 0 ? others : said) if (lowest === null || one.number < lowest.number) lowest = one
  return lowest && { ...lowest, voices }
}

/** The height below which nothing is taken back: never above what was followed, and 64 blocks below it if fewer than two providers speak for it. */
export function firm(final: Final, followed: number): number {
  let height = final.number
  while (height > followed || (final.voices < 2 && height > followed - 64)) height--
  return height
}
