// What several providers say together, as a second reading of docs/ARCHITECTURE.md (Histories, Finality, Evidence): of several, two must say the same, and more than say
// anything else. Who does not answer says nothing, and the oldest block that one calls final counts.

/** Null: it has nothing, or gives no answer that can be read. */
export type Said = string | null

/** What counts of the answers of all configured providers; null if nothing does. */
export function agreed(said: Said[]): Said {
  const needed = said.length === 1 ? 1 : 2
  const words = [...new Set(said.filter((one) => one !== null))]
  const votes = words.map((word) => said.filter((one) => one === word).length)
  const most = Math.max(0, ...votes)
  if (most < needed || votes.filter((count) => count === most).length > 1) return null
  return words[votes.indexOf(most)] ?? null
}

export interface Final {
  number: number
  hash: string
}

/** The lowest of what is called final, and how many do not say otherwise at its height. */
export function lowest(said: (Final | null)[]): (Final & { voices: number }) | null {
  const words = said.filter((one) => one !== null)
  const height = Math.min(...words.map(({ number }) => number))
  const at = words.filter(({ number }) => number === height)
  const [first] = at
  if (first === undefined) return null
  const others = at.filter(({ hash }) => hash !== first.hash).length
  return { ...first, voices: words.length - others }
}

export interface Told {
  words: string
  /** Ours, or a call to the factory: the ledger acts on it without asking again. */
  isOwn: boolean
}

/**
 * What two providers confirm of what was told. Or the first thing that stops: two say another thing, or one contradicts what is our own in the block
 * that was told.
 */
export function confirmed(
  told: Told[],
  answers: { words: Said; isThere: boolean }[][],
): Set<number> | 'otherwise' | 'contradicted' {
  const confirms = new Set<number>()
  if (answers.length < 2) return confirms
  for (const [n, { words, isOwn }] of told.entries()) {
    const said = answers.map((all) => all[n] ?? { words: null, isThere: true })
    const same = agreed(said.map((one) => one.words))
    const contradicts = said.some((one) => one.isThere && one.words !== null && one.words !== words)
    if (same === words) confirms.add(n)
    else if (same !== null) return 'otherwise'
    else if (isOwn && contradicts) return 'contradicted'
  }
  return confirms
}

export interface Block {
  number: number
  time: number
}

/** The first block at or after a time. */
export const firstAt = (blocks: Block[], time: number, notAfter: number): Block | null =>
  blocks.find((one) => one.number <= notAfter && one.time >= time) ?? null

/** The highest of the answers: the chain refuses what an account cannot pay, so a low figure must stop nothing. Null if no provider answers. */
export function most(answers: readonly (bigint | null)[]): bigint | null {
  let highest: bigint | null = null
  for (const answer of answers) {
    if (answer === null) continue
    if (highest === null || answer > highest) highest = answer
  }
  return highest
}
