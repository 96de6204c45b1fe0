// How far apart two words are, to guess what a person meant.

/** The edit distance: how many letters to add, drop or change to get from one word to the other. */
export function editsBetween(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, j) => j)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const change = (previous[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      row[j] = Math.min(change, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
    }
    previous = row
  }
  return previous[to.length] ?? 0
}
