// Contracts that are no person's wallet, from their call to the payment's fate: a splitter, constructors that pay,
// contracts that destroy themselves, and ether that comes without a call. Each from a real chain by real traces.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { innerRef } from '../../../src/chain/digest.ts'
import { claimer } from '../../../src/claims/claim.ts'
import { readPaymentsIn } from '../../../src/db/reads/public-payments.ts'
import { allowContract, insertMode } from '../../../src/db/sale/contract-wallets.ts'
import { CONTRACT_WALLET_MODES, type ContractWalletMode } from '../../../src/domain/payers/payer.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import type { Hex } from '../../support/anvil.ts'
import { payInside, putForwarder, SPLIT, splitTo } from '../../support/forwarder.ts'
import { checkInvariants } from '../../support/invariants.ts'
import { mined } from '../../support/wallets/deploy.ts'
import { ETHER, startWorld, type World } from '../../support/world.ts'

const PRICE = ETHER / 100n
const VALUE = `0x${PRICE.toString(16)}` as Hex
const [SPLITTER, TILL_A, TILL_B, FORWARDER, ENDING] = ['51', 'a1', 'b1', 'f1', 'e1'].map(
  (byte) => `0x${byte.repeat(20)}`,
) as [Address, Address, Address, Address, Address]

let world: World
let wallet: Address
before(async () => {
  world = await startWorld()
  wallet = world.at(3)
  await world.chain.rpc('anvil_setCode', [SPLITTER, SPLIT])
  for (const till of [TILL_A, TILL_B]) await world.chain.rpc('anvil_setCode', [till, `0x${payAll()}00`])
  await world.chain.rpc('anvil_setCode', [ENDING, `0x${end()}`])
  await putForwarder(world, FORWARDER)
  await world.settle()
})
afterEach(() => checkInvariants(world))
after(() => world.close())

const push20 = (address: Address) => `73${address.slice(2)}`
/** CALL(GAS, wallet, CALLVALUE, 0, 0, 0, 0), POP. */
const payAll = () => `5f5f5f5f34${push20(wallet)}5af150`
/** SELFDESTRUCT(wallet). */
const end = () => `${push20(wallet)}ff`
/** MSTORE8(0, 0), RETURN(0, 1): leaves a contract that does nothing. */
const LEAVE_CODE = '60005f5360015ff3'

async function enter(mode: ContractWalletMode): Promise<void> {
  const { number } = await world.chain.block()
  await insertMode(world.pool, { mode, fromBlock: Number(number) + 1 }, 'test')
}

interface Payment {
  ref: Hash
  from: Address | null
  value: bigint
  stands: string
  owner: Address | null
}
const paymentsOf = (txHash: Hash) => world.pool<Payment[]>`
  SELECT p.ref, from_address AS "from", value_wei AS value, concat_ws(' ', state, reason) AS stands, n.owner
  FROM payments p LEFT JOIN nodes n ON n.payment_id = p.id WHERE p.tx_hash = ${txHash} ORDER BY inner_index`
const toldOf = async (txHash: Hash) =>
  (await paymentsOf(txHash)).map(({ from, stands, owner }) => [from, stands, owner])

test('a splitter’s transaction for two buyers is two payments, and its claim returns both', async () => {
  const claim = claimer(world.ctx, world.payments)
  const data = splitTo([TILL_A, PRICE], [TILL_B, PRICE])
  const { txHash } = await mined(world.chain, {
    from: world.at(5),
    to: SPLITTER,
    data,
    value: `0x${(2n * PRICE).toString(16)}`,
  })
  assert.deepEqual(await claim(txHash), { kind: 'known' })
  const held = [TILL_A, TILL_B].map((from) => [from, 'held contractWallet', null])
  assert.deepEqual(await toldOf(txHash), held)
  assert.deepEqual(
    (await paymentsOf(txHash)).map(({ ref, value }) => [ref, value]),
    [1, 2].map((index) => [innerRef(txHash, wallet, index), PRICE]),
  )
  await allowContract(world.pool, { address: TILL_B, label: 'B', reason: 'known', addedBy: 'test' })
  await enter('proven')
  await world.settle()
  await world.settle()
  assert.deepEqual(await toldOf(txHash), [
    [TILL_A, 'held contractWallet', null],
    [TILL_B, 'minted', TILL_B],
  ])
  const payments = (await readPaymentsIn(world.pool, txHash)) ?? []
  assert.deepEqual(
    payments.map(({ from, status }) => [from, status]),
    [
      [TILL_A, 'held'],
      [TILL_B, 'minted'],
    ],
    'the answer to a claim',
  )
  await enter('hold')
})

test('a splitter that pays for two by itself is the payer of both, each with its ref', async () => {
  await enter('all')
  await world.chain.mine()
  const data = splitTo([wallet, PRICE], [wallet, PRICE])
  const { txHash } = await mined(world.chain, {
    from: world.at(5),
    to: SPLITTER,
    data,
    value: `0x${(2n * PRICE).toString(16)}`,
  })
  await world.settle()
  assert.deepEqual(await toldOf(txHash), Array(2).fill([SPLITTER, 'minted', SPLITTER]))
  assert.equal(new Set((await paymentsOf(txHash)).map(({ ref }) => ref)).size, 2)
  await enter('hold')
})

test('a constructor’s payment without code is held in every mode, even if its address is allowed', async () => {
  for (const mode of CONTRACT_WALLET_MODES) {
    await enter(mode)
    await world.chain.mine()
    const { txHash, created } = await mined(world.chain, { from: world.at(6), data: `0x${payAll()}`, value: VALUE })
    await allowContract(world.pool, { address: created, label: 'gone', reason: 'a mistake', addedBy: 'test' })
    await world.settle()
    assert.deepEqual(await toldOf(txHash), [[created, 'held contractWallet', null]], mode)
    const [verdict] = await world.pool<{ evidence: { noCode?: boolean } }[]>`
      SELECT evidence FROM payment_verdicts v JOIN payments p ON p.id = payment_id WHERE p.tx_hash = ${txHash}`
    assert.equal(verdict?.evidence.noCode, true, mode)
  }
})

test('a constructor’s payment that leaves a contract follows the mode', async () => {
  const data = `0x${payAll()}${LEAVE_CODE}` as Hex
  await enter('hold')
  await world.chain.mine()
  const { txHash, created } = await mined(world.chain, { from: world.at(6), data, value: VALUE })
  await world.settle()
  assert.deepEqual(await toldOf(txHash), [[created, 'held contractWallet', null]])
  await enter('all')
  await world.settle()
  await world.settle()
  assert.deepEqual(await toldOf(txHash), [[created, 'minted', created]])
})

test('a contract that ends into the wallet is its payer: an older one remains, a new one is gone', async () => {
  await enter('all')
  await world.chain.mine()
  const stays = await mined(world.chain, { from: world.at(7), to: ENDING, value: VALUE })
  const gone = await mined(world.chain, { from: world.at(7), data: `0x${end()}`, value: VALUE })
  await world.settle()
  assert.deepEqual(await toldOf(stays.txHash), [[ENDING, 'minted', ENDING]])
  assert.deepEqual(await toldOf(gone.txHash), [[gone.created, 'held contractWallet', null]])
})

test('ether without a transaction, like a validator’s withdrawal, is a residue in every mode', async () => {
  for (const mode of CONTRACT_WALLET_MODES) {
    await enter(mode)
    await world.chain.mine()
    const { txHash: before_ } = await payInside(world, PRICE, { by: FORWARDER })
    await world.chain.mine()
    const balance = BigInt(await world.chain.rpc<Hex>('eth_getBalance', [wallet, 'latest']))
    await world.chain.setBalance(wallet, balance + PRICE)
    await world.chain.mine()
    const { txHash: after_ } = await payInside(world, PRICE, { by: FORWARDER })
    const known = (await residues()).length
    await world.settle()
    assert.deepEqual(
      (await residues()).slice(known).map(({ value, stands }) => [value, stands]),
      [[PRICE, 'held unattributed']],
      mode,
    )
    const expected = mode === 'all' ? [FORWARDER, 'minted', FORWARDER] : [FORWARDER, 'held contractWallet', null]
    for (const txHash of [before_, after_]) assert.deepEqual(await toldOf(txHash), [expected], mode)
  }
})

const residues = () => world.pool<{ value: bigint; stands: string }[]>`
  SELECT value_wei AS value, concat_ws(' ', state, reason) AS stands FROM payments WHERE tx_hash IS NULL ORDER BY id`
