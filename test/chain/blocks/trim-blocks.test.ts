// Blocks whose strangers' transactions are cut before they are parsed: whatever a provider writes, what is left is read as the whole answer would
// have been.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { privateKeyToAccount } from 'viem/accounts'
import { createChainReader } from '../../../src/chain/read/reader.ts'
import { createTrim } from '../../../src/chain/read/trim-blocks.ts'
import { FEE_BLOCKS } from '../../../src/domain/fees.ts'
import { type Address, address, type Hash } from '../../../src/domain/units.ts'
import { type Stage, startStage } from '../stage.ts'

const OURS = ['90f7'.repeat(10), 'c8'.repeat(20)].map((digits) => address(`0x${digits}`))
const [WALLET] = OURS as [Address]
const STRANGER = `0x${'b1'.repeat(20)}`
const hashOf = (index: number) => `0x${index.toString(16).padStart(64, '0')}`

/** A transaction as a node writes it, with other fields in place of some. */
const written = (index: number, others: object = {}) =>
  JSON.stringify({
    ...{ type: '0x2', nonce: '0x1', to: STRANGER, value: '0x1', accessList: [], input: `0x${'ab'.repeat(index * 40)}` },
    ...{ hash: hashOf(index), blockHash: hashOf(999), transactionIndex: `0x${index.toString(16)}`, from: STRANGER },
    ...others,
  })

/** The answer to a batch: blocks with these transactions. */
const answerOf = (...blocks: string[][]) =>
  `[${blocks
    .map(
      (list, id) =>
        `{"jsonrpc":"2.0","id":${id},"result":{"number":"0x1","uncles":[],"transactions":[${list}],"size":"0x1"}}`,
    )
    .join(',')}]`

type Answer = { result: { transactions: unknown[] } }[]

const trimmed = (text: string) => createTrim(OURS)(Buffer.from(text)).toString()

/** The transactions that an answer has left in full, after comparing everything else with the whole answer. */
function leftOf(text: string): unknown[] {
  const whole = JSON.parse(text) as Answer
  const rest = JSON.parse(trimmed(text)) as Answer
  const left: unknown[] = []
  for (const [block, { result }] of whole.entries()) {
    for (const [index, transaction] of result.transactions.entries()) {
      const kept = rest[block]?.result.transactions[index]
      const isWhole = JSON.stringify(kept) === JSON.stringify(transaction)
      if (isWhole) left.push(transaction)
      else assert.deepEqual(kept, { hash: (transaction as { hash: unknown }).hash })
    }
    assert.equal(rest[block]?.result.transactions.length, result.transactions.length)
    assert.deepEqual({ ...rest[block]?.result, transactions: [] }, { ...result, transactions: [] })
  }
  return left
}

test('a stranger’s transaction is cut to its hash, with lists in it, and anything in its input', () => {
  const accessList = [
    { address: STRANGER, storageKeys: [hashOf(1), hashOf(2)] },
    { address: STRANGER, storageKeys: [] },
  ]
  const odd = { input: `0x},{"hash":`.replaceAll('"', '') }
  const text = answerOf([written(0), written(1, { accessList }), written(2, odd)], [], [written(3, { to: null })])
  assert.deepEqual(leftOf(text), [])
  assert.ok(trimmed(text).length < text.length / 2)
  assert.equal(trimmed(answerOf([])), answerOf([]))
})

test('a transaction that names one of our addresses in any way is left as it is', () => {
  const shouted = `0x${WALLET.slice(2).toUpperCase()}`
  const ways = [
    written(1, { to: WALLET }),
    written(2, { from: WALLET }),
    written(3, { to: shouted }),
    written(4, { accessList: [{ address: OURS[1], storageKeys: [] }] }),
    // Of a name given twice, JSON.parse reads the last.
    written(5).replace('"to":', `"to":"${STRANGER}","to":"${WALLET}","from":`),
    written(6).replace('}', `,"to":"${WALLET}"}`),
    written(7).replace('}', `, "from" :\n"${WALLET}" }`),
    // Their own fields may be named as they like; only from and to count, but the bytes do not say which those are.
    written(8, { extra: { to: WALLET } }),
  ]
  const text = answerOf([written(0), ...ways, written(9)])
  assert.deepEqual(
    leftOf(text),
    ways.map((way) => JSON.parse(way)),
  )
})

test('where anything is escaped, nothing is cut', () => {
  const escaped = written(1, { to: WALLET }).replace(WALLET, `\\u0030${WALLET.slice(1)}`)
  assert.equal((JSON.parse(escaped) as { to: string }).to, WALLET)
  const text = answerOf([written(0), escaped, written(2).replace('"to"', '"\\u0074o"')])
  assert.equal(trimmed(text), text)
})

test('what carries authorizations, or has no hash of its own in so many words, is left as it is', () => {
  const ways = [
    written(1, { type: '0x4', authorizationList: [{ address: STRANGER, nonce: '0x1' }] }),
    written(2, { authorizationList: 'none' }),
    written(3, { hash: undefined }),
    written(4, { hash: '0x1' }),
    written(5, { hash: null, extra: { hash: hashOf(6) } }),
    written(6).replace('}', `,"hash":"${hashOf(7)}"}`),
    written(7).replace('"hash":', '"hash" : '),
    written(8, { hash: undefined, extra: ['hash', hashOf(8)] }),
    written(9, { hash: undefined, extra: { hash: hashOf(9) } }),
    written(10, { hash: undefined }).replace('{', `{"input":"hash","${hashOf(10)}":"0x1",`),
  ]
  assert.deepEqual(
    leftOf(answerOf(ways)),
    ways.map((way) => JSON.parse(way)),
  )
})

test('entries that are no transactions, and lists with spaces, are left as they are', () => {
  for (const list of [[`"${hashOf(1)}"`, written(2)], ['null'], [` ${written(1)}`], ['[{}]'], ['{}', '1']])
    assert.equal(trimmed(answerOf(list)), answerOf(list), String(list))
  const spaced = JSON.stringify(JSON.parse(answerOf([written(1), written(2)])), null, 1)
  assert.equal(trimmed(spaced), spaced)
})

test('an answer that was cut off is no JSON afterwards, wherever it ends', () => {
  const text = answerOf([written(0), written(1, { to: WALLET })], [written(2, { accessList: [{ storageKeys: [] }] })])
  for (let end = 0; end < text.length; end++) assert.throws(() => JSON.parse(trimmed(text.slice(0, end))), SyntaxError)
})

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(() => stage.close())

test('a range is read as its blocks one by one, of which no transaction is cut', async () => {
  const { number: before } = await stage.head()
  const signer = privateKeyToAccount(stage.keyOf(1))
  const carrier = privateKeyToAccount(stage.keyOf(8))
  const authorization = await signer.signAuthorization({ address: stage.at(9), chainId: stage.chain.chainId, nonce: 7 })
  const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n }
  const raw = await carrier.signTransaction({
    ...{ ...fees, type: 'eip7702', chainId: stage.chain.chainId, nonce: 0, gas: 200_000n, to: stage.at(9) },
    authorizationList: [authorization],
  })
  for (let block = 0; block < FEE_BLOCKS + 8; block++) {
    await stage.act(6, 'transferFrom', [stage.at(6), stage.at(7), 1n], stage.at(7))
    if (block % 3 === 0) await stage.pay(5, BigInt(block))
    if (block % 4 === 0) await stage.act(0, block % 8 === 0 ? 'pause' : 'unpause', [])
    if (block === 2) await stage.rpc.request('eth_sendRawTransaction', [raw])
    await stage.chain.mine()
  }
  const reader = createChainReader(stage.rpc, stage.watched)
  const { number: head, hash } = await stage.head()
  const whole = await reader.observe(before + 1, head, null)
  const singles = []
  let parent: Hash | null = null
  for (let number = before + 1; number <= head; number++) {
    const single = await reader.observe(number, number, parent)
    parent = single.blocks[0]?.hash ?? null
    singles.push(single)
  }
  assert.equal(whole.blocks.at(-1)?.hash, hash)
  assert.ok(whole.transfers.length > 5 && whole.events.length > 2 && whole.sent.length > 0)
  assert.equal(whole.authorizations.length, 1)
  for (const part of ['blocks', 'transfers', 'outflows', 'sent', 'authorizations', 'events'] as const)
    assert.deepEqual(
      whole[part],
      singles.flatMap((single) => single[part] as unknown[]),
    )
})
