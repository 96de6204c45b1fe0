// The factory's state, read at one block of a real chain.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createContractReader } from '../../src/chain/factory/contract.ts'
import { type Hash, wei, ZERO_HASH } from '../../src/domain/units.ts'
import type { ContractReader } from '../../src/ports/contract.ts'
import { ChainFault } from '../../src/ports/faults.ts'
import { FOREVER, oneTurn, ROOMY_SETUP } from '../support/factory.ts'
import { type Stage, startStage } from './stage.ts'

const ref = (digit: string) => `0x${digit.repeat(64)}` as Hash
let stage: Stage
let contract: ContractReader
let opened: number
let minted: number
let credited: number
before(async () => {
  stage = await startStage()
  contract = createContractReader(stage.rpc, stage.factory)
  const { minter, distributor, at } = stage
  const due = (await stage.head()).time + 100
  await stage.send(minter, {
    kind: 'openCohorts',
    first: 1,
    openings: [{ tierNo: 2, firstDue: due, intervalSec: 60 }],
    validUntil: FOREVER,
  })
  opened = (await stage.head()).number
  const orders = [
    { to: at(5), cohort: 1, ref: ref('a') },
    { to: at(6), cohort: 1, ref: ref('b') },
  ]
  await stage.send(minter, { kind: 'mint', orders, guard: null, validUntil: FOREVER })
  minted = (await stage.head()).number
  await stage.chain.setNextTime(due)
  await stage.chain.mine()
  const credits = [oneTurn(1, due, wei(30n))]
  await stage.send(distributor, {
    kind: 'credit',
    round: 1,
    credits,
    valueWei: wei(60n),
    guard: null,
    validUntil: FOREVER,
  })
  await stage.act(5, 'withdraw', [1n, at(9), 10n])
  await stage.chain.mine()
  credited = (await stage.head()).number
})
after(() => stage.close())

/** The block of that height, by number and hash. */
const at = async (number: number) => ({ number, hash: (await stage.chain.block(number)).hash as Hash })

test('the counters are those of the block asked for, not of the head', async () => {
  assert.deepEqual(await contract.counters(minted), {
    blockNumber: minted,
    lastNodeId: 2n,
    round: 0,
    outstandingWei: 0n,
    contractBalanceWei: 0n,
    isSolvent: true,
    paused: false,
  })
  assert.deepEqual(await contract.counters(credited), {
    blockNumber: credited,
    lastNodeId: 2n,
    round: 1,
    outstandingWei: 50n,
    contractBalanceWei: 50n,
    isSolvent: true,
    paused: false,
  })
})

test('nodes are read in windows, shortened at the last one', async () => {
  const one = { nodeId: 1n, owner: stage.at(5), balanceWei: 20n, creditedWei: 30n, withdrawnWei: 10n, cohort: 1 }
  const two = { nodeId: 2n, owner: stage.at(6), balanceWei: 30n, creditedWei: 30n, withdrawnWei: 0n, cohort: 1 }
  assert.deepEqual(await contract.nodes(1n, 1_200, await at(credited)), [one, two])
  assert.deepEqual(await contract.nodes(2n, 1, await at(credited)), [two])
  assert.deepEqual(await contract.nodes(3n, 10, await at(credited)), [])
  assert.deepEqual(
    (await contract.nodes(1n, 10, await at(minted))).map(({ creditedWei }) => creditedWei),
    [0n, 0n],
  )
})

test('cohorts, refs, balances and limits are read as they are', async () => {
  const [one, nine] = await contract.cohorts([1, 9], await at(credited))
  assert.deepEqual([one?.cohort, one?.tierNo, one?.perNodeWei, one?.size, one?.intervalSec], [1, 2, 30n, 2, 60])
  assert.deepEqual([nine?.cohort, nine?.size, nine?.intervalSec], [9, 0, 0])
  assert.deepEqual(
    [await contract.nodeOfRef(ref('b'), credited), await contract.nodeOfRef(ZERO_HASH, credited)],
    [2n, null],
  )
  assert.equal(await contract.nodeOfRef(ref('b'), opened), null)
  assert.deepEqual([await contract.maxPerWallet(), await contract.swapsAllowance()], [3, 0n])
  assert.deepEqual([await contract.balance(stage.factory), await contract.balance(stage.factory, minted)], [50n, 0n])
})

test('the minter’s budget and the distributor’s bounds are those of the block asked for', async () => {
  const { nodes, cohorts, ceilingGwei } = ROOMY_SETUP
  assert.deepEqual(await contract.budget(opened), { nodes, cohorts: cohorts - 1, lastCohort: 1 })
  assert.deepEqual(await contract.budget(credited), { nodes: nodes - 2, cohorts: cohorts - 1, lastCohort: 1 })
  assert.deepEqual(await contract.bounds(credited), { floorWei: 0n, ceilingWei: ceilingGwei * 10n ** 9n })
})

test('figures that the contract cannot have are faults: no column is as wide', async () => {
  const { rpc, provider } = await stage.behind()
  provider.rule = async (call, forward) => {
    const answer = await forward()
    return call.method === 'eth_call' && 'result' in answer
      ? { result: `0x${'0'.repeat(40)}1${String(answer.result).slice(43)}` }
      : answer
  }
  const odd = createContractReader(rpc, stage.factory)
  await assert.rejects(odd.counters(credited), { name: 'ChainFault' })
  await assert.rejects(odd.nodeOfRef(ref('a'), credited), { name: 'ChainFault' })
  await assert.rejects(odd.cohorts([1], await at(credited)), { name: 'ChainFault' })
  await assert.rejects(odd.tierSupply(2, credited), { name: 'ChainFault' })
})

test('an address without the contract is a fault, never a number', async () => {
  const absent = createContractReader(stage.rpc, stage.at(9))
  await assert.rejects(absent.counters(credited), ChainFault)
  await assert.rejects(absent.nodeOfRef(ref('a'), credited), ChainFault)
  await assert.rejects(absent.maxPerWallet(), /no code/)
})

test('a block the provider does not have is a fault, never an older answer', async () => {
  await assert.rejects(contract.counters(credited + 50), ChainFault)
  await assert.rejects(contract.nodes(1n, 1, { number: credited + 50, hash: ZERO_HASH }), ChainFault)
})

test('nodes are those of the block with that hash, and not of any block of its height', async () => {
  assert.equal((await contract.nodes(1n, 2, await at(minted))).length, 2)
  await assert.rejects(contract.nodes(1n, 2, { number: minted, hash: ref('f') }))
})
