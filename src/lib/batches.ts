// Batches questions that queue up while others are in flight. A question that finds a free slot goes out at once, alone: we never hold one back to
// fill a batch.

export interface BatchOptions<Question, Answer> {
  /** Batches in flight at once. */
  concurrencyMax: number
  /** Sizes that a batch may have, in descending order down to 1. */
  sizes: readonly number[]
  /** Answers in the order of the questions. */
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>
}

interface Waiting<Question, Answer> {
  question: Question
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

/** Builds a function that answers one question. It rejects as `ask` rejects that question alone. */
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
      // One bad question may have failed the whole batch.
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
