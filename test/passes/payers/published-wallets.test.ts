// Real-world wallets buy without the operator, from their makers' published bytecode: a Safe 1.5.0, an ERC-4337 SimpleAccount
// through the EntryPoint, and an account that delegates to code (EIP-7702). Each pays by a call inside someone's transaction.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { encodeFunctionData } from 'viem'
import { innerRef } from '../../../src/chain/digest.ts'
import { allowContract, insertMode } from '../../../src/db/sale/contract-wallets.ts'
import type { ContractWalletMode } from '../../../src/domain/payers/payer.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import { checkInvariants } from '../../support/invariants.ts'
import { mined } from '../../support/wallets/deploy.ts'
import { makeSafe, paySafely } from '../../support/wallets/safe.ts'
import { type EntryPoint, type OperatedAccount, putEntryPoint } from '../../support/wallets/user-operations.ts'
import { ETHER, ownerAbi, startWorld, type World } from '../../support/world.ts'

const PRICE = ETHER / 100n
/** Owners of the Safe, of the SimpleAccount and of the delegating account; and the sender of the bundles. */
const [SAFE_OWNER, SIMPLE_OWNER, DELEGATING, BUNDLER, HEIR] = [5, 6, 7, 10, 11]

let world: World
let safe: Address
let entryPoint: EntryPoint
let simple: OperatedAccount
let delegating: OperatedAccount
/** The transaction in which the Safe paid, and the bundle of both accounts. */
let paidSafely: Hash
let bundled: Hash

before(async () => {
  world = await startWorld()
  safe = await makeSafe(world.chain, world.at(SAFE_OWNER), ETHER)
  entryPoint = await putEntryPoint(world.chain)
  simple = await entryPoint.simpleAccount(SIMPLE_OWNER, ETHER)
  delegating = await entryPoint.delegatedAccount(DELEGATING)
  await world.settle()
})
afterEach(() => checkInvariants(world))
after(() => world.close())

async function enter(mode: ContractWalletMode): Promise<void> {
  const { number } = await world.chain.block()
  await insertMode(world.pool, { mode, fromBlock: Number(number) + 1 }, 'test')
}

/** The payments of a transaction: payer, state, and the owner of the node. */
const paymentsOf = async (txHash: Hash) =>
  (
    await world.pool<{ from: Address; stands: string; owner: Address | null }[]>`
      SELECT from_address AS "from", concat_ws(' ', state, reason) AS stands, n.owner
      FROM payments p LEFT JOIN nodes n ON n.payment_id = p.id WHERE p.tx_hash = ${txHash} ORDER BY inner_index`
  ).map(({ from, stands, owner }) => [from, stands, owner])

/** The evidence of the last verdict on a payment. */
async function evidenceOf(from: Address): Promise<Record<string, unknown> | undefined> {
  const [row] = await world.pool<{ evidence: Record<string, unknown> }[]>`
    SELECT evidence FROM payment_verdicts v JOIN payments p ON p.id = payment_id WHERE p.from_address = ${from} ORDER BY v.id DESC`
  return row?.evidence
}

test('if contracts are held, a Safe and a new 4337 account wait, and a delegating account buys', async () => {
  const wallet = world.at(3)
  const data = paySafely(world.at(SAFE_OWNER), wallet, PRICE)
  paidSafely = (await mined(world.chain, { from: world.at(SAFE_OWNER), to: safe, data })).txHash
  const paying = { to: wallet, valueWei: PRICE }
  const operations = [await simple.sign(paying), await delegating.sign(paying)]
  assert.notEqual(operations[0]?.factory, undefined, 'its first operation makes the account')
  bundled = (await entryPoint.bundle(BUNDLER, operations)).txHash
  const plain = await world.pay(DELEGATING, PRICE)
  await world.settle()
  assert.deepEqual(await paymentsOf(paidSafely), [[safe, 'held contractWallet', null]])
  assert.deepEqual(await paymentsOf(bundled), [
    [simple.address, 'held contractWallet', null],
    [delegating.address, 'minted', delegating.address],
  ])
  assert.deepEqual(await paymentsOf(plain), [[delegating.address, 'minted', delegating.address]])
  const refs = await world.pool<
    { ref: Hash }[]
  >`SELECT ref FROM payments WHERE tx_hash = ${bundled} ORDER BY inner_index`
  assert.deepEqual(
    refs.map(({ ref }) => ref),
    [1, 2].map((index) => innerRef(bundled, wallet, index)),
  )
  const [ofSafe, ofSimple] = [await evidenceOf(safe), await evidenceOf(simple.address)]
  assert.deepEqual([ofSafe?.payerCode, ofSafe?.knownWallet], ['contract', 'Safe 1.5.0'])
  assert.deepEqual([ofSimple?.payerCode, ofSimple?.knownWallet], ['contract', null])
})

test('in the mode proven the Safe buys by its code, the 4337 account once the operator allows it', async () => {
  await enter('proven')
  await world.settle()
  await world.settle()
  assert.deepEqual(await paymentsOf(paidSafely), [[safe, 'minted', safe]])
  assert.deepEqual((await paymentsOf(bundled))[0], [simple.address, 'held contractWallet', null])
  await allowContract(world.pool, { address: simple.address, label: 'a fund', reason: 'a letter', addedBy: 'test' })
  await world.settle()
  assert.deepEqual((await paymentsOf(bundled))[0], [simple.address, 'minted', simple.address])
})

test('that account can pass on its node, by an ordinary operation', async () => {
  const [node] = await world.pool<{ id: number }[]>`SELECT node_id AS id FROM nodes WHERE owner = ${simple.address}`
  const args = [simple.address, world.at(HEIR), BigInt(node?.id ?? 0)] as const
  const data = encodeFunctionData({ abi: ownerAbi, functionName: 'transferFrom', args })
  const operation = await simple.sign({ to: world.factory, data })
  assert.equal(operation.factory, undefined, 'the account is there')
  await entryPoint.bundle(BUNDLER, [operation])
  await world.settle()
  assert.deepEqual((await paymentsOf(bundled))[0], [simple.address, 'minted', world.at(HEIR)])
})
