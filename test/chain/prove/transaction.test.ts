// Transactions and their signers beside the second reading, one difference at a time: every type with each field that nodes omit or rename,
// and signatures at the bounds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashOf, type Wire } from '../../models/proofs/items.ts'
import { formOf, isOfUnsignedType, rootOf, TYPES, transactionBytes } from '../../models/proofs/lists.ts'
import { randomBelow } from '../../support/property.ts'
import { objectBy } from '../fuzz/mutate.ts'
import { block } from './published.ts'
import { compareTransaction, compareTransactions } from './told.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const word = (value: bigint | number) => `0x${value.toString(16)}`

/** The transaction with the hash that it has by the second reading. */
function hashed(tx: Wire): Wire {
  const bytes = transactionBytes(tx)
  return { ...tx, hash: bytes && hashOf(bytes) }
}

/** A transaction of a type, whose signature no key has made. */
const ofType = (type: number): Wire => ({
  ...{ from: `0x${'12'.repeat(20)}`, type: word(type), ...objectBy(randomBelow(type), formOf(type)) },
  ...(isOfUnsignedType({ type }) ? {} : { r: '0x7', s: '0x9', [type === 0 ? 'v' : 'yParity']: '0x1b' }),
})

const DATA = [null, undefined, '0x', '0x07', '0x7', 7]
const PLACE = [null, undefined, '0x', `0x${'34'.repeat(20)}`]
const LIST = [null, undefined, [], [null], {}, [[]]]
const AUTHORIZATION = { chainId: '0x1', address: PLACE[3], nonce: '0x0', yParity: '0x1', r: '0x7', s: '0x9' }
const NUMBER = [null, undefined, '0x', '0x0', '0x00', '0x7', `0x${'f'.repeat(64)}`, `0x1${'0'.repeat(64)}`, 7]
const AUTHORIZATIONS = [
  ...LIST,
  ...Object.keys(AUTHORIZATION).flatMap((name) =>
    PLACE.map((form) => [AUTHORIZATION, { ...AUTHORIZATION, [name]: form }]),
  ),
  [{ ...AUTHORIZATION, yParity: null, v: '0x0' }],
]
/** The forms of fields that are optional, or that have more than one name. */
const FORMS: Readonly<Record<string, readonly unknown[]>> = {
  ...{ input: DATA, data: DATA, to: PLACE, feeCurrency: PLACE, retryTo: PLACE, accessList: LIST },
  ...{ authorizationList: AUTHORIZATIONS, blobVersionedHashes: LIST, mint: NUMBER, value: NUMBER, chainId: NUMBER },
  ...{ maxFeePerGas: NUMBER, gasPrice: NUMBER, isSystemTx: [true, false, null, 'true', 1, '0x1'] },
}

/** The transaction with each of its fields in each form. A field that stands in for another is there while the other is missing. */
function* inEachForm(whole: Wire): Generator<Wire> {
  for (const [name, forms] of Object.entries(FORMS)) {
    const other = { data: 'input', gasPrice: 'maxFeePerGas' }[name] ?? name
    if (!(name in whole) && !(other in whole)) continue
    for (const form of forms) yield { ...whole, ...(other in whole ? { [other]: null } : {}), [name]: form }
  }
}

test('a transaction of each type is proven with each field that nodes omit or rename', async () => {
  let provenCount = 0
  for (const type of TYPES)
    for (const tx of inEachForm(ofType(type)))
      if ((await compareTransaction(hashed(tx))).hash === 'proven') provenCount++
  assert.ok(provenCount > 200, `${provenCount}`)
})

/** A legacy transaction without the chain's id, one with it, and one of a type. */
const SIGNED = [
  (block('ethereum-1000000').block.transactions ?? []).find(({ v }) => v === '0x1b' || v === '0x1c'),
  (block('ethereum-14151203').block.transactions ?? []).find(({ type }) => type === '0x0'),
  (block('ethereum-14151203').block.transactions ?? []).find(({ type }) => type === '0x2'),
]

test('a signature is proven at each bound of its numbers and in each form of its parity', async () => {
  const bounds = [0n, 1n, ORDER / 2n, ORDER / 2n + 1n, ORDER - 1n, ORDER, 2n ** 256n - 1n].map(word)
  const zeros = ['0x', '0x00', null, undefined, 7]
  const parities = [0, 1, 2, 26, 27, 28, 29, 34, 35, 36, 37, 38].map(word)
  const kinds = new Set<string>()
  for (const tx of SIGNED as Wire[]) {
    const { v, yParity, ...rest } = tx
    const forms: Wire[] = [
      ...[...bounds, ...zeros].flatMap((form) => [{ r: form }, { s: form }, { r: form, s: form }]),
      ...parities.flatMap((parity) => [{ v: parity }, { yParity: parity }, { yParity: parity, v: word(99) }]),
      ...['0x0', '0x1', '0x5', 'x'].flatMap((chainId) => [
        { v: '0x0', chainId },
        { v: '0x1', chainId },
        { v, chainId },
      ]),
      ...[
        { v: '0x1', chainId: null },
        { v: '0x0', r: '0x0', s: '0x0' },
        { v: '0x1', r: '0x0', s: '0x0', chainId: '0x5' },
      ],
    ]
    for (const form of forms)
      kinds.add(
        (await compareTransaction(hashed({ ...('v' in form || 'yParity' in form ? rest : tx), ...form }))).sender,
      )
    await compareTransaction({ ...tx, from: tx.hash })
  }
  assert.deepEqual([...kinds].sort(), ['contradicted', 'proven', 'unprovable'])
})

test('a type that we know is never taken from bytes that the provider gives', async () => {
  for (const first of [null, 0, ...TYPES.flatMap((type) => [type - 1, type, type + 1]), 0x7f, 0x80, 0xc0, 0xff]) {
    const bytes = first === null ? new Uint8Array() : Uint8Array.of(Math.max(0, first), 7)
    for (const tx of [{ type: '0x55' }, { type: '0x80' }, { type: word(Math.max(0, first ?? 0)) }, {}])
      await compareTransactions({ transactions: [tx], transactionsRoot: await rootOf([bytes]) }, () => bytes)
  }
})
