// Refunds on a real ledger and chain: the operator's acts and the second reading agree about random payments, transfers and acts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Address, Hash } from '../../../src/domain/units.ts'
import { SPLIT, splitTo } from '../../support/forwarder.ts'
import { type Desk, startDesk } from '../../support/operator.ts'
import { cases, randomBelow } from '../../support/property.ts'
import { ETHER, type World } from '../../support/world.ts'
import * as model from './refunding.ts'

const BASIC = ETHER / 100n
const [A, B] = [BASIC - 21n, BASIC - 22n]
const [SPLITTER, REVERTING] = [17, 18]
/** The splitter's code, but that it takes everything back at its end. */
const SPLIT_AND_REVERT = `${SPLIT.slice(0, -2)}60006000fd`

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk()
  world = desk.world
  await world.chain.rpc('anvil_setCode', [world.at(SPLITTER), SPLIT])
  await world.chain.rpc('anvil_setCode', [world.at(REVERTING), SPLIT_AND_REVERT])
})
after(() => desk.close())

interface Round {
  payments: (model.Payment & { txHash: Hash })[]
  refunds: Map<Hash, model.Transaction>
}
type To = readonly [account: number, valueWei: bigint]

/** A transfer of account 10 or another, mined with what waits for a block. */
async function transfer(round: Round, from: number, [to, valueWei]: To): Promise<void> {
  const txHash = await world.pay(from, valueWei, world.at(to))
  await world.chain.mine()
  const moved = { from: world.at(from), to: world.at(to), valueWei }
  const block = Number((await world.chain.block()).number)
  round.refunds.set(txHash, { sender: world.at(from), block, succeeded: true, transfers: [moved] })
}

/** A batch through a splitter, with the ether for the first `funded` of its transfers. */
async function batch(round: Round, from: number, by: number, parts: To[], funded = parts.length): Promise<void> {
  const named = parts.map(([to, valueWei]) => [world.at(to), valueWei] as readonly [Address, bigint])
  const value = parts.slice(0, funded).reduce((sum, [, valueWei]) => sum + valueWei, 0n)
  const had = BigInt(await world.chain.rpc<string>('eth_getBalance', [world.at(by), 'latest']))
  await world.chain.rpc('anvil_setBalance', [world.at(by), '0x0'])
  const txHash = await world.call(from, world.at(by), splitTo(...named), value)
  await world.chain.rpc('anvil_setBalance', [world.at(by), `0x${had.toString(16)}`])
  const succeeded = by !== REVERTING
  assert.equal(await world.succeeded(txHash), succeeded)
  const inner = parts.slice(0, funded).map(([to, valueWei]) => ({ from: world.at(by), to: world.at(to), valueWei }))
  const block = Number((await world.chain.block()).number)
  round.refunds.set(txHash, { sender: world.at(from), block, succeeded, transfers: succeeded ? inner : [] })
}

/** Payments and transfers at every edge of the rule. */
async function prepareRound(): Promise<Round> {
  const round: Round = { payments: [], refunds: new Map() }
  const paid: [Hash, number, bigint][] = []
  const pay = async (from: number, valueWei: bigint) => paid.push([await world.pay(from, valueWei), from, valueWei])
  await transfer(round, 10, [5, A])
  await pay(5, A)
  await transfer(round, 10, [5, A])
  for (const [from, valueWei] of [...Array(2).fill([5, A]), [5, B], [6, A], [6, A], [5, BASIC], [6, BASIC]])
    await pay(from, valueWei)
  await world.settle()
  for (const [txHash, from, valueWei] of paid) {
    const [row] = await world.pool`SELECT block_number AS block, state, ref FROM payments WHERE tx_hash = ${txHash}`
    const isExpelled = valueWei === BASIC && from === 6
    if (isExpelled) await world.act(0, 'expel', [[row?.ref]])
    const standing = row?.state as model.Standing
    const place = { payer: world.at(from), valueWei, block: Number(row?.block) }
    round.payments.push({ txHash, ...place, standing, before: null, isExpelled, refundedBy: null })
  }
  for (const to of [
    [5, A],
    [5, B],
    [6, A],
    [5, A + 1n],
    [5, BASIC],
    [6, BASIC],
  ] as To[])
    await transfer(round, 10, to)
  await transfer(round, 5, [5, A])
  await transfer(round, 5, [6, A])
  await batch(round, 10, SPLITTER, [
    [5, A],
    [6, A],
    [5, A],
  ])
  await batch(
    round,
    10,
    SPLITTER,
    [
      [5, B],
      [6, A],
    ],
    1,
  )
  await batch(round, 5, SPLITTER, [[5, A]])
  await batch(round, 10, REVERTING, [
    [5, A],
    [5, B],
  ])
  await world.payments()
  return round
}

const spelled = (hash: Hash, capitals: boolean): string => (capitals ? `0x${hash.slice(2).toUpperCase()}` : hash)

/** A random act on a random payment, in the model and by the operator's route. */
async function step(round: Round, below: (bound: number) => number): Promise<string> {
  const open = round.payments.filter(({ refundedBy }) => refundedBy === null)
  const among = open.length > 0 && below(5) > 0 ? open : round.payments
  const one = among[below(among.length)] as Round['payments'][number]
  const known = [...round.refunds.keys()]
  // Most transfers of another value or to another account are plainly wrong. Those of the right value, or in the payment's own block, are at an edge.
  const likely = known.filter((hash) => {
    const { block, transfers } = round.refunds.get(hash) as model.Transaction
    return (
      block === one.block || transfers.some(({ to, valueWei }) => (to === one.payer) !== (valueWei === one.valueWei))
    )
  })
  const right = known.filter((hash) => model.proofs(one, round.refunds.get(hash) as model.Transaction) > 0)
  const from = [likely, likely, right, [...known, `0x${'ab'.repeat(32)}` as Hash]][below(4)] as Hash[]
  const name = (from[below(from.length)] ?? known[0]) as Hash
  const acts = ['prepare', 'cancel', 'dismiss', 'release'] as const
  const picked = acts[below(10)]
  const path = `payments/${spelled(one.txHash, below(2) === 0)}`
  const was = one.standing
  if (picked === undefined) {
    const expected = model.record(round.payments, one, name, round.refunds.get(name))
    const { status, json } = await desk.post(`${path}/refund`, { refundTxHash: spelled(name, below(2) === 0) })
    const code = status === 200 ? { kind: 'done', standing: json.status, alarm: json.alarm } : { kind: 'refused' }
    const tx = JSON.stringify(round.refunds.get(name), (_, value) => (typeof value === 'bigint' ? `${value}` : value))
    assert.deepEqual(
      code,
      expected,
      `${was} of ${one.payer}, ${one.valueWei}, block ${one.block} by ${tx}: ${json.error}`,
    )
    return `record ${expected.kind}`
  }
  const expected = model.carryOut(one, picked)
  const route = { prepare: 'refund/prepare', cancel: 'refund/cancel', dismiss: 'dismiss', release: 'release' }[picked]
  const { status, json } = await desk.post(`${path}/${route}`, picked === 'release' ? { tierId: 'basic' } : {})
  assert.equal(status === 200 ? 'done' : 'refused', expected.kind, `${picked} of one that is ${was}: ${json.error}`)
  return `${picked} ${expected.kind}`
}

async function standingOf(txHash: Hash): Promise<string> {
  const [row] = await world.pool`SELECT state, reason FROM payments WHERE tx_hash = ${txHash}`
  return row?.reason === 'refunding' && row.state === 'held' ? 'refunding' : row?.state
}

test('a transfer refunds a payment once if it is right, and acts around it keep to the states', async () => {
  const seed = Number(process.env.PROPERTY_SEED ?? Math.floor(Math.random() * 2 ** 31))
  const below = randomBelow(seed)
  const seen = new Set<string>()
  const needed = ['record done', 'record refused', 'prepare done', 'dismiss refused']
  const lacks = () => needed.filter((kind) => !seen.has(kind))
  // A round may lack a kind by chance; ten on end do not.
  for (let i = 0; i < cases(1) || (lacks().length > 0 && i < 10); i++) {
    const round = await prepareRound()
    for (let j = 0; j < 60; j++) {
      try {
        seen.add(await step(round, below))
        for (const { txHash, standing } of round.payments) assert.equal(await standingOf(txHash), standing)
      } catch (error) {
        throw new Error(`seed ${seed}, round ${i}, step ${j}`, { cause: error })
      }
    }
  }
  assert.deepEqual(lacks(), [])
})
