// Compares what providers answer to one question: a single one must not decide about a purchase.
import { VOICES } from '../../../domain/finality.ts'

/**
 * The answer that enough providers give, and more of them than give any other; null where they do not agree. One without an answer (null)
 * has no vote, so with two providers both must answer.
 */
export function agreedAnswer<T>(answers: readonly (T | null)[], keyOf: (answer: T) => unknown): T | null {
  const votes = new Map<unknown, { answer: T; count: number }>()
  for (const answer of answers) {
    if (answer === null) continue
    const key = keyOf(answer)
    votes.set(key, { answer, count: (votes.get(key)?.count ?? 0) + 1 })
  }
  const [first, second] = [...votes.values()].sort((a, b) => b.count - a.count)
  if (!first || first.count < Math.min(VOICES, answers.length) || first.count === second?.count) return null
  return first.answer
}
