// Who may buy by an internal call, on real parts: the kind of a payment's sender at its block, the mode of the sale, and the
// proofs that a contract is someone's wallet. The service judges a waiting payment again once these change, and never meanwhile.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pad } from 'viem/utils'
import { proveWallet } from '../../../src/db/payments/payers.ts'
import { insertMode } from '../../../src/db/sale/contract-wallets.ts'
import { KNOWN_IMPLEMENTATIONS } from '../../../src/domain/payers/known-wallets.ts'
import type { ContractWalletMode, PayerCode } from '../../../src/domain/payers/payer.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import { ETHER, standingOf, startWorld, type World } from '../../support/world.ts'

const PRICE = ETHER / 100n
/** Solady's LibClone, the proxy of Kernel and others; its implementation is in the slot of EIP-1967. */
const PROXY =
  '0x363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3'
const SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const [kernel] = KNOWN_IMPLEMENTATIONS.filter(({ name }) => name === 'Kernel')
const PLAIN_CODE = '0x5f5ff3'

let world: World
/** The reads of payers from the chain. */
let asked: Address[] = []
let last = 0x1000

before(async () => {
  world = await startWorld()
  await world.settle()
})
after(() => world.close())

/** The world, which notes its readings of codes. */
const instance = () =>
  world.instance({
    chain: {
      ...world.ctx.chain,
      async payerCode(payer, at): Promise<PayerCode | null> {
        asked.push(payer)
        return world.ctx.chain.payerCode(payer, at)
      },
    },
  })

/** Passes until nothing is pending. */
async function pass(times = 3): Promise<void> {
  const { payments } = instance()
  for (let i = 0; i < times; i++) {
    await world.chain.mine()
    await payments()
  }
}

/** A new address with this code for each call. */
async function contract(code: `0x${string}` = PLAIN_CODE): Promise<Address> {
  const at = `0x${(last++).toString(16).padStart(40, 'c')}` as Address
  if (code !== '0x') await world.chain.rpc('anvil_setCode', [at, code])
  return at
}

/** A known wallet: a Kernel behind its proxy. */
async function knownWallet(implementation = kernel?.address ?? assert.fail('no Kernel')): Promise<Address> {
  const at = await contract(PROXY)
  await world.chain.rpc('anvil_setStorageAt', [at, SLOT, pad(implementation)])
  return at
}

/**
 * A payment as tracing enters it, in a followed block. The chain has a plain transfer in its place, so every kind of
 * sender is possible; their kind is read from the chain.
 */
async function paidBy(from: Address, valueWei = PRICE): Promise<Hash> {
  const txHash = await world.pay(9, valueWei)
  await world.chain.mine()
  await world.credit()
  const [ref] = [`0x${txHash.slice(2, -4)}c0de` as Hash]
  await world.pool`UPDATE payments SET from_address = ${from}, inner_index = 1, ref = ${ref} WHERE tx_hash = ${txHash}`
  return txHash
}

async function enter(mode: ContractWalletMode): Promise<void> {
  const { number } = await world.chain.block()
  await insertMode(world.pool, { mode, fromBlock: Number(number) + 1 }, 'test')
  await world.chain.mine()
}

const evidenceOf = async (txHash: Hash) => {
  const rows = await world.pool<{ evidence: Record<string, unknown> }[]>`
    SELECT evidence FROM payment_verdicts v JOIN payments p ON p.id = payment_id WHERE tx_hash = ${txHash} ORDER BY v.id`
  return rows.map(({ evidence }) => evidence)
}
const ownerOf = async (txHash: Hash) => {
  const [row] = await world.pool<{ owner: Address }[]>`
    SELECT n.owner FROM nodes n JOIN payments p USING (node_id) WHERE p.tx_hash = ${txHash}`
  return row?.owner
}

test('T39: without a mode contracts and empty addresses wait, and a delegating account buys', async () => {
  const payers = { unknown: await contract(), known: await knownWallet(), bare: await contract('0x') }
  const delegating = await contract(`0xef0100${'ab'.repeat(20)}`)
  const paid = [
    ...[await paidBy(payers.unknown), await paidBy(payers.known), await paidBy(payers.bare)],
    await paidBy(delegating),
  ] as const
  const plain = await world.pay(10, PRICE)
  await pass()
  const standings = await Promise.all([...paid, plain].map((hash) => standingOf(world, hash)))
  assert.deepEqual(standings, [
    ...['held contractWallet', 'held contractWallet', 'held contractWallet', 'minted', 'minted'],
  ])
  assert.equal(await ownerOf(paid[3]), delegating)
  const [known] = await evidenceOf(paid[1])
  assert.deepEqual([known?.mode, known?.knownWallet, known?.payerCode], ['hold', 'Kernel 2.2', 'contract'])
  const [bare] = await evidenceOf(paid[2])
  assert.equal(bare?.noCode, true)
  assert.equal(asked.includes(world.at(10)), false, 'a plain sender is not asked about')
})

test('T36: a sender by one provider’s word waits in every mode until it is trusted, by two’s not', async () => {
  await enter('all')
  const { payments } = world.instance({ rules: { trustsProvider: false } })
  const payers = [await contract(), await contract(`0xef0100${'ab'.repeat(20)}`), await contract()] as const
  const paid = [await paidBy(payers[0]), await paidBy(payers[1]), await paidBy(payers[2])] as const
  await world.pool`UPDATE payments SET proof = 'agreed' WHERE tx_hash = ${paid[2]}`
  for (let run = 0; run < 3; run++) {
    await world.chain.mine()
    await payments()
  }
  const standings = () => Promise.all(paid.map((hash) => standingOf(world, hash)))
  assert.deepEqual(await standings(), ['held contractWallet', 'held contractWallet', 'minted'])
  assert.deepEqual(
    (await evidenceOf(paid[0])).map(({ mode, oneProvider }) => [mode, oneProvider]),
    [['all', true]],
  )
  await pass()
  assert.deepEqual(await standings(), ['minted', 'minted', 'minted'])
  await enter('hold')
})

test('T40: a change to proven sells to a waiting known wallet, and to no other code or none', async () => {
  const payers = [await knownWallet(), await knownWallet(`0x${'ee'.repeat(20)}` as Address), await contract('0x')]
  const paid = await Promise.all([paidBy(payers[0] as Address)])
  for (const payer of payers.slice(1)) paid.push(await paidBy(payer))
  await pass()
  asked = []
  await enter('proven')
  await pass()
  const standings = await Promise.all(paid.map((hash) => standingOf(world, hash)))
  assert.deepEqual(standings, ['minted', 'held contractWallet', 'held contractWallet'])
  assert.deepEqual(asked, [], 'what its code was is on record')
  const later = await paidBy(await knownWallet())
  await pass()
  assert.equal(await standingOf(world, later), 'minted')
})

test('in the mode proven, signing in after paying buys one’s own payments only', async () => {
  const [mine, other] = [await contract(), await contract()]
  const paid = [await paidBy(mine), await paidBy(mine), await paidBy(other)]
  await pass()
  await proveWallet(world.pool, mine, { deployed: true })
  await pass(4)
  const standings = await Promise.all(paid.map((hash) => standingOf(world, hash)))
  assert.deepEqual(standings, ['minted', 'minted', 'held contractWallet'])
})

test('a contract’s payment that is being refunded is not judged, even if that begins mid-run', async () => {
  const paid = await paidBy(await contract())
  await pass()
  await enter('all')
  await world.credit()
  await world
    .instance({
      minter: null,
      contract: {
        ...world.ctx.contract,
        async maxPerWallet() {
          await world.pool`UPDATE payments SET reason = 'refunding' WHERE tx_hash = ${paid}`
          return world.ctx.contract.maxPerWallet()
        },
      },
    })
    .payments()
  assert.equal(await standingOf(world, paid), 'held refunding')
  const [run] = await world.pool`SELECT error FROM passes WHERE name = 'payments'`
  assert.equal(run?.error, null, 'nothing was tried that failed')
  await enter('hold')
})
