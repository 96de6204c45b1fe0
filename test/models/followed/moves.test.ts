// Transactions of blocks: src/chain/evidence/observe.ts and what db/payments/rows.ts stores of the wallets' outflows. Sent by our keys, by wallets and by strangers, to each
// of them, with and without success, they are to the ledger what the second reading says.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { encodeFunctionData, stringToHex } from 'viem/utils'
import { createObserver } from '../../../src/chain/evidence/observe.ts'
import { factoryDecodeAbi } from '../../../src/chain/factory/abi.ts'
import type { Soundness } from '../../../src/chain/prove/sound.ts'
import { insertOutflows } from '../../../src/db/payments/rows.ts'
import { account, openTables, type Tables, word } from '../../db/direct-rows.ts'
import { inOrder } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './moves.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [WALLET, OTHER, FACTORY, MINTER, STRANGER] = [1, 2, 3, 4, 5].map(account) as [
  string,
  string,
  string,
  string,
  string,
]
const BLOCK = 50
const someone = fc.constantFrom(WALLET, WALLET, OTHER, MINTER, STRANGER)
const drawnTx = fc.record({
  from: someone,
  to: fc.oneof(someone, fc.constantFrom(FACTORY, FACTORY, null)),
  valueWei: fc.constantFrom(0n, 1n, 2n, 5n, 5n),
  succeeded: fc.constantFrom(true, true, false),
  gasUsed: fc.constantFrom(21_000n, 50_000n),
  priceWei: fc.constantFrom(3n, 7n),
  besideWei: fc.constantFrom(0n, 0n, 11n),
  type: fc.constantFrom(0, 2, 2, 126),
  /** A transaction of no known type may still lack a signature. */
  lacksSignature: fc.constantFrom(false, false, false, true),
  codes: fc.constantFrom<string[]>([], [], ['a'], ['a', 'b']),
  withdraws: fc.option(
    fc.record({ nodeId: fc.constantFrom(1n, 7n), to: someone, amountWei: fc.constantFrom(0n, 9n) }),
    {
      freq: 2,
    },
  ),
  /** Who says the price: the receipt, the transaction, or both, each its own. */
  priced: fc.constantFrom('receipt', 'transaction', 'both'),
})
const drawn = fc.record({
  txs: fc.array(drawnTx, { maxLength: 5 }),
  windows: fc.array(
    fc.record({ from: fc.constantFrom(0, 0, 49, 50, 51), to: fc.constantFrom(null, null, 49, 50, 51) }),
    {
      minLength: 2,
      maxLength: 2,
    },
  ),
  leastWei: fc.constantFrom(1n, 2n, 3n),
  voices: fc.constantFrom(1, 2),
  /** The signers that the ledger knows, and those that the reader was made with. */
  isKnown: fc.constantFrom('both', 'given', 'built'),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never
type DrawnTx = typeof drawnTx extends fc.Arbitrary<infer T> ? T : never

const hex = (n: number | bigint) => `0x${n.toString(16)}`
const isUnsigned = ({ type, lacksSignature }: DrawnTx) => type === 126 || lacksSignature

function inputOf({ codes, withdraws, to }: DrawnTx): string {
  if (to === FACTORY && withdraws !== null) {
    const args = [withdraws.nodeId, withdraws.to, withdraws.amountWei]
    return encodeFunctionData({ abi: factoryDecodeAbi, functionName: 'withdraw', args } as never)
  }
  if (codes.length === 0) return '0x'
  const text = codes.join()
  return `0xabcd${stringToHex(text).slice(2)}${text.length.toString(16).padStart(2, '0')}00${'8021'.repeat(8)}`
}

function wireOf(tx: DrawnTx, index: number) {
  const signature = isUnsigned(tx) ? { r: '0x0', s: '0x0' } : { r: '0x1', s: '0x1' }
  return {
    ...{ hash: word(100 + index), transactionIndex: hex(index), blockHash: word(BLOCK), blockNumber: hex(BLOCK) },
    ...{ from: tx.from, to: tx.to, value: hex(tx.valueWei), nonce: hex(10 + index), input: inputOf(tx) },
    ...{ type: hex(tx.type), gasPrice: hex(tx.priced === 'both' ? 99 : tx.priceWei), ...signature },
  }
}

function receiptOf(tx: DrawnTx, index: number) {
  return {
    ...{
      transactionHash: word(100 + index),
      blockHash: word(BLOCK),
      blockNumber: hex(BLOCK),
      from: tx.from,
      to: tx.to,
    },
    ...{ status: tx.succeeded ? '0x1' : '0x0', gasUsed: hex(tx.gasUsed), logs: [] },
    ...(tx.priced === 'transaction' ? {} : { effectiveGasPrice: hex(tx.priceWei) }),
    ...(tx.besideWei > 0n ? { l1Fee: hex(tx.besideWei) } : {}),
  }
}

function rpcOf(txs: DrawnTx[]) {
  const wires = txs.map(wireOf)
  const block = {
    ...{ number: hex(BLOCK), hash: word(BLOCK), parentHash: word(BLOCK - 1), timestamp: hex(1_000) },
    transactions: wires,
  }
  const answer = ({ method, params }: { method: string; params: unknown[] }) => {
    if (method === 'eth_getBlockByNumber') return block
    const index = wires.findIndex(({ hash }) => hash === params[0])
    if (method === 'eth_getTransactionByHash') return wires[index]
    assert.equal(method, 'eth_getTransactionReceipt')
    return receiptOf(txs[index] ?? assert.fail(), index)
  }
  const requestAll = async (calls: Parameters<typeof answer>[0][]) => calls.map(answer)
  return { requestAll, batch: async (calls: never[]) => calls.map((call) => ({ ok: true, result: answer(call) })) }
}

/** As the second reading takes them. */
const toModel = (tx: DrawnTx, index: number): model.Tx => {
  const isCall = tx.to === FACTORY && tx.withdraws !== null
  return {
    ...tx,
    ...{ hash: word(100 + index), index, nonce: 10 + index, isUnsigned: isUnsigned(tx) },
    ...{ codes: isCall ? [] : tx.codes, withdraws: isCall ? tx.withdraws : null },
  }
}

const PLACE = ['blockNumber', 'blockHash', 'blockTime']
/** A movement without its block, which must be the only one. */
function placed(one: object): object {
  const { blockNumber, blockHash, blockTime } = one as Record<string, unknown>
  assert.deepEqual([blockNumber, blockHash, blockTime], [BLOCK, word(BLOCK), 1_000])
  return Object.fromEntries(Object.entries(one).filter(([name]) => !PLACE.includes(name) && name !== 'otherFeesWei'))
}

async function observe(given: Drawn, wallets: model.Wallet[]) {
  const { txs, leastWei, isKnown } = given
  const rpc = rpcOf(txs)
  const voices = Array.from({ length: given.voices }, () => rpc)
  const soundness = { mode: null, chainId: null, failed: [], voices } as unknown as Soundness
  const built = { factory: FACTORY, wallets: [], signers: isKnown === 'given' ? [] : [MINTER] }
  const observer = createObserver(rpc as never, built as never, soundness)
  const watching = {
    wallets: wallets.map(({ wallet, from, to }) => ({ wallet, watchedFrom: from, closedBlock: to })),
    ...{ signers: isKnown === 'built' ? [] : [MINTER], leastWei },
  }
  return await observer.observeBlocks([BLOCK], [], watching as never)
}

test('a transaction moves its value if it succeeds, and ours moves its fee in any case', async () => {
  const compare = async (given: Drawn) => {
    const txs = given.txs.map(toModel)
    const wallets = given.windows.map((one, n) => ({ ...one, wallet: n === 0 ? WALLET : OTHER }))
    const watched = { factory: FACTORY, signers: [MINTER], wallets, leastWei: given.leastWei, voices: given.voices }
    const range = await observe(given, wallets)
    const { transfers, outflows, sent, failed } = model.movesOf(txs, watched, BLOCK)
    assert.deepEqual(inOrder(range.transfers.map(placed)), inOrder(transfers))
    assert.deepEqual(inOrder(range.outflows.map(placed)), inOrder(outflows))
    assert.deepEqual(range.sent.map(placed), sent)
    assert.deepEqual(range.failedWithdrawals.map(placed), failed)
    assert.deepEqual([range.events, range.fees], [[], []])
    if (range.outflows.length === 0) return
    const books = wallets.map(({ wallet }) => ({ wallet }))
    await tables.within({ wallet_books: books }, async (sql) => {
      await insertOutflows(sql, range.outflows)
      const rows = await sql<{ ref: string; value: string }[]>`
        SELECT ref, value_wei::text AS value, fee_wei::text AS fee, to_address AS to, wallet, tx_hash AS hash,
          block_number AS block, block_hash AS "blockHash", extract(epoch FROM block_time)::int AS time FROM wallet_outflows ORDER BY ref`
      const expected = outflows.map((one) => {
        const { txHash, valueWei, feeWei, succeeded, to, wallet } = one as Record<string, unknown>
        const moves = { value: succeeded ? String(valueWei) : '0', fee: String(feeWei), to, wallet }
        return { ref: txHash, hash: txHash, ...moves, block: BLOCK, blockHash: word(BLOCK), time: 1_000 }
      })
      assert.deepEqual(inOrder([...rows]), inOrder(expected))
      const sums = await sql<{ wallet: string; out: string }[]>`SELECT wallet, out_wei::text AS out FROM wallet_books`
      const left = model.leftOf(txs, watched, BLOCK)
      assert.deepEqual(new Map(sums.map(({ wallet, out }) => [wallet, BigInt(out)])), left)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(300) })
})
