// Payments that only one provider confirms, on a ledger whose blocks are not proven.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteClaimedBlock } from '../../src/db/blocks/claimed.ts'
import { readMode } from '../../src/db/blocks/evidence.ts'
import { readHalt } from '../../src/db/blocks/halts.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { releasePayment } from '../../src/operator/acts/decide.ts'
import { setModeTo, startAlone, startTwoProviders } from '../support/two-providers.ts'
import { ETHER, paymentOf } from '../support/world.ts'
import { lieBody, other } from './lies.ts'

const BASIC = ETHER / 100n
const operator = { name: 'test', requestId: null }

test('a released payment of a wrong amount is minted once two providers agree', async () => {
  const { world, second } = await startTwoProviders()
  try {
    await setModeTo(world.pool, 'agreed')
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

test('a claim rewinds nothing if a provider leaves the payment out and nothing proves the list', async () => {
  const { world, first, second } = await startTwoProviders()
  try {
    await setModeTo(world.pool, 'agreed')
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

const LIES: Record<string, (own: string) => (transactions: { hash: string }[]) => object[]> = {
  'another value': (own) => (transactions) =>
    transactions.map((tx) => (tx.hash === own ? { ...tx, value: `0x${(BASIC + 7n).toString(16)}` } : tx)),
  'no such payment': (own) => (transactions) => transactions.filter(({ hash }) => hash !== own),
}
for (const [lie, told] of Object.entries(LIES))
  test(`a payment of which the first provider reports ${lie} is minted once the lie has ended`, async () => {
    const { world, first } = await startTwoProviders()
    try {
      await setModeTo(world.pool, 'agreed')
      const number = Number(await world.chain.rpc('eth_blockNumber')) + 1
      await world.pay(6, 1n, world.at(7))
      const txHash = await world.pay(5, BASIC)
      await world.chain.mine()
      first.rule = lieBody(world, number, told(txHash) as never)
      for (let i = 0; i < 3; i++) await world.payments()
      assert.notEqual((await paymentOf(world, txHash))?.state, 'minted')
      first.rule = () => undefined
      for (let i = 0; i < 4; i++)
        await world.payments().catch((error: Error) => assert.equal(error.name, 'LeftOutFault'))
      await world.settle()
      assert.equal((await paymentOf(world, txHash))?.state, 'minted')
    } finally {
      await world.close()
    }
  })

for (const isTrusted of [true, false])
  test(`lists never match their root: the only provider is ${isTrusted ? 'believed, because it is trusted' : 'followed, but nothing is minted, because it is not trusted'}`, async () => {
    const { world, liar } = await startAlone()
    const careful = world.instance({ rules: { trustsProvider: false } })
    try {
      // As Mantle's deposits: the fields that a node shows of them are not those that the root covers.
      liar.rule = async ({ method, params }, forward) => {
        const answer = await forward()
        if (method !== 'eth_getBlockByNumber' || params[1] !== true || !('result' in answer)) return answer
        const block = answer.result as { transactions: { gas: string }[] } | null
        return {
          result: block && { ...block, transactions: block.transactions.map((tx) => ({ ...tx, gas: other(tx.gas) })) },
        }
      }
      const payments = () => (isTrusted ? world : careful).payments()
      await world.chain.mine(6)
      await payments()
      assert.deepEqual(await readMode(world.pool), { mode: 'agreed', fromBlock: 0, by: 'pass' })
      const txHash = await world.pay(5, BASIC)
      for (let run = 0; run < 4; run++) {
        await world.chain.mine()
        await payments()
      }
      assert.equal(await readHalt(world.pool), null)
      assert.equal((await paymentOf(world, txHash))?.state, isTrusted ? 'minted' : 'accepted')
    } finally {
      await world.close()
    }
  })

test('one of two providers spoils a header: the other’s proves itself, so blocks are proven', async () => {
  const { world, first, second } = await startTwoProviders()
  try {
    await world.chain.mine(6)
    for (const liar of [first, second]) {
      await world.pool`DELETE FROM evidence_modes`
      liar.rule = async ({ method, params }, forward) => {
        const answer = await forward()
        if (method !== 'eth_getBlockByNumber' || params[1] !== true || !('result' in answer)) return answer
        return { result: { ...(answer.result as object), extraData: '0x1234' } }
      }
      const found = await world.ctx.chain.proofs.findMode()
      liar.rule = () => undefined
      assert.equal(found?.mode, 'proven')
    }
  } finally {
    await world.close()
  }
})

test('a new ledger begins only once its providers report the same blocks', async () => {
  const { world, second } = await startTwoProviders()
  try {
    await world.pool`DELETE FROM evidence_modes`
    second.rule = async ({ method }, forward) => {
      const answer = await forward()
      if (!/^eth_getBlockByN/.test(method) || !('result' in answer) || !answer.result) return answer
      const block = answer.result as { hash: string }
      return { result: { ...block, hash: other(block.hash) } }
    }
    await world.chain.mine(6)
    await assert.rejects(world.payments(), /no two providers of RPC_URL report the same recent blocks/)
    assert.equal(await readMode(world.pool), null)
    second.rule = () => undefined
    await world.payments()
    assert.equal((await readMode(world.pool))?.mode, 'proven')
  } finally {
    await world.close()
  }
})
