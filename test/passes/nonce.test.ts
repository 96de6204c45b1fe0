// The source of a nonce: the ledger itself, unless all providers contradict it for long or the operator does.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { listStuck, takeOverNonce } from '../../src/operator/acts/transactions.ts'
import { AHEAD_BLOCKS } from '../../src/passes/steps/nonce.ts'
import type { FalseProvider, Rule } from '../chain/false-provider.ts'
import { attemptsOf, isOneNode, lastAttempt } from '../faults/stage.ts'
import { startTwoProviders } from '../support/two-providers.ts'
import { ETHER, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const ACTOR = { name: 'test', requestId: null }

let world: World
let first: FalseProvider
let second: FalseProvider

before(async () => {
  ;({ world, first, second } = await startTwoProviders())
  await world.settle()
})
after(async () => world.close())
beforeEach(() => {
  for (const provider of [first, second]) provider.rule = () => undefined
})

/** Answers a nonce of the minter at the latest block, whatever the truth is. */
const says =
  (nonce: number): Rule =>
  ({ method, params: [account, block] }) =>
    method === 'eth_getTransactionCount' && account === world.at(1) && block === 'latest'
      ? { result: `0x${nonce.toString(16)}` }
      : undefined

let payer = 5
async function paid() {
  const payment = await world.pay(5 + (payer++ % 14), BASIC)
  await world.chain.mine()
  return payment
}
const attempts = async () => (await attemptsOf(world)).length
const audited = async (action: string) => (await world.pool`SELECT FROM audit WHERE action = ${action}`).count
const nonceNow = async () => Number(await world.chain.rpc<string>('eth_getTransactionCount', [world.at(1), 'latest']))
/** Imitates a use of the key outside the followed blocks: its nonce rises, and no followed block shows why. */
const useElsewhere = async (times: number) => {
  await world.chain.rpc('anvil_setNonce', [world.at(1), `0x${((await nonceNow()) + times).toString(16)}`])
  await world.chain.mine()
}

test('one of two providers reports too high a nonce: the mint uses the ledger’s nonce', async () => {
  const nonce = await nonceNow()
  first.rule = says(5_000)
  const payment = await paid()
  await world.payments()
  assert.equal((await lastAttempt(world)).nonce, nonce)
  await world.chain.mine()
  await world.payments()
  await isOneNode(world, payment)
  assert.deepEqual((await listStuck({ pool: world.pool })).senders, [])
})

test('all providers report too high a nonce: nothing is signed, it is reported, then all resumes', async () => {
  const [before, told] = [await attempts(), await audited('nonceAhead')]
  const payment = await paid()
  first.rule = says(5_000)
  second.rule = says(5_000)
  for (let run = 0; run < 5; run++) {
    await world.payments()
    await world.chain.mine()
  }
  await world.chain.mine(AHEAD_BLOCKS)
  await world.payments()
  assert.equal(await attempts(), before, 'they do not say so of a followed block')
  assert.equal((await audited('nonceAhead')) - told, 1)
  const { senders } = (await listStuck({ pool: world.pool })) as { senders: { sender: string; reported: number }[] }
  assert.deepEqual([senders[0]?.sender, senders[0]?.reported], [world.at(1), 5_000])
  first.rule = () => undefined
  second.rule = () => undefined
  await world.settle()
  await isOneNode(world, payment)
  assert.deepEqual((await listStuck({ pool: world.pool })).senders, [])
})

test('a key used out of sight is taken over after 64 blocks, and waiting work is minted once', async () => {
  const taken = await audited('nonceTakenOver')
  const payment = await paid()
  await world.payments()
  const { nonce, hash } = await lastAttempt(world)
  // The pool drops what was signed, because its nonce is used.
  await world.chain.rpc('anvil_dropTransaction', [hash])
  await useElsewhere(3)
  await world.payments()
  assert.equal((await lastAttempt(world)).hash, hash, 'nothing new is signed')
  assert.equal(await audited('nonceTakenOver'), taken)
  // As if it was noted on a fork that is gone: the time starts over.
  await world.pool`
    UPDATE troubles SET value = value || '{"sinceBlock": 1000000}' WHERE name = ${`nonceAhead ${world.at(1)}`}`
  await world.payments()
  await world.chain.mine(AHEAD_BLOCKS - 1)
  await world.payments()
  assert.equal(await audited('nonceTakenOver'), taken, 'not yet')
  await world.chain.mine()
  await world.payments()
  assert.equal((await audited('nonceTakenOver')) - taken, 1)
  await world.settle()
  assert.equal((await lastAttempt(world)).nonce, nonce + 3)
  await isOneNode(world, payment)
})

test('the operator frees a stuck sender immediately, and cannot free one that is not stuck', async () => {
  const refused = await takeOverNonce({ pool: world.pool }, ACTOR, { sender: world.at(1) })
  assert.ok(isOperatorRefusal(refused))
  const payment = await paid()
  await useElsewhere(1)
  await world.payments()
  const freed = (await takeOverNonce({ pool: world.pool }, ACTOR, { sender: world.at(1) })) as { takeOver: boolean }
  assert.equal(freed.takeOver, true)
  await world.payments()
  await world.settle()
  await isOneNode(world, payment)
})
