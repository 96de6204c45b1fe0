// Batches questions that queue up while other batches are in flight. If a slot is free, a question goes out immediately and alone: we never hold one
// back to fill a batch.

export interface BatchOptions<Question, Answer> {
  /** The most batches in flight at once. */
  concurrencyMax: number
  /** The sizes that a batch may have, in descending order, down to 1. */
  sizes: readonly number[]
  /** Returns the answers in the order of the questions. */
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>
}

interface Waiting<Question, Answer> {
  question: Question
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

/** Creates a function that answers one question. It rejects if `ask` rejects that question when asked alone. */
export function inBatches<Question, Answer>(
  options: BatchOptions<Question, Answer>,
): (question: Question) => Promise<Answer> {
  const { concurrencyMax, sizes, ask } = options
  const waiting: Waiting<Question, Answer>[] = []
  let underWay = 0

  async function answer(batch: Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await ask(batch.map(({ question }) => question))
      for (const [nth, { resolve }] of batch.entries()) resolve(answers[nth] as Answer)
    } catch (error) {
      // The whole batch may have failed because of one bad question, so ask them one by one.
      if (batch.length > 1) await Promise.all(batch.map((one) => answer([one])))
      else batch[0]?.reject(error)
    }
  }

  function askNext(): void {
    while (underWay < concurrencyMax && waiting.length > 0) {
      const size = sizes.find((count) => count <= waiting.length) ?? 1
      underWay++
      void answer(waiting.splice(0, size)).finally(() => {
        underWay--
        askNext()
      })
    }
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject })
      askNext()
    })
}
