// How far a run may go while providers' histories differ, by the rule of evidence about heads (docs/ARCHITECTURE.md, Histories).
//
// Choices in what the document leaves open:
// - A group of providers goes on if at least two are in it, and more than in any other.
// - Once histories have differed, two have to name blocks above the last common one before that is over.

/** A provider: its newest block, and from which block on it has others than the ledger, if it has. Two with one name share them. */
export interface Provider {
  head: number
  fork: { from: number; name: string } | null
  isSilent: boolean
}

/** The last common block, and whether what is above it stops. */
export interface Difference {
  agreed: number
  stops: boolean
}

/** What a run finds, given what the run before found, on a ledger with the blocks `oldest` to `cursor`. */
export function compare(
  providers: readonly Provider[],
  before: Difference | null,
  { oldest, cursor }: { oldest: number; cursor: number },
): Difference | null {
  if (providers.length < 2) return null
  const heard = providers.flatMap(({ head, fork, isSilent }) =>
    isSilent || Math.min(head, cursor) < oldest ? [] : [{ newest: Math.min(head, cursor), fork }],
  )
  const apart = heard.filter(({ newest, fork }) => fork !== null && fork.from <= newest)
  if (apart.length === 0) {
    const isOver = before === null || heard.filter(({ newest }) => newest > before.agreed).length >= 2
    return isOver ? null : before
  }
  const lowest = Math.min(...apart.map(({ newest }) => newest))
  const there = heard.filter(({ newest }) => newest >= lowest)
  const groups = new Map<string, number>()
  let [ours, agreed] = [0, lowest]
  for (const { fork } of there) {
    if (fork === null || fork.from > lowest) ours++
    else {
      const key = `${fork.name} ${fork.from}`
      groups.set(key, (groups.get(key) ?? 0) + 1)
      agreed = Math.min(agreed, Math.max(fork.from, oldest) - 1)
    }
  }
  return { agreed, stops: ours < 2 || ours <= Math.max(...groups.values()) }
}
