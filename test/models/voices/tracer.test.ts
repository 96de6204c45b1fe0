// Traces of blocks: src/chain/evidence/trace/block.ts, over several runs with one to four providers that agree, differ in one field, answer late or not at all,
// asks whom the second reading asks, and believes what it believes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createBlockTracer } from '../../../src/chain/evidence/trace/block.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { account, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './tracer.ts'

const [WALLET, OTHER_WALLET, PAYER] = [account(1), account(2), account(3)]
interface Move {
  tx: number
  from: string
  to: string
  value: string
}
const MOVES: Move[] = [
  { tx: 0, from: PAYER, to: WALLET, value: '0x5' },
  { tx: 1, from: WALLET, to: PAYER, value: '0x5' },
]
const [IN, OUT] = MOVES as [Move, Move]
/** Lists that differ in exactly one thing from the first one. */
const LISTS: Record<string, Move[]> = {
  a: MOVES,
  value: [IN, { ...OUT, value: '0x6' }],
  wallet: [{ ...IN, to: OTHER_WALLET }, OUT],
  other: [IN, { ...OUT, to: account(4) }],
  transaction: [IN, { ...OUT, tx: 2 }],
  once: [IN],
  twice: [IN, OUT, OUT],
  none: [],
}

/** geth's trace of a block of three transactions that move so much. `broken`: a stranger's transaction whose trace failed. */
const traceOf = (moves: Move[], isBroken: boolean) => [
  ...[0, 1, 2].map((tx) => ({
    txHash: word(10 + tx),
    result: {
      ...{ type: 'CALL', from: account(7), to: account(8), value: '0x0' },
      calls: moves.filter((move) => move.tx === tx).map(({ from, to, value }) => ({ type: 'CALL', from, to, value })),
    },
  })),
  ...(isBroken ? [{ txHash: word(13), error: 'execution timeout' }] : []),
]

const LIMIT = 8_000
const answer = fc.record({
  says: fc.constantFrom('a', 'a', 'a', 'a', 'a', ...Object.keys(LISTS), null, null, null, null),
  /** How a missing answer is missing. */
  how: fc.constantFrom('refused', 'fault', 'malformed', 'untraced'),
  /** The milliseconds that it takes. Less than 50 before the limit is out of time. */
  takes: fc.constantFrom(5, LIMIT - 51, LIMIT - 50, LIMIT - 49, LIMIT, LIMIT, LIMIT + 20),
  isBroken: fc.boolean(),
})
type Drawn = typeof answer extends fc.Arbitrary<infer T> ? T : never
const isLate = ({ takes }: Drawn) => takes >= LIMIT - 50

const silences: Record<string, () => unknown> = {
  refused: () => ({ ok: false, error: { code: -32601, message: 'no such method', data: null } }),
  fault: () => {
    throw new ChainFault('no answer')
  },
  malformed: () => ({ ok: true, result: 'a block' }),
  untraced: () => ({ ok: true, result: [{ error: 'execution timeout' }] }),
}

/** A provider that answers once the clock has come so far. */
function providerOf(asked: { provider: number; answers: () => void }[], provider: number, current: () => Drawn[]) {
  const call = async (method: string, params: unknown[], limits: object) => {
    assert.equal(method, 'debug_traceBlockByHash')
    assert.deepEqual([params[0], limits], [word(99), { attempts: 1, timeoutMs: LIMIT }])
    await new Promise<void>((resolve) => asked.push({ provider, answers: resolve }))
    const one = current()[provider] as Drawn
    if (one.says === null) return silences[one.how]?.()
    return { ok: true, result: traceOf(LISTS[one.says] ?? [], one.isBroken) }
  }
  return { call }
}

const gap = fc.constantFrom(0, 1, 59_999 - LIMIT, 60_000 - 5, 60_000, 60_000, 119_999, 120_000, 240_000, 960_000)
const runs = fc.integer({ min: 1, max: 4 }).chain((count) =>
  fc.array(fc.record({ gap, answers: fc.array(answer, { minLength: count, maxLength: count }) }), {
    minLength: 1,
    maxLength: 8,
  }),
)

/** Runs in which no provider answers in time, each after the longest pause. */
const late = answer.map((one): Drawn => ({ ...one, says: null, takes: LIMIT }))
const lateRuns = fc.integer({ min: 1, max: 2 }).chain((count) =>
  fc.array(
    fc.record({
      gap: fc.constantFrom(959_999, 960_000, 960_000, 960_000),
      answers: fc.array(late, { minLength: count, maxLength: count }),
    }),
    { minLength: 7, maxLength: 8 },
  ),
)

/** Long enough for a provider's answer to be read. Nothing else runs meanwhile, so the clock is moved for the tracer alone. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}

/** Lets those that were asked answer, each when its time has come. @returns when each one did. */
async function letAnswer(
  asked: { provider: number; answers: () => void }[],
  { answers, clock }: { answers: Drawn[]; clock: { now: number } },
): Promise<Map<number, number>> {
  const [began, ends] = [clock.now, new Map<number, number>()]
  const inOrder = asked.toSorted((a, b) => (answers[a.provider]?.takes ?? 0) - (answers[b.provider]?.takes ?? 0))
  for (const { provider, answers: release } of inOrder) {
    clock.now = began + (answers[provider]?.takes ?? 0)
    ends.set(provider, clock.now)
    release()
    await settled()
  }
  return ends
}

/** A value of each list, by which it is known. */
function nameOf(found: unknown[] | null): string | null {
  if (found === null) return null
  const text = JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
  const names = Object.keys(LISTS).filter((name) => text === textOf(LISTS[name] ?? []))
  assert.equal(names.length, 1, text)
  return names[0] ?? null
}

function textOf(moves: Move[]): string {
  const counts = new Map<string, number>()
  const wallets = [WALLET, OTHER_WALLET]
  return JSON.stringify(
    moves.map(({ tx, from, to, value }) => {
      const direction = wallets.includes(to) ? 'in' : 'out'
      const [wallet, other] = direction === 'in' ? [to, from] : [from, to]
      const key = `${tx} ${direction} ${wallet}`
      const index = (counts.get(key) ?? 0) + 1
      counts.set(key, index)
      const valueWei = String(Number(value))
      return { txHash: word(10 + tx), txIndex: tx, direction, wallet, index, other, valueWei }
    }),
  )
}

test('a list of transfers counts if two give it, and who is out of time rests ever longer', async (t) => {
  const [clock, real] = [{ now: 1_000, isOn: false }, performance.now.bind(performance)]
  // Only while the tracer works: connections of other tests in this process count their pauses by this clock.
  t.mock.method(performance, 'now', () => (clock.isOn ? clock.now : real()))
  const met = { list: 0, nothing: 0, noOne: 0, resting: 0 }
  const play = async (drawn: { gap: number; answers: Drawn[] }[]) => {
    const count = drawn[0]?.answers.length ?? 0
    let answers: Drawn[] = []
    const asked: { provider: number; answers: () => void }[] = []
    const providers = Array.from({ length: count }, (_, n) => providerOf(asked, n, () => answers))
    const [tracer, expected] = [createBlockTracer(providers as never), new model.Tracer(count)]
    for (const run of drawn) {
      clock.now += run.gap
      answers = run.answers
      asked.length = 0
      const reading = tracer({ number: 9, hash: word(99) } as never, [WALLET, OTHER_WALLET] as never)
      const whom = expected.asks(clock.now)
      assert.deepEqual(
        asked.map(({ provider }) => provider),
        whom,
      )
      const ends = await letAnswer(asked, { answers, clock })
      const heard = whom.map((n) => answers[n] as Drawn).map((one) => ({ says: one.says, isLate: isLate(one) }))
      const list = expected.hears(whom, heard, (provider) => ends.get(provider) ?? 0)
      assert.equal(nameOf(await reading), list)
      if (whom.length === 0) met.noOne += 1
      else met[list === null ? 'nothing' : 'list'] += 1
      if (whom.length > 0 && whom.length < count) met.resting += 1
    }
  }
  const compare = async (drawn: { gap: number; answers: Drawn[] }[]) => {
    clock.isOn = true
    await play(drawn).finally(() => (clock.isOn = false))
  }
  await fc.assert(fc.asyncProperty(fc.oneof({ weight: 9, arbitrary: runs }, lateRuns), compare), {
    numRuns: cases(300),
  })
  assert.ok(Math.min(...Object.values(met)) >= cases(20), JSON.stringify(met))
})
