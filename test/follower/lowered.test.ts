// Payments that only one provider confirms, on a ledger that no longer requires a proof of a part of the blocks, or never could.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteClaimedBlock } from '../../src/db/blocks/claimed.ts'
import { readHalt } from '../../src/db/blocks/halts.ts'
import { lowerProof, readProofStates } from '../../src/db/blocks/proofs.ts'
import { inTransaction } from '../../src/db/core/sql.ts'
import { LEARNT } from '../../src/domain/observed.ts'
import type { Address } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { releasePayment } from '../../src/operator/acts/decide.ts'
import { type FalseProvider, startFalseProvider } from '../chain/false-provider.ts'
import { startTwoProviders } from '../support/two-providers.ts'
import { ETHER, paymentOf, startWorld, type World } from '../support/world.ts'
import { lieBody, other } from './lies.ts'

const BASIC = ETHER / 100n
const THIEF = `0x${'7e'.repeat(20)}` as Address
const operator = { name: 'test', requestId: null }

/** Has the ledger learn what the chain's blocks prove. */
async function learn({ pool, pay, chain, settle }: World) {
  await pay(5, 1n)
  await chain.mine(5)
  await settle()
  assert.equal((await readProofStates(pool)).size, LEARNT.length)
}

for (const part of ['header', 'receipts'] as const)
  test(`a released payment of a wrong amount is minted once two providers agree, after proofs of the ${part} were given up`, async () => {
    const { world, second } = await startTwoProviders()
    try {
      await learn(world)
      await inTransaction(world.pool, (sql) => lowerProof(sql, part, { blockNumber: 1_000, by: 'test' }))
      const txHash = await world.pay(5, BASIC + 7n)
      await world.chain.mine()
      second.rule = ({ method }) =>
        method.startsWith('eth_getTransaction') ? { error: { code: -32000, message: 'not now' } } : undefined
      await world.payments()
      second.rule = () => undefined
      const [read] = await world.pool`SELECT state, proof FROM payments WHERE tx_hash = ${txHash}`
      assert.deepEqual({ ...read }, { state: 'held', proof: 'believed' })
      assert.ok(!isOperatorRefusal(await releasePayment(world, operator, { payment: txHash, tierId: 'basic' })))
      await world.settle()
      const [row] = await world.pool`SELECT state, proof FROM payments WHERE tx_hash = ${txHash}`
      assert.deepEqual({ ...row }, { state: 'minted', proof: 'agreed' })
    } finally {
      await world.close()
    }
  })

test('a provider that leaves a payment out when its block is claimed: nothing proves the list without its header, so the ledger does not go back', async () => {
  const { world, first, second } = await startTwoProviders()
  try {
    await learn(world)
    await inTransaction(world.pool, (sql) => lowerProof(sql, 'header', { blockNumber: 1_000, by: 'test' }))
    const number = Number(await world.chain.rpc('eth_blockNumber')) + 1
    await world.pay(6, 1n, world.at(7))
    const txHash = await world.pay(5, BASIC)
    await world.settle()
    assert.equal((await paymentOf(world, txHash))?.state, 'minted')
    for (const provider of [first, second])
      provider.rule = lieBody(world, number, (transactions) => transactions.filter(({ hash }) => hash !== txHash))
    await noteClaimedBlock(world.pool, number)
    await world.payments()
    assert.equal((await world.pool`SELECT FROM audit WHERE action = 'leftOut'`).count, 0)
    assert.equal((await paymentOf(world, txHash))?.state, 'minted')
  } finally {
    await world.close()
  }
})

test('one of two providers leaves a payment out, and lists were never proven before: its block’s list proves it, and it is minted within five runs', async () => {
  const { world, first } = await startTwoProviders()
  try {
    await learn(world)
    await world.pool`DELETE FROM chain_proofs WHERE part <> 'header'`
    const number = Number(await world.chain.rpc('eth_blockNumber')) + 1
    await world.pay(6, 1n, world.at(7))
    const txHash = await world.pay(5, BASIC)
    await world.chain.mine()
    first.rule = lieBody(world, number, (transactions) => transactions.filter(({ hash }) => hash !== txHash))
    for (let run = 0; run < 5; run++) {
      await world.payments().catch((error: Error) => assert.equal(error.name, 'LeftOutFault'))
      await world.chain.mine()
    }
    assert.deepEqual([...(await readProofStates(world.pool)).keys()], ['header'])
    assert.equal((await paymentOf(world, txHash))?.state, 'minted')
    assert.equal((await world.pool`SELECT FROM audit WHERE action = 'proofFailed'`).count, 1)
  } finally {
    await world.close()
  }
})

/** A world with one provider, whose word about what is not proven the operator trusts or not. */
async function startAlone() {
  const providers: FalseProvider[] = []
  const between = async (target: string) => {
    const provider = await startFalseProvider(target)
    providers.push(provider)
    return { urls: [provider.url], close: () => provider.close() }
  }
  const world = await startWorld({}, { between })
  return { world, careful: world.instance({ rules: { trustsProvider: false } }), liar: providers[0] as FalseProvider }
}

for (const part of LEARNT)
  test(`the only provider is believed after proofs of the ${part} were given up: a payment is minted`, async () => {
    const { world, careful } = await startAlone()
    try {
      await learn(world)
      await inTransaction(world.pool, (sql) => lowerProof(sql, part, { blockNumber: 1_000, by: 'test' }))
      const txHash = await world.pay(5, BASIC)
      for (let run = 0; run < 3; run++) {
        await world.chain.mine()
        await careful.payments()
      }
      assert.equal((await paymentOf(world, txHash))?.state, 'minted')
    } finally {
      await world.close()
    }
  })

for (const isTrusted of [true, false])
  test(`lists never match their root: the only provider is ${isTrusted ? 'believed if it is trusted' : 'not followed if it is not trusted'}`, async () => {
    const { world, careful, liar } = await startAlone()
    try {
      await world.chain.mine()
      await world.settle()
      // As Mantle's deposits: the fields that a node shows of them are not those that the root covers.
      liar.rule = async ({ method, params }, forward) => {
        const answer = await forward()
        if (method !== 'eth_getBlockByNumber' || params[1] !== true || !('result' in answer)) return answer
        const block = answer.result as { transactions: { gas: string }[] } | null
        return {
          result: block && { ...block, transactions: block.transactions.map((tx) => ({ ...tx, gas: other(tx.gas) })) },
        }
      }
      const txHash = await world.pay(5, BASIC)
      for (let run = 0; run < 4; run++) {
        await world.chain.mine()
        await (isTrusted ? world : careful).payments()
      }
      assert.equal((await readHalt(world.pool))?.reason ?? null, isTrusted ? null : 'unproven')
      assert.equal((await paymentOf(world, txHash))?.state, isTrusted ? 'minted' : undefined)
    } finally {
      await world.close()
    }
  })

test('a provider that nobody trusts adds a payment of a type that nobody knows, before any list was proven: it is not minted, and we say so', async () => {
  const { world, careful, liar } = await startAlone()
  try {
    for (let run = 0; run < 3; run++) {
      await world.chain.mine(30)
      await careful.payments()
    }
    assert.deepEqual([...(await readProofStates(world.pool)).keys()], ['header'])
    const number = Number(await world.chain.rpc('eth_blockNumber')) + 1
    await world.pay(6, 1n, world.at(7))
    await world.chain.mine()
    const lie = lieBody(world, number, ([tx], wallet) => [
      tx,
      {
        ...tx,
        ...{ hash: other(tx.hash), transactionIndex: '0x1', type: '0x55', from: THIEF, to: wallet },
        value: `0x${BASIC.toString(16)}`,
      },
    ])
    liar.rule = (call, forward) =>
      call.method === 'eth_getBlockReceipts' ? { error: { code: -32601, message: 'not here' } } : lie(call, forward)
    for (let run = 0; run < 3; run++) {
      await world.chain.increaseTime(100)
      await world.chain.mine()
      await careful.payments()
    }
    const rows = await world.pool`SELECT from_address, state, proof FROM payments`
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [{ from_address: THIEF, state: 'accepted', proof: 'believed' }],
    )
    const told = await world.pool<{ detail: { says: string } }[]>`SELECT detail FROM audit WHERE action = 'proofFailed'`
    assert.match(String(told[0]?.detail.says), /^only one provider reports payment/)
  } finally {
    await world.close()
  }
})
