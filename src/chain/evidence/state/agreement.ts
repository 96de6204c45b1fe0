// Compares the answers of several providers to one question, because a single provider must not decide about a purchase.
import { VOICES, voicesNeeded } from '../../../domain/finality.ts'
import type { ProvenPart } from '../../../domain/observed.ts'
import type { Hash } from '../../../domain/units.ts'
import { ChainFault, orNull, ProofFault } from '../../../ports/faults.ts'
import { ofEach, type RpcCall, type RpcReads } from '../../rpc/rpc.ts'

/**
 * The answer that enough providers give, and that more of them give than any other answer; null if there is none. A provider without an answer (null)
 * does not count, so if there are two providers, both must answer.
 */
export function agreedAnswer<T>(answers: readonly (T | null)[], keyOf: (answer: T) => unknown): T | null {
  const votes = new Map<unknown, { answer: T; count: number }>()
  for (const answer of answers) {
    if (answer === null) continue
    const key = keyOf(answer)
    votes.set(key, { answer, count: (votes.get(key)?.count ?? 0) + 1 })
  }
  const [first, second] = [...votes.values()].sort((a, b) => b.count - a.count)
  if (!first || first.count < voicesNeeded(answers.length) || first.count === second?.count) return null
  return first.answer
}

/** What a provider reported about a transaction or a block, as a text that can be compared. */
interface Statement {
  hash: Hash
  blockNumber: number
  blockHash: Hash
  words: string
  /** True if the ledger acts on it without asking again: it is ours, or a call to the factory. */
  isOwn: boolean
}

/** What another provider reported about it. */
interface Said {
  blockHash: Hash | null
  words: string
}

/** How to ask about them, and how to turn an answer into a text that can be compared. */
interface Question {
  ask: (statement: Statement) => RpcCall
  part: ProvenPart
  /** What to call it in the message of a fault. */
  what: string
  read: (answer: unknown) => Said
}

/**
 * The hashes of the statements that two providers confirm. Empty if there are fewer than two providers. Throws a ProofFault
 * if two providers agree on something else, and a ChainFault if two contradict each other about what is our own: nothing of that block may be stored
 * then.
 */
export async function agreedHashes(
  voices: readonly RpcReads[],
  statements: readonly Statement[],
  { ask, part, what, read }: Question,
): Promise<ReadonlySet<Hash>> {
  const hashes = new Set<Hash>()
  if (statements.length === 0 || voices.length < VOICES) return hashes
  const calls = statements.map(ask)
  const answers = await ofEach({ providers: voices }, (provider) => provider.batch(calls))
  for (const [at, { hash, blockNumber, blockHash, words, isOwn }] of statements.entries()) {
    // What one of them answers in another form is no answer, and no fault of the provider whose words we compare.
    const pending = answers.map(async (replies) =>
      replies?.[at]?.ok && replies[at].result != null ? read(replies[at].result) : null,
    )
    const readings = await Promise.all(pending.map(orNull))
    const same = agreedAnswer(readings, (one) => one.words)?.words ?? null
    if (same === words) hashes.add(hash)
    else if (same !== null) throw new ProofFault(part, blockNumber, `two providers report a different ${what} ${hash}`)
    // Another block is no contradiction: one of them may have reorganised.
    else if (isOwn && readings.some((one) => one?.blockHash === blockHash && one.words !== words))
      throw new ChainFault(`no two providers agree on the ${what} ${hash}`)
  }
  return hashes
}
