// Mined transactions: src/chain/evidence/reader.ts, with reorganisations between the questions, receipts of other blocks, providers that lag or answer nothing, and
// two that differ in one thing, finds what the second reading finds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createChainReader } from '../../../src/chain/evidence/reader.ts'
import { ChainFault, RpcFault } from '../../../src/ports/faults.ts'
import { account, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './mined.ts'

const [TX, PAYER] = [word(1), account(5)]
const HOME: model.Moment = {
  ...{ tx: { block: { number: 20, fork: 'a' }, index: 1, valueWei: 5n, to: account(1) }, ended: 'well', header: 'own' },
}
const moved = (tx: Partial<NonNullable<model.Moment['tx']>>, more: Partial<model.Moment> = {}): model.Moment => ({
  ...{ ...HOME, ...more },
  tx: { ...(HOME.tx as NonNullable<model.Moment['tx']>), ...tx },
})
/** Moments that differ from the first in one thing. */
const MOMENTS: model.Moment[] = [
  moved({ block: { number: 20, fork: 'b' } }),
  moved({ block: { number: 20, fork: 'b' } }, { ended: 'badly' }),
  moved({ block: { number: 21, fork: 'a' } }),
  moved({ block: null }),
  moved({ index: 2 }),
  moved({ valueWei: 6n }),
  moved({ to: account(2) }),
  moved({ to: null }),
  moved({}, { ended: 'badly' }),
  moved({}, { ended: 'tooLarge' }),
  moved({}, { ended: null }),
  moved({}, { header: 'other' }),
  moved({}, { header: 'none' }),
  { ...HOME, tx: null },
]
const moment = fc.oneof({ weight: 3, arbitrary: fc.constant(HOME) }, fc.constantFrom(...MOMENTS))
const provider = fc.record({
  before: moment,
  after: moment,
  /** Most chains stay as they are. */
  change: fc.constantFrom(0, 1, 2, 3, 3, 3),
  fails: fc.constantFrom(0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3),
})
const drawn = fc.array(provider, { minLength: 1, maxLength: 4 })

const hex = (n: number | bigint) => `0x${n.toString(16)}`
const hashOf = ({ number, fork }: { number: number; fork: string }) => word(1_000 * (1 + 'abc'.indexOf(fork)) + number)
const timeOf = ({ number, fork }: { number: number; fork: string }) => (fork === 'a' ? 500 : 600) + number

function transactionOf({ tx }: model.Moment) {
  if (tx === null) return null
  const { block, index, valueWei, to } = tx
  const place = { blockHash: block && hashOf(block), blockNumber: block && hex(block.number) }
  return {
    hash: TX,
    transactionIndex: block && hex(index),
    from: PAYER,
    to,
    value: hex(valueWei),
    nonce: '0x7',
    ...place,
  }
}

function receiptOf({ tx, ended }: model.Moment) {
  if (ended === 'tooLarge') throw new RpcFault('tooLarge', 'more than we read')
  if (!tx?.block || ended === null) return null
  const place = { blockHash: hashOf(tx.block), blockNumber: hex(tx.block.number) }
  return { transactionHash: TX, ...place, status: ended === 'well' ? '0x1' : '0x0', gasUsed: '0x5208', logs: [] }
}

function headerOf({ tx, header }: model.Moment, number: number) {
  if (header === 'none') return null
  const own = { number, fork: tx?.block?.fork ?? 'a' }
  // Otherwise another fork's, which has the transaction elsewhere or not at all.
  const shown = header === 'own' && tx?.block?.number === number ? own : { number, fork: 'c' }
  return { number: hex(number), hash: hashOf(shown), parentHash: word(0), timestamp: hex(timeOf(shown)) }
}

const PLACES: Record<string, number> = {
  eth_getTransactionByHash: 0,
  eth_getTransactionReceipt: 1,
  eth_getBlockByNumber: 2,
}
const silent = () => {
  throw new ChainFault('no answer')
}

/** A provider's answers. Every other one that fails gives what belongs to another transaction or block. */
function rpcOf(given: model.Provider, n: number) {
  const request = async (method: string, params: unknown[], limits?: { bytesMax?: number }) => {
    const question = PLACES[method] ?? assert.fail(method)
    const now = question < given.change ? given.before : given.after
    const isWrong = question === given.fails
    if (isWrong && n % 2 === 0) return silent()
    if (question === 2) {
      const shown = headerOf(now, Number(params[0]))
      return isWrong ? { ...headerOf({ ...now, header: 'own' }, Number(params[0])), number: '0x1' } : shown
    }
    assert.equal(params[0], TX)
    if (question === 0) return isWrong ? { ...transactionOf(HOME), hash: word(2) } : transactionOf(now)
    assert.ok((limits?.bytesMax ?? 0) >= 300_000, 'a receipt is read up to a limit')
    return isWrong ? { ...receiptOf(HOME), transactionHash: word(2) } : receiptOf(now)
  }
  return { host: `host ${n}`, request, passOverFirst: () => null, distrust: () => {} }
}

/** A view as the code has it. */
function asCode(said: model.View | null, withTime: boolean): object | null {
  if (said === null) return null
  const { block, index, valueWei, to, succeeded } = said
  const place = { blockNumber: block?.number ?? null, blockHash: block && hashOf(block) }
  const found = { txHash: TX, txIndex: block ? index : -1, from: PAYER, to, valueWei, ...place, succeeded }
  return withTime && block ? { ...found, blockTime: timeOf(block) } : found
}

const met = { mined: 0, none: 0, fault: 0 }

async function same(
  reading: Promise<unknown>,
  expected: model.View | null | 'fault',
  withTime: boolean,
): Promise<void> {
  if (expected === 'fault') return assert.rejects(reading, ChainFault)
  assert.deepEqual(await reading, asCode(expected, withTime))
}

test('a transaction is mined if its receipt and header share a block, and two agree', async () => {
  const compare = async (given: model.Provider[]) => {
    const rpcs = given.map(rpcOf)
    const composite = { ...rpcs[0], providers: rpcs, hosts: [] }
    const watched = { factory: account(9), wallets: [], signers: [] }
    const reader = createChainReader(composite as never, watched as never)
    for (const [n, one] of given.entries()) {
      await same(reader.providers[n]?.transaction(TX as never) ?? assert.fail(), model.view(one), false)
      await same(reader.providers[n]?.minedTransaction(TX as never) ?? assert.fail(), model.mined(one), true)
    }
    const expected = model.agreed(given)
    await same(reader.minedTransaction(TX as never), expected, true)
    met[expected === null ? 'none' : expected === 'fault' ? 'fault' : 'mined'] += 1
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(600) })
  assert.ok(Math.min(...Object.values(met)) >= cases(20), JSON.stringify(met))
})
