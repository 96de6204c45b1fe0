// From which block versions of tiers hold, as a second reading of docs/ADMIN.md (Tiers) and the schema's words: the first block that is not before the
// version's time. Until we follow that block, a change that was entered at once has an estimate, and a planned one has none.

export interface Block {
  number: number
  time: number
}
export interface Version {
  tierId: string
  fromTime: number
  /** Null: planned, and not begun. */
  fromBlock: number | null
  isCancelled: boolean
}

/** The block from which a version holds once a range is followed. */
function after(version: Version, followed: Block | null, range: Block[]): number | null {
  const { fromBlock, fromTime, isCancelled } = version
  const isPlanned = fromBlock === null
  // It has begun, or its time came, and it did not fit.
  if (!isPlanned && followed !== null && fromBlock <= followed.number) return fromBlock
  if (isPlanned && (isCancelled || (followed !== null && fromTime <= followed.time))) return null
  for (const block of range) if (block.time >= fromTime) return block.number
  let estimate = fromBlock
  while (estimate !== null && range.some(({ number }) => number === estimate)) estimate++
  return estimate !== null && estimate < (range[0]?.number ?? 0) ? (range.at(-1)?.number ?? 0) + 1 : estimate
}

/** The versions that get another first block by a range. */
export const moved = (versions: Version[], followed: Block | null, range: Block[]): Version[] =>
  versions
    .map((one) => ({ ...one, fromBlock: after(one, followed, range) }))
    .filter(({ fromBlock }, n) => fromBlock !== versions[n]?.fromBlock)
