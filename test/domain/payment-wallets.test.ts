// The blocks in which a payments wallet is watched, and which addresses cannot be one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import {
  hotKeysOf,
  isWatched,
  type PaymentWallet,
  refuseWallet,
  type WalletFacts,
} from '../../src/domain/payment-wallets.ts'
import { type Address, address, ZERO_ADDRESS } from '../../src/domain/units.ts'

const wallet = (n: number, fields: Partial<PaymentWallet> = {}): PaymentWallet => ({
  wallet: address(`0x${String(n).repeat(40)}`),
  watchedFrom: 0,
  closedBlock: null,
  fromBlock: 0,
  fromTime: 0,
  stolen: false,
  graceSec: 900,
  ...fields,
})

test('a wallet is watched from its first block to the one that closes it', () => {
  const closing = wallet(1, { watchedFrom: 10, closedBlock: 20 })
  const blocks = [9, 10, 11, 19, 20, 21]
  assert.deepEqual(
    blocks.map((block) => isWatched(closing, block)),
    [false, true, true, true, true, false],
  )
  assert.equal(isWatched({ ...closing, closedBlock: null }, 21), true)
})

const SOUND: WalletFacts = {
  ...{ factory: wallet(9).wallet, chainId: 1, hotKeys: [], hasCode: false, isTraceable: false },
}
const KNOWN = address((DEVELOPMENT_ACCOUNTS[3] ?? assert.fail()).address)
const hotKeys = hotKeysOf(
  { minter: wallet(5).wallet, distributor: null },
  { minter: wallet(6).wallet, distributor: wallet(7).wallet },
)
const HOT = 'own account, whose key is on a server and which pays for gas'

test('the accounts on servers are those of each role from each source', () => {
  assert.deepEqual(hotKeys, [
    { role: 'minter', address: wallet(5).wallet },
    { role: 'distributor', address: null },
    { role: 'minter', address: wallet(6).wallet },
    { role: 'distributor', address: wallet(7).wallet },
  ])
})

const OBJECTIONS: [string, Address, Partial<WalletFacts>, problem: string | null][] = [
  ['an account without code', wallet(8).wallet, { hotKeys }, null],
  ['the zero address', ZERO_ADDRESS, {}, 'is the zero address'],
  ['the factory', wallet(9).wallet, {}, 'is the factory itself'],
  ['the minter', wallet(6).wallet, { hotKeys }, `is the minter's ${HOT}`],
  ['the distributor', wallet(7).wallet, { hotKeys }, `is the distributor's ${HOT}`],
  ['an account whose key everybody knows', KNOWN, {}, 'is a development account, whose key is public'],
  ['the same on a development chain', KNOWN, { chainId: 31_337 }, null],
  ['a contract whose calls are seen', wallet(8).wallet, { hasCode: true, isTraceable: true }, null],
  [
    'a contract whose calls are not seen',
    wallet(8).wallet,
    { hasCode: true },
    'has code, and the provider cannot trace what that code sends',
  ],
]
for (const [what, of, facts, problem] of OBJECTIONS)
  test(`a payments wallet: ${what} is ${problem === null ? 'taken' : 'refused'}`, () => {
    const refusal = refuseWallet(of, { ...SOUND, ...facts })
    assert.equal(refusal?.problem ?? null, problem && `${of} ${problem}`)
    const remedy = facts.hasCode
      ? 'Choose a wallet without code, or use providers that support debug_traceBlockByHash: two, if you have several.'
      : 'Choose a wallet of your own that accepts plain transfers and whose key no server holds.'
    if (problem !== null) assert.equal(refusal?.remedy, remedy)
  })
