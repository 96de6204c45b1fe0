// Which list of a block's inner transfers counts, as a second reading of docs/ARCHITECTURE.md (Locating): two providers, if there are two, return the same list.
// A trace has eight seconds at most. Who does not answer in time is not asked for a while.
//
// Choices in what the document leaves open:
// - A pause lasts a minute, and twice as long after each further trace out of time, up to sixteen minutes. Any other answer ends that.
// - If too few providers are left to agree, none is asked.

/** What a provider answers: a list by its name, nothing, or nothing in all its time. */
export type Answer = { says: string | null; isLate: boolean }

export class Tracer {
  readonly #rests: { until: number; minutes: number }[]
  constructor(providers: number) {
    this.#rests = Array.from({ length: providers }, () => ({ until: 0, minutes: 0 }))
  }

  /** Whom it asks at this time, in milliseconds. */
  asks(now: number): number[] {
    const awake = this.#rests.flatMap(({ until }, n) => (until > now ? [] : [n]))
    return this.#rests.length > 1 && awake.length < 2 ? [] : awake
  }

  /** The list that counts of what those say who were asked. `endsAt`: when each of their answers came. */
  hears(asked: number[], answers: Answer[], endsAt: (provider: number) => number): string | null {
    const votes = new Map<string, number>()
    for (const [n, provider] of asked.entries()) {
      const { says, isLate } = answers[n] ?? { says: null, isLate: false }
      if (says !== null) votes.set(says, (votes.get(says) ?? 0) + 1)
      const rest = this.#rests[provider]
      if (rest === undefined) continue
      // A list counts, however late it comes.
      rest.minutes = says === null && isLate ? Math.min(16, Math.max(1, rest.minutes * 2)) : 0
      rest.until = rest.minutes === 0 ? 0 : endsAt(provider) + rest.minutes * 60_000
    }
    // A provider that rests has no voice: two of those that were asked must agree, or the only one there is.
    const needed = this.#rests.length === 1 ? 1 : 2
    const most = Math.max(0, ...votes.values())
    const [first, ...others] = [...votes].filter(([, count]) => count === most)
    return first !== undefined && others.length === 0 && most >= needed ? first[0] : null
  }
}
