// How far a chain is final by what its providers say, as a second reading of docs/ARCHITECTURE.md and docs/THREATS.md: no provider alone takes a block
// back or makes one final, and one that contradicts is not passed over.

export interface Said {
  number: number
  hash: string
}
/** What counts of what several providers call final; `null` if none of them calls a block final. */
export interface Final extends Said {
  voices: number
}

/** The lowest block that a provider calls final. One that names another block of the same height does not speak for it. */
export function finalOf(said: Said[]): Final | null {
  let lowest: Said | null = null
  for (const one of said) if (lowest === null || one.number < lowest.number) lowest = one
  if (lowest === null) return null
  let voices = 0
  for (const one of said) if (one.number !== lowest.number || one.hash === lowest.hash) voices++
  return { ...lowest, voices }
}

/** The block that a lone voice may make final: 64 blocks and a quarter of an hour below the last of these times, one for each block from 0 on. */
export function aged(times: number[]): number {
  const [height, now] = [times.length - 1, times.at(-1) ?? 0]
  let found = -1
  for (const [number, time] of times.entries()) if (height - number >= 64 && now - time >= 15 * 60) found = number
  return found
}

/** The height below which nothing is taken back: never above what was followed, and an aged block if fewer than two providers speak for it. */
export function firm(final: Final, times: number[]): number {
  let height = final.number
  while (height > times.length - 1 || (final.voices < 2 && height > aged(times))) height--
  return height
}
