// Transactions are encoded as the kept library encodes them, and their senders are those who signed: whatever a provider says instead shows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { createTx, type TransactionType } from '@ethereumjs/tx'
import fc from 'fast-check'
import { type Hex, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Fields } from '../../../src/chain/prove/items.ts'
import { encodeTransaction, isUnsigned, proveSender, proveTransaction } from '../../../src/chain/prove/transaction.ts'
import { cases } from '../../support/property.ts'
import { block } from './published.ts'

// Blobs are not looked at: a transaction in a block has none.
const customCrypto = { kzg: {} as never }
const prague = new Common({ chain: Mainnet, hardfork: Hardfork.Prague, customCrypto })
const beforeChainIds = new Common({ chain: Mainnet, hardfork: Hardfork.TangerineWhistle })
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((value) => toHex(value))
const quantity = (bits: bigint) => fc.bigInt({ min: 0n, max: 2n ** bits - 1n }).map((value) => toHex(value))
const accessList = fc.array(fc.record({ address: bytes(20), storageKeys: fc.array(bytes(32), { maxLength: 3 }) }), {
  maxLength: 3,
})
const authorization = fc.record({
  chainId: fc.constantFrom('0x0', '0x1'),
  address: bytes(20),
  nonce: quantity(63n),
  yParity: fc.constantFrom('0x0', '0x1'),
  r: quantity(255n),
  s: quantity(254n),
})

/** Fields of a transaction as a node answers them, without a signature. */
const given = fc.record({
  type: fc.integer({ min: 0, max: 4 }),
  hasChain: fc.boolean(),
  to: fc.option(bytes(20), { nil: null }),
  nonce: quantity(63n),
  gas: fc.bigInt({ min: 21_000_000n, max: 2n ** 40n }).map((value) => toHex(value)),
  value: quantity(256n),
  input: fc.uint8Array({ maxLength: 200 }).map((value) => toHex(value)),
  tip: quantity(80n),
  price: quantity(100n),
  accessList,
  hashes: fc.array(bytes(31), { minLength: 1, maxLength: 3 }),
  authorizationList: fc.array(authorization, { minLength: 1, maxLength: 3 }),
  key: bytes(32).filter((key) => BigInt(key) > 0n && BigInt(key) < ORDER),
})
type Given = typeof given extends fc.Arbitrary<infer T> ? T : never

function rpcFields({ type, to, nonce, gas, value, input, tip, price, ...more }: Given): Fields {
  const cap = toHex(BigInt(price) + BigInt(tip))
  return {
    type: toHex(type),
    nonce,
    gas,
    value,
    input,
    chainId: '0x1',
    to: type >= 3 ? (to ?? `0x${'11'.repeat(20)}`) : to,
    ...(type < 2 ? { gasPrice: cap } : { maxFeePerGas: cap, maxPriorityFeePerGas: tip, gasPrice: tip }),
    ...(type > 0 ? { accessList: more.accessList } : {}),
    ...(type === 3
      ? { maxFeePerBlobGas: price, blobVersionedHashes: more.hashes.map((each) => `0x01${each.slice(2)}`) }
      : {}),
    ...(type === 4 ? { authorizationList: more.authorizationList } : {}),
  }
}

/** The same transaction, signed by the library. */
function signed(given: Given) {
  const { gas, input, type, accessList: list, authorizationList, gasPrice, ...more } = rpcFields(given)
  const data = {
    ...more,
    type: Number(type),
    gasLimit: gas,
    data: input,
    accessList: list,
    authorizationList,
    ...(Number(type) < 2 ? { gasPrice } : {}),
  }
  const common = Number(type) === 0 && !given.hasChain ? beforeChainIds : prague
  const tx = createTx(data as Parameters<typeof createTx>[0], { common, allowUnlimitedInitCodeSize: true })
  return tx.sign(Buffer.from(given.key.slice(2), 'hex'))
}

test('every type is encoded, hashed and signed as by the kept library', async () => {
  const isSame = async (given: Given) => {
    const tx = signed(given)
    const { v, r, s } = tx as unknown as { v: bigint; r: bigint; s: bigint }
    const from = privateKeyToAccount(given.key as Hex).address
    const answer: Fields = {
      ...rpcFields(given),
      hash: toHex(tx.hash()),
      from,
      v: toHex(v),
      r: toHex(r),
      s: toHex(s),
      ...(given.type > 0 ? { yParity: toHex(v) } : {}),
    }
    const ours = encodeTransaction(answer)
    assert.equal('bytes' in ours && toHex(ours.bytes), toHex(tx.serialize()))
    assert.equal(proveTransaction(answer).kind, 'proven')
    assert.equal((await proveSender(answer)).kind, 'proven')
    assert.equal((await proveSender({ ...answer, from: `0x${'12'.repeat(20)}` })).kind, 'contradicted')
    assert.equal(tx.type, given.type as TransactionType)
  }
  await fc.assert(fc.asyncProperty(given, isSame), { numRuns: cases(60) })
})

const legacyOf = () =>
  (block('ethereum-14151203').block.transactions ?? []).find(({ type }) => type === '0x0') as Fields
const marketOf = () =>
  (block('ethereum-14151203').block.transactions ?? []).find(({ type }) => type === '0x2') as Fields

test('the parity of a signature is read in each form that nodes answer it in', async () => {
  const market = marketOf()
  const parity = BigInt(String(market.v))
  for (const form of [
    { v: toHex(parity + 27n) },
    { v: toHex(parity), yParity: null },
    { v: '0x7', yParity: toHex(parity) },
  ])
    assert.equal((await proveSender({ ...market, ...form })).kind, 'proven')
  const legacy = legacyOf()
  const v = BigInt(String(legacy.v))
  const bare = { ...legacy, v: toHex((v - 35n) % 2n), chainId: '0x1' }
  assert.deepEqual([(await proveSender(bare)).kind, proveTransaction(bare).kind], ['proven', 'proven'])
})

test('each field that a provider changes shows in the hash, and who signs in the sender', async () => {
  const market = marketOf()
  const changes = {
    to: `0x${'22'.repeat(20)}`,
    value: '0x1',
    nonce: '0x1',
    input: '0xff',
    maxFeePerGas: '0x1',
    chainId: '0x2',
  }
  for (const [name, value] of Object.entries(changes)) {
    const changed = { ...market, [name]: value }
    assert.equal(proveTransaction(changed).kind, 'contradicted', name)
    assert.equal((await proveSender(changed)).kind, 'contradicted', name)
  }
  assert.equal(proveTransaction({ ...market, hash: `0x${'00'.repeat(32)}` }).kind, 'contradicted')
})

test('a signature with a large s, or none at all, proves no sender', async () => {
  const market = marketOf()
  const large = toHex(ORDER - BigInt(String(market.s)))
  const mirrored = { ...market, s: large, yParity: BigInt(String(market.yParity ?? market.v)) === 0n ? '0x1' : '0x0' }
  for (const bad of [
    mirrored,
    { ...market, r: '0x0', s: '0x0' },
    { ...market, r: toHex(ORDER) },
    { ...market, s: undefined },
  ])
    assert.equal((await proveSender(bad)).kind, 'unprovable')
})

test('a signature that no key can have made proves no sender, whichever one is named', async () => {
  const market = marketOf()
  let impossible = 0
  for (let r = 1n; r < 20n; r++)
    for (const from of ['0x', '', market.from]) {
      const verdict = await proveSender({ ...market, r: toHex(r), from })
      assert.notEqual(verdict.kind, 'proven')
      if (verdict.kind === 'contradicted' && verdict.computed === 'nobody') impossible++
    }
  assert.ok(impossible > 0)
})

test('what begins with 0X is no hash and no sender', async () => {
  const market = marketOf()
  const capital = (value: unknown) => String(value).toUpperCase()
  assert.equal(proveTransaction({ ...market, hash: capital(market.hash) }).kind, 'unprovable')
  assert.equal((await proveSender({ ...market, from: capital(market.from) })).kind, 'unprovable')
})

test('a type that nobody signs, or that is not known, has no sender that is proven', async () => {
  const market = marketOf()
  for (const type of ['0x7e', '0x64', '0x69', '0x71', '0xff', '0x7f'])
    assert.equal((await proveSender({ ...market, type })).kind, 'unprovable', type)
  assert.deepEqual(
    ['0x7e', '0x68', '0x7b', '0x71', '0x2'].map((type) => isUnsigned({ ...market, type })),
    [true, true, false, false, false],
  )
  assert.ok(isUnsigned({ type: '0x0', v: '0x0', r: '0x0', s: '0x0' }))
})

test('what is malformed is unprovable, and never ends a run', async () => {
  for (const value of [1, 'x', '0xzz', {}, `0x${'9'.repeat(91)}`])
    for (const name of ['nonce', 'to', 'value', 'input', 'r', 'accessList', 'type', 'yParity']) {
      const odd = { ...marketOf(), [name]: value }
      assert.equal(proveTransaction(odd).kind, 'unprovable', `${name} ${String(value)}`)
      assert.notEqual((await proveSender(odd)).kind, 'proven', `${name} ${String(value)}`)
    }
  for (const nothing of [null, undefined, 1, 'x', []]) {
    assert.equal(proveTransaction(nothing).kind, 'unprovable')
    assert.equal((await proveSender(nothing)).kind, 'unprovable')
  }
})
