// Providers that trace badly: one hangs, lists transfers in another order, has pruned the states, or lies. The service
// then holds the whole sum, no other payment waits for it, and splits it once it can.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import type { Answer, FalseProvider, Rule } from '../chain/false-provider.ts'
import { payInside, putForwarder, SPLIT, splitTo, innerStands as stands } from '../support/forwarder.ts'
import { checkInvariants } from '../support/invariants.ts'
import { startTwoProviders } from '../support/two-providers.ts'
import { ETHER, paymentOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const PLUS = ETHER / 40n
const SPLITTERS = [17, 18]
const TRACE_TIMEOUT_MS = 400

let world: World
let providers: FalseProvider[]
before(async () => {
  const { world: started, first, second } = await startTwoProviders()
  world = started
  providers = [first, second]
  await putForwarder(world)
  for (const splitter of SPLITTERS) await world.chain.rpc('anvil_setCode', [world.at(splitter), SPLIT])
  await world.settle()
})
beforeEach(() => {
  for (const provider of providers) provider.rule = () => undefined
})
after(() => world.close())

/** The passes of an instance that has not requested a trace yet. */
const instance = () =>
  world.instance({
    chain: createChainReader(
      world.rpc,
      {
        factory: world.factory,
        wallets: [{ wallet: world.at(3), watchedFrom: 0, closedBlock: null }],
        signers: [world.at(1), world.at(2)],
      },
      { traceTimeoutMs: TRACE_TIMEOUT_MS },
    ),
  })

const isTrace = ({ method }: { method: string }) => method.includes('trace')
const tracesOf = () => providers.map(({ seen }) => seen.filter(isTrace).length)
const asksOf = (index: number, asked: readonly number[]) => asked[index] ?? assert.fail()
const held = async () => (await stands(world)).filter(([, stand]) => !String(stand).startsWith('orphaned'))
const lately = () => world.pool`UPDATE residue_traces SET tried_at = now() - interval '2 days'`
const failed = async () => (await world.pool<{ failed: number }[]>`SELECT failed FROM trace_days`)[0]?.failed ?? 0

/** Has a later instance trace the held sums, and dismisses nothing: everything is split. */
async function toldApart() {
  for (const provider of providers) provider.rule = () => undefined
  await lately()
  await instance().payments()
  assert.deepEqual(
    (await held()).filter(([, stand]) => stand === 'held unattributed'),
    [],
  )
  await world.settle()
  await checkInvariants(world)
}

describe('a provider whose trace hangs', () => {
  for (const [name, hanging] of [
    ['one of two', [1]],
    ['each', [0, 1]],
  ] as const)
    test(`F120: ${name}: a run waits for it once, later runs never, and it is minted in that run`, async () => {
      for (const index of hanging) {
        const hang: Rule = (call) => (isTrace(call) ? new Promise<Answer>(() => {}) : undefined)
        ;(providers[index] as FalseProvider).rule = hang
      }
      for (let i = 0; i < 3; i++) await payInside(world, BASIC)
      const plain = await world.pay(5 + hanging.length, BASIC)
      await world.chain.mine()
      const { payments } = instance()
      const before = tracesOf()
      await payments()
      for (const index of hanging) assert.equal(asksOf(index, tracesOf()) - asksOf(index, before), 1)
      assert.equal((await paymentOf(world, plain))?.state, 'minting')
      const residues = (await held()).filter(([, stand]) => stand === 'held unattributed')
      assert.equal(residues.length, 3)
      const asked = tracesOf()
      await lately()
      await payments()
      assert.deepEqual(tracesOf(), asked)
      await toldApart()
    })
})

describe('two providers that differ', () => {
  /** Two splitters pay twice each in one block. */
  async function payTwice() {
    const [one, other] = SPLITTERS.map((splitter) => world.at(splitter)) as [`0x${string}`, `0x${string}`]
    const wallet = world.at(3)
    for (const [from, to, values] of [
      [8, one, [BASIC, PLUS]],
      [9, other, [PLUS, BASIC]],
    ] as const)
      await world.chain.send({
        from: world.at(from),
        to,
        gas: '0x200000',
        value: `0x${(BASIC + PLUS).toString(16)}`,
        data: splitTo(...values.map((value) => [wallet, value] as const)),
      })
    await world.chain.mine()
  }
  /** Changes the second provider's traces. */
  const second = (change: (answer: string) => string): void => {
    const [, provider] = providers
    if (provider)
      provider.rule = async (call, forward) =>
        isTrace(call) ? JSON.parse(change(JSON.stringify(await forward()))) : undefined
  }
  async function isHeldWhole() {
    const before = await failed()
    await payTwice()
    await instance().payments()
    assert.deepEqual((await held()).at(-1), [(BASIC + PLUS) * 2n, 'held unattributed'])
    assert.ok((await failed()) > before, 'that it could not be traced is told')
    await toldApart()
  }

  test('F121: the transfers in another order: their senders are unknown, and all are held', async () => {
    const reversed = (value: unknown): unknown =>
      typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value).map(([name, inner]) => [
              name,
              name === 'calls'
                ? (inner as unknown[]).toReversed()
                : Array.isArray(inner)
                  ? inner.map(reversed)
                  : reversed(inner),
            ]),
          )
        : value
    second((answer) => JSON.stringify(reversed(JSON.parse(answer))))
    await isHeldWhole()
  })

  test('F123: another sender, or other values with the same sum', async () => {
    const swap = (text: string, one: string, other: string) =>
      text.replaceAll(one, 'swapped').replaceAll(other, one).replaceAll('swapped', other)
    const [one, other] = SPLITTERS.map((splitter) => world.at(splitter).slice(2)) as [string, string]
    second((answer) => swap(answer, one, other))
    await isHeldWhole()
    second((answer) => swap(answer, `"0x${BASIC.toString(16)}"`, `"0x${PLUS.toString(16)}"`))
    await isHeldWhole()
  })
})

describe('a provider that has pruned the states of a block', () => {
  test('F122: refuses its trace: the value is held, reported, and split once a provider can', async () => {
    const refusal: Answer = { error: { code: -32000, message: 'historical state is not available' } }
    for (const provider of providers) provider.rule = (call) => (isTrace(call) ? refusal : undefined)
    const before = await failed()
    await payInside(world, PLUS)
    await instance().payments()
    assert.deepEqual((await held()).at(-1), [PLUS, 'held unattributed'])
    assert.equal((await failed()) - before, 1)
    await lately()
    await instance().payments()
    assert.deepEqual((await held()).at(-1), [PLUS, 'held unattributed'])
    await toldApart()
  })
})
