// Authorizations of EIP-7702 in blocks: anybody can sign thousands of them with any nonce, and a few may be ours.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { privateKeyToAccount } from 'viem/accounts'
import { type Carrier, readAuthorizations } from '../../src/chain/evidence/authorizations.ts'
import { RangeRefused } from '../../src/chain/evidence/logs/block-logs.ts'
import type { RpcReads } from '../../src/chain/rpc/rpc.ts'
import type { WireTransaction } from '../../src/chain/rpc/wire.ts'
import type { Watching } from '../../src/domain/observed.ts'
import { type Address, type Hash, ZERO_ADDRESS } from '../../src/domain/units.ts'

const [ours, stranger] = ['1', '2'].map((digit) => privateKeyToAccount(`0x${digit.repeat(64)}`)) as [Account, Account]
type Account = ReturnType<typeof privateKeyToAccount>
const self = ours.address.toLowerCase() as Address
const rpc = { request: async () => '0x1' } as unknown as RpcReads

/** An authorization as nodes show it. */
async function entry(by: Account, nonce: number, chainId = 1) {
  const { r, s, yParity } = await by.signAuthorization({ address: ZERO_ADDRESS, chainId, nonce })
  const hex = (value: number | undefined) => `0x${Number(value).toString(16)}`
  return { chainId: hex(chainId), address: ZERO_ADDRESS, nonce: hex(nonce), r, s, yParity: hex(yParity) }
}
const carrier = (blockNumber: number, raw: readonly unknown[]): Carrier => {
  const [blockHash, txHash] = [blockNumber, blockNumber + 1].map((n) => `0x${String(n).padStart(64, '0')}` as Hash)
  return { at: { blockNumber, blockHash: blockHash as Hash, blockTime: 0, txHash: txHash as Hash, txIndex: 0 }, raw }
}
/** The nonces of the authorizations that are found, and how often the event loop turned meanwhile. */
async function found(carriers: readonly Carrier[], nonces: Watching['nonces'], sentNonces: readonly number[] = []) {
  const transactions = sentNonces.map((nonce) => ({ from: self, nonce })) as WireTransaction[]
  let turns = 0
  const ticking = setInterval(() => turns++, 1)
  const read = await readAuthorizations(rpc, { signers: [self], nonces }, { carriers, transactions })
  clearInterval(ticking)
  assert.ok(read.every(({ sender }) => sender === self))
  return { nonces: read.map(({ nonce }) => nonce), turns }
}

const MANY = 300
let strangers: unknown[]
before(async () => {
  const one = await entry(stranger, 7)
  strangers = Array.from({ length: MANY }, () => one)
})

test('strangers’ many authorizations with our nonce do not block the event loop or hide ours', async () => {
  const { nonces, turns } = await found([carrier(1, [...strangers, await entry(ours, 7)])], { [self]: 7 })
  assert.deepEqual(nonces, [7])
  assert.ok(turns > MANY / 20, `${turns} turns`)
})

test('until the ledger knows an account, only authorizations after its first transaction count', async () => {
  const raw = [await entry(ours, 7), await entry(ours, 9)]
  for (const [known, sent, expected] of [
    [null, [], []],
    [null, [9, 8], [9]],
    [8, [], [9]],
    [undefined, [], [7, 9]],
  ] as const)
    assert.deepEqual((await found([carrier(1, raw)], { [self]: known as number }, sent)).nonces, expected)
})

test('an authorization for any chain counts like one for ours, one for another chain does not', async () => {
  const raw = [await entry(ours, 7, 0), await entry(ours, 8, 1), await entry(ours, 9, 2)]
  assert.deepEqual((await found([carrier(1, raw)], { [self]: 7 })).nonces, [7, 8])
})

test('a range with too many candidates is refused until it is a single block', async () => {
  const full = Array.from({ length: 1_001 }, () => strangers[0])
  const reading = found([carrier(1, full), carrier(2, full)], { [self]: 7 })
  await assert.rejects(reading, RangeRefused)
})

test('strangers’ authorizations of any form stop nothing, and ours is found by either parity', async () => {
  const { yParity: v, ...others } = await entry(ours, 7)
  const odd = [
    null,
    7,
    'x',
    [],
    {},
    { ...others, r: 7, v },
    { ...others, chainId: '0xzz' },
    others,
    { ...others, v: '0x' },
  ]
  assert.deepEqual((await found([carrier(1, [...odd, { ...others, v }])], { [self]: 7 })).nonces, [7])
})
