// Bisection over numbers, such as blocks, if each has to be read.

/**
 * The first number above `low` for which `holds` is true, provided that `holds` stays true from there up to `high`. Takes about as many reads as the
 * distance has bits. Null if `holds` returns null for a number.
 */
export async function firstWhere(
  low: number,
  high: number,
  holds: (number: number) => Promise<boolean | null>,
): Promise<number | null> {
  let [before, first] = [low, high]
  while (first - before > 1) {
    const middle = Math.floor((before + first) / 2)
    const holdsThere = await holds(middle)
    if (holdsThere === null) return null
    if (holdsThere) first = middle
    else before = middle
  }
  return first
}
