// Seeded draws. Each stream of events has its own draws, so the order in which concurrent requests arrive does not
// change what happens to the third request of a kind. Never uses Math.random, because a seed must decide everything.
import { createHash } from 'node:crypto'

export interface Dice {
  /** The next number of a stream, in [0, 1). */
  roll(stream: string): number
  /** One of these things, by the stream's next number. */
  pick<T>(stream: string, from: readonly T[]): T
  /** A whole number from low to high, inclusive. */
  between(stream: string, low: number, high: number): number
}

/** Dice whose draws depend on the seed alone. */
export function createDice(seed: number): Dice {
  const counts = new Map<string, number>()
  const roll = (stream: string): number => {
    const n = counts.get(stream) ?? 0
    counts.set(stream, n + 1)
    return createHash('sha256').update(`${seed}/${stream}/${n}`).digest().readUIntBE(0, 6) / 2 ** 48
  }
  return {
    roll,
    pick<T>(stream: string, from: readonly T[]) {
      if (from.length === 0) throw new RangeError('nothing to pick from')
      return from[Math.floor(roll(stream) * from.length)] as T
    },
    between: (stream, low, high) => low + Math.floor(roll(stream) * (high - low + 1)),
  }
}
