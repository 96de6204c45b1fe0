// What a survey believes about old blocks, as a second reading of docs/ARCHITECTURE.md (Surveying; Proof of blocks): what one provider shows counts if another
// one has each of those blocks, or if there is only one. The best provider comes first.

/** How a provider knows the blocks: in each place the name of the block that it has there; null: it has none, or another height. */
export type Named = (string | null)[]

export interface Provider {
  /** The blocks that it shows with what is in them; null if it gives no answer. */
  shows: string[] | null
  /** The blocks that it names if it is asked for their headers; null if it gives no answer. */
  names: Named | null
}

/** Whether this provider has each of these blocks. */
const confirms = ({ names }: Provider, shown: string[]): boolean =>
  names !== null && names.length === shown.length && shown.every((name, n) => name === names[n])

/** The provider whose answer counts; null if none does. */
export function believed(providers: Provider[]): number | null {
  for (const [index, { shows }] of providers.entries()) {
    if (shows === null) continue
    const others = providers.filter((_, other) => other !== index)
    if (providers.length === 1 || others.some((other) => confirms(other, shows))) return index
  }
  return null
}

/** The blocks of transactions: all by the last provider that answers, because those before it have more to do. */
export function placed(answers: ((number | null)[] | null)[], asked: number): (number | null)[] {
  let found: (number | null)[] | null = null
  for (const answer of answers) if (answer !== null) found = answer
  return found ?? Array.from({ length: asked }, () => null)
}
