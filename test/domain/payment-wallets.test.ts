// The payments wallet in force, and old ones: by block and time, and by the order of entry if these are equal.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import {
  hotKeysOf,
  isOldWallet,
  isWatched,
  type PaymentWallet,
  refuseWallet,
  type WalletFacts,
  walletAt,
} from '../../src/domain/payment-wallets.ts'
import { type Address, address, ZERO_ADDRESS } from '../../src/domain/units.ts'

const GRACE_SEC = 900
const wallet = (n: number, fields: Partial<PaymentWallet> = {}): PaymentWallet => ({
  wallet: address(`0x${String(n).repeat(40)}`),
  watchedFrom: 0,
  closedBlock: null,
  fromBlock: 0,
  fromTime: 0,
  stolen: false,
  graceSec: GRACE_SEC,
  ...fields,
})
const later = { fromBlock: 100, fromTime: 1_000 }
const holdsAt = (wallets: readonly PaymentWallet[], number: number, time: number) =>
  walletAt(wallets, { number, time })?.wallet[2] ?? null

test('a wallet holds from its block and its time on, whichever comes last', () => {
  const wallets = [wallet(1), wallet(2, later)]
  assert.deepEqual(
    [holdsAt(wallets, 100, 999), holdsAt(wallets, 99, 1_000), holdsAt(wallets, 100, 1_000), holdsAt([], 5, 5)],
    ['1', '1', '2', null],
  )
})

test('of two wallets with one first block, the later entry is in force, and the other is old', () => {
  const wallets = [wallet(1), wallet(2, later), wallet(3, later)]
  assert.equal(holdsAt(wallets, 100, 1_000), '3')
  const isOld = (n: number, time: number) => isOldWallet(wallets, wallet(n).wallet, { number: 100, time })
  assert.deepEqual(
    [1, 2, 3].map((n) => [isOld(n, 1_000), isOld(n, 1_000 + GRACE_SEC)]),
    [
      [false, true],
      [false, true],
      [false, false],
    ],
  )
  assert.equal(isOld(4, 1_000), true, 'one that the ledger does not know')
})

test('a wallet entered for an earlier time than the one before it holds from then on', () => {
  const wallets = [wallet(1), wallet(2, later), wallet(3, { fromBlock: 50, fromTime: 500, stolen: true })]
  assert.deepEqual(
    [holdsAt(wallets, 49, 499), holdsAt(wallets, 50, 500), holdsAt(wallets, 100, 1_000)],
    ['1', '3', '3'],
  )
  assert.equal(isOldWallet(wallets, wallet(1).wallet, { number: 50, time: 500 }), true)
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
