// Bisection over numbers of which each has to be read, such as blocks.

/**
 * The first number above `low` for which `holds` is true, if it is true for `high` and for every number from the first one on. About as many reads as
 * the distance has bits. Null once a read has no answer.
 */
export async function firstWhere(
  low: number,
  high: number,
  holds: (number: number) => Promise<boolean | null>,
): Promise<number | null> {
  let [before, first] = [low, high]
  while (first - before > 1) {
    const middle = Math.floor((before + first) / 2)
    const found = await holds(middle)
    if (found === null) return null
    if (found) first = middle
    else before = middle
  }
  return first
}
