// Fees of the payments wallet's own transactions. No hash covers the price in a receipt, so a provider may report any. The fee that makes the proven
// balances agree to the wei is stored, and else what is left over is never called proven.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import type { Answer, FalseProvider } from '../chain/false-provider.ts'
import { payInside, putForwarder } from '../support/forwarder.ts'
import { startAlone } from '../support/two-providers.ts'
import { ETHER, type World } from '../support/world.ts'

let world: World
let liar: FalseProvider
before(async () => {
  ;({ world, liar } = await startAlone())
  await putForwarder(world)
  await world.settle()
})
after(() => world.close())

type Receipt = Record<string, unknown> & { transactionHash: Hash }
/** Changes the prices of these transactions' gas, in whole receipts as in single ones. Traces are not there. */
const prices = (change: ReadonlyMap<Hash, (wei: bigint) => bigint>) => {
  const told = (receipt: Receipt): Receipt => {
    const price = change.get(receipt.transactionHash)?.(BigInt(String(receipt.effectiveGasPrice)))
    return price === undefined ? receipt : { ...receipt, effectiveGasPrice: `0x${price.toString(16)}` }
  }
  liar.rule = async ({ method }, forward): Promise<Answer | undefined> => {
    if (method.startsWith('debug_') || method.startsWith('trace_'))
      return { error: { code: -32601, message: 'the method is not there' } }
    if (!/Receipts?$/.test(method)) return undefined
    const answer = (await forward()) as { result: Receipt | Receipt[] }
    return { result: Array.isArray(answer.result) ? answer.result.map(told) : told(answer.result) }
  }
}
const paidOut = () => world.pay(3, 7n, world.at(9))
const storedFees = async (txHashes: readonly Hash[]) => {
  const rows = await world.pool<{ fee: bigint }[]>`
    SELECT fee_wei AS fee FROM wallet_outflows WHERE tx_hash = ANY(${[...txHashes]}) ORDER BY array_position(${[...txHashes]}, tx_hash::text)`
  return rows.map(({ fee }) => fee)
}
const trueFees = (txHashes: readonly Hash[]) =>
  Promise.all(
    txHashes.map(async (hash) => {
      const receipt = await world.chain.rpc<{ gasUsed: string; effectiveGasPrice: string }>(
        'eth_getTransactionReceipt',
        [hash],
      )
      return BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
    }),
  )
const residues = () =>
  world.pool<{ value: bigint; proof: string }[]>`
    SELECT p.value_wei AS value, v.evidence ->> 'proof' AS proof FROM payments p
    JOIN payment_verdicts v ON v.payment_id = p.id WHERE p.tx_hash IS NULL`

test('false prices of two transactions in a block are corrected, and no ether is filed', async () => {
  const own = [await paidOut(), await paidOut()]
  prices(
    new Map([
      [own[0] as Hash, (wei) => wei * 3n],
      [own[1] as Hash, (wei) => wei / 2n],
    ]),
  )
  await world.chain.mine()
  await world.payments()
  assert.deepEqual(await storedFees(own), await trueFees(own))
  assert.equal((await residues()).length, 0)
  const [books] = await world.pool<{ audited: number; out: bigint; sum: bigint }[]>`
    SELECT audited_block AS audited, out_wei AS out, (SELECT sum(value_wei + fee_wei) FROM wallet_outflows) AS sum FROM wallet_books`
  assert.deepEqual([books?.audited, books?.out], [Number((await world.chain.block()).number), books?.sum])
})

test('value that no fee explains is held, and not called proven', async () => {
  const own = await paidOut()
  await payInside(world, ETHER / 50n)
  prices(new Map([[own, (wei) => wei * 3n]]))
  await world.chain.mine()
  await world.payments()
  const [residue, ...more] = await residues()
  assert.deepEqual([residue?.proof, more.length], ['agreed', 0])
  assert.notDeepEqual(await storedFees([own]), await trueFees([own]))
})

test('ether that arrives beside no transaction of the wallet is proven, as ever', async () => {
  prices(new Map())
  await payInside(world, ETHER / 40n)
  await world.chain.mine()
  await world.payments()
  assert.deepEqual((await residues()).at(-1), { value: ETHER / 40n, proof: 'proven' })
})
