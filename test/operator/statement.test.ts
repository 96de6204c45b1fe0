// The statement, on a chain where people pay, get refunds and credits, withdraw, and send ether around outside the
// ledger: every account adds up from its balance at the opening block to its balance at the closing block, to the wei.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { encodeFunctionData, parseAbi } from 'viem'
import { operatorDeps } from '../../src/boot/app.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { isOperatorRefusal, type OperatorDeps } from '../../src/operator/act.ts'
import type { Account } from '../../src/operator/acts/books/account.ts'
import { readStatement, type Statement, statementCsv } from '../../src/operator/acts/books/statement.ts'
import { refundPayment } from '../../src/operator/acts/refunds/record.ts'
import { ETHER, INTERVAL_SEC, paymentOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const WRONG = ETHER / 77n
const sweepAbi = parseAbi(['function sweep(address to, uint256 amount)'])

let world: World
let deps: OperatorDeps
/** The ledger's heads: before anything, after the first period, after the second. */
const heads: { number: number; time: number }[] = []

before(async () => {
  world = await startWorld()
  deps = operatorDeps(world.ctx, world.pool)
  await recordIdentity(world.pool, {
    chainId: world.chain.chainId,
    genesisHash: '0x',
    factory: world.factory,
    startBlock: 1,
  })
  await world.settle()
  await note()
  await playFirst()
  await note()
  await playSecond()
  await note()
})
after(() => world.close())

async function note(): Promise<void> {
  // Blocks of one second share a boundary time; a later one makes the boundary unambiguous.
  await world.chain.increaseTime(5)
  await world.rest()
  const { number, timestamp } = await world.chain.block()
  heads.push({ number: Number(number), time: Number(timestamp) })
  await world.chain.increaseTime(5)
}

let wrong: Hash
async function playFirst(): Promise<void> {
  await world.pay(5, BASIC)
  await world.pay(5, BASIC)
  await world.pay(6, ETHER / 40n)
  wrong = await world.pay(7, WRONG)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
}

async function playSecond(): Promise<void> {
  const { at, factory } = world
  const send = async (from: number, to: Address, wei: bigint) => {
    const hash = await world.pay(from, wei, to)
    await world.chain.mine()
    return hash
  }
  await send(9, at(1), ETHER)
  await send(9, at(2), 2n * ETHER)
  await send(8, factory, ETHER / 2n)
  await world.call(0, factory, encodeFunctionData({ abi: sweepAbi, functionName: 'sweep', args: [at(0), ETHER / 8n] }))
  const refund = await send(3, at(7), WRONG)
  await send(3, at(2), ETHER / 3n)
  await send(3, at(9), ETHER / 7n)
  await world.settle()
  const done = await refundPayment(deps, { name: 'ada', requestId: null }, { payment: wrong, refundTxHash: refund })
  assert.ok(!isOperatorRefusal(done), JSON.stringify(done))
  await world.act(5, 'withdraw', [1n, at(5), 1_000_000_000n])
  await send(8, at(3), 11n)
  await world.act(5, 'withdraw', [2n, at(3), 7n])
  await world.act(5, 'withdraw', [2n, at(5), 10n ** 30n])
  // The minter's key used by hand, which spends its nonce and its ether.
  await send(1, at(9), ETHER / 5n)
  await world.pay(8, BASIC)
  await world.settle()
  await world.chain.increaseTime(2 * INTERVAL_SEC)
  await world.rest()
}

async function statement(input: object): Promise<Statement> {
  const result = await readStatement(deps, input as never)
  return isOperatorRefusal(result) ? assert.fail(result.message) : result
}

const balance = async (of: Address, block: number) =>
  BigInt(await world.chain.rpc<string>('eth_getBalance', [of, `0x${block.toString(16)}`]))
const blocks = (from: number, to: number) => ({
  from: String((heads[from]?.number ?? 0) + 1),
  to: String(heads[to]?.number),
})
const accountOf = (of: Statement, name: string): Account =>
  of.accounts.find((account) => account.name === name) ?? assert.fail(`no account ${name}`)

async function assertAddsUp(of: Statement, from: number, to: number): Promise<void> {
  assert.equal(of.accounts.length, 4)
  for (const { name, address, openingWei, closingWei, movements, otherWei, other, unexplainedWei } of of.accounts) {
    assert.equal(openingWei, await balance(address, from), name)
    assert.equal(closingWei, await balance(address, to), name)
    const moved = [...movements, ...other].reduce((sum, { wei }) => sum + wei, 0n)
    assert.equal((openingWei ?? 0n) + moved, closingWei, name)
    assert.equal(
      other.reduce((sum, { wei }) => sum + wei, 0n),
      otherWei,
      name,
    )
    assert.equal(unexplainedWei, 0n, name)
  }
  assert.equal(of.contract.chainClosingWei, of.contract.outstandingClosingWei)
  assert.equal(of.balanced, true)
}

describe('a period', () => {
  it('without anything odd is explained by the ledger alone', async () => {
    const first = await statement(blocks(0, 1))
    await assertAddsUp(first, heads[0]?.number ?? 0, heads[1]?.number ?? 0)
    for (const account of first.accounts) assert.deepEqual(account.other, [], account.name)
    assert.deepEqual(first.sales, [
      { tierId: 'basic', count: 2, valueWei: 2n * BASIC },
      { tierId: 'plus', count: 1, valueWei: ETHER / 40n },
    ])
    assert.equal(first.happened.nodes, 3)
    assert.equal(first.happened.credits, 3)
    assert.equal(first.happened.creditedWei, first.happened.treasuryWei)
    assert.equal(first.period.complete, true)
  })

  it('with ether sent outside the ledger shows its block', async () => {
    const second = await statement(blocks(1, 2))
    await assertAddsUp(second, heads[1]?.number ?? 0, heads[2]?.number ?? 0)
    const otherOf = (name: string) => accountOf(second, name).other.map(({ wei }) => wei)
    assert.deepEqual(otherOf('payments wallet'), [])
    assert.deepEqual(otherOf('minter'), [ETHER])
    assert.deepEqual(otherOf('distributor'), [2n * ETHER])
    // Ether that reaches the contract outside the ledger, and its owner's sweeps, are the contract's own events.
    assert.deepEqual(otherOf('contract'), [])
    const { movements } = accountOf(second, 'contract')
    const moved = (what: string) => movements.filter((line) => line.what === what).map(({ wei }) => wei)
    assert.deepEqual([moved('strayEther'), moved('swept')], [[ETHER / 2n], [-ETHER / 8n]])
    for (const { other } of second.accounts)
      for (const { fromBlock, toBlock } of other) assert.equal(fromBlock, toBlock)
  })

  it('separates refunds, withdrawals, and what the wallet sent and received', async () => {
    const second = await statement(blocks(1, 2))
    const { happened } = second
    assert.deepEqual([happened.refunds, happened.refundedWei, happened.refundedFromWalletWei], [1, WRONG, WRONG])
    assert.deepEqual([happened.withdrawals, happened.withdrawnWei, happened.withdrawalsFailed], [2, 1_000_000_007n, 1])
    const moved = new Map(accountOf(second, 'payments wallet').movements.map(({ what, wei }) => [what, wei]))
    assert.equal(moved.get('refunds'), -WRONG)
    assert.equal(moved.get('sent'), -(ETHER / 3n + ETHER / 7n))
    assert.equal(moved.get('arrivedUnattributed'), 7n)
    assert.equal(moved.get('payments'), BASIC)
    assert.equal(moved.get('dust'), 11n)
    assert.equal((await paymentOf(world, wrong))?.state, 'refunded')
    const given = accountOf(second, 'distributor').movements.find(({ what }) => what === 'fromPaymentsWallet')
    assert.equal(given?.wei, ETHER / 3n)
    const byHand = accountOf(second, 'minter').movements.find(({ what }) => what === 'sent')
    assert.equal(byHand?.wei, -ETHER / 5n)
  })

  it('spends on gas what the receipts show', async () => {
    const all = await statement({})
    let fees = 0n
    for (const { tx_hash } of await world.pool`SELECT tx_hash FROM outbox WHERE tx_hash IS NOT NULL`) {
      type Receipt = { gasUsed: string; effectiveGasPrice: string }
      const receipt = await world.chain.rpc<Receipt>('eth_getTransactionReceipt', [tx_hash])
      fees += BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
    }
    assert.ok(fees > 0n)
    assert.equal(all.gasWei, fees)
    assert.deepEqual(
      new Set(all.gas.map(({ role, kind }) => `${role} ${kind}`)),
      new Set(['minter mint', 'minter openCohorts', 'minter foreign', 'distributor credit']),
    )
  })

  it('that has yet to come has no statement, nor has one that ends before the ledger begins', async () => {
    for (const input of [{ month: '2199-01' }, { from: '2199-02-01', to: '2199-01-01' }, { from: '999999999' }]) {
      const refused = await readStatement(deps, input)
      assert.ok(isOperatorRefusal(refused) && refused.because === 'notYet', JSON.stringify(input))
    }
    const early = await readStatement(deps, { month: '1999-01' })
    assert.ok(isOperatorRefusal(early) && early.because === 'invalid')
  })
})

it('has a gap that the ledger cannot explain shown as that, and does not balance', async () => {
  const { rows } = {
    rows: await world.pool`UPDATE wallet_outflows SET value_wei = value_wei - 1 WHERE value_wei = ${(ETHER / 7n).toString()} RETURNING 1`,
  }
  assert.equal(rows.length, 1)
  const broken = await statement(blocks(1, 2))
  assert.equal(broken.balanced, false)
  assert.deepEqual(
    accountOf(broken, 'payments wallet').other.map(({ wei }) => wei),
    [-1n],
  )
  await world.pool`UPDATE wallet_outflows SET value_wei = value_wei + 1 WHERE value_wei = ${(ETHER / 7n - 1n).toString()}`
})

it('reports null, not zero, if the provider no longer has the states', async () => {
  const opening = heads[1]?.number ?? 0
  const forgetful: OperatorDeps = {
    ...deps,
    chain: {
      ...deps.chain,
      balanceAt: async (owner, place) => (place.number <= opening ? null : deps.chain.balanceAt(owner, place)),
    },
  }
  const result = await readStatement(forgetful, blocks(1, 2))
  if (isOperatorRefusal(result)) return assert.fail(result.message)
  assert.equal(accountOf(result, 'minter').openingWei, null)
  assert.equal(accountOf(result, 'minter').unexplainedWei, null)
  const wallet = accountOf(result, 'payments wallet')
  assert.equal(wallet.openingFrom, 'books')
  assert.equal(wallet.openingWei, await balance(wallet.address, opening))
  assert.equal(wallet.unexplainedWei, 0n)
  assert.equal(result.balanced, null)
})

it('is one CSV with the same figures, and reports whether it balances', async () => {
  const second = await statement(blocks(1, 2))
  const lines = statementCsv(second).trimEnd().split('\r\n')
  assert.ok(lines.includes(`gas,total,,,${second.gasWei}`))
  assert.ok(
    lines.includes(`payments wallet,closing,${world.at(3)},,${accountOf(second, 'payments wallet').closingWei}`),
  )
  assert.equal(lines.at(-1), `#total,lines=${lines.length - 2},balanced=true,,`)
})
