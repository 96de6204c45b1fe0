// Questions answered together (src/lib/batches.ts).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inBatches } from '../../src/lib/batches.ts'

interface Asked {
  questions: readonly number[]
  resolve: (answers: number[]) => void
  reject: (error: Error) => void
}

/** The questions so far, in turn; the test answers each. */
function recorded(concurrencyMax: number) {
  const asked: Asked[] = []
  const question = inBatches({
    concurrencyMax,
    sizes: [4, 2, 1],
    ask: (questions: readonly number[]) =>
      new Promise<number[]>((resolve, reject) => {
        asked.push({ questions, resolve, reject })
      }),
  })
  return { asked, question, numbers: () => asked.map(({ questions }) => questions) }
}

const tenfold = ({ questions, resolve }: Asked) => resolve(questions.map((question) => question * 10))
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a question that finds a free place is asked at once and alone, those that wait go together, each with its own answer', async () => {
  const { asked, question, numbers } = recorded(2)
  const answers = Promise.all([1, 2, 3, 4, 5, 6, 7, 8, 9].map(question))
  assert.deepEqual(numbers(), [[1], [2]])
  for (let at = 0; at < 5; at++) {
    tenfold(asked[at] ?? assert.fail(`batch ${at} was not asked`))
    await settled()
  }
  assert.deepEqual(numbers(), [[1], [2], [3, 4, 5, 6], [7, 8], [9]])
  assert.deepEqual(await answers, [10, 20, 30, 40, 50, 60, 70, 80, 90])
  void question(10)
  assert.deepEqual(numbers().at(-1), [10])
})

test('a question that fails the others of its batch fails alone, and those behind are asked', async () => {
  const { asked, question, numbers } = recorded(1)
  const answers = Promise.allSettled([1, 2, 3, 4, 5, 6].map(question))
  tenfold(asked[0] ?? assert.fail())
  await settled()
  assert.deepEqual(numbers(), [[1], [2, 3, 4, 5]])
  asked[1]?.reject(new Error('3 is bad'))
  await settled()
  assert.deepEqual(numbers().slice(2), [[2], [3], [4], [5]])
  asked[3]?.reject(new Error('3 is bad'))
  for (const at of [2, 4, 5]) tenfold(asked[at] ?? assert.fail())
  await settled()
  assert.deepEqual(numbers().slice(6), [[6]])
  tenfold(asked[6] ?? assert.fail())
  const outcomes = (await answers).map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message,
  )
  assert.deepEqual(outcomes, [10, 20, '3 is bad', 40, 50, 60])
})
