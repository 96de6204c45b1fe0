// The accounts of development chains are those of their published phrase, and no others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HDNodeWallet } from 'ethers'
import {
  DEVELOPMENT_ACCOUNTS,
  DEVELOPMENT_CHAINS,
  developmentAccount,
  isDevelopmentAccount,
} from '../../src/domain/development.ts'

const PHRASE = `${'test '.repeat(11)}junk`
const parent = HDNodeWallet.fromPhrase(PHRASE, '', "m/44'/60'/0'/0")
const derived = (index: number) => {
  const { address, privateKey } = parent.deriveChild(index)
  return { address, privateKey }
}

test('the accounts are the first twenty of the phrase, in order', () => {
  const expected = Array.from({ length: 20 }, (_, index) => derived(index))
  assert.deepEqual(DEVELOPMENT_ACCOUNTS, expected)
  assert.deepEqual(
    expected.map((_, index) => developmentAccount(index)),
    expected,
  )
})

test('there is no account outside the twenty', () => {
  for (const index of [-1, 20, 0.5])
    assert.throws(() => developmentAccount(index), {
      name: 'RangeError',
      message: `A development chain has no account ${index}.`,
    })
})

test('an account is recognised in any spelling, and only one of the twenty is', () => {
  for (const { address } of DEVELOPMENT_ACCOUNTS)
    for (const spelt of [address, address.toLowerCase(), address.toUpperCase()])
      assert.equal(isDevelopmentAccount(spelt), true, spelt)
  for (const other of [derived(20).address, '', `0x${'0'.repeat(40)}`]) assert.equal(isDevelopmentAccount(other), false)
})

test('the development chains are those of ganache and of anvil', () =>
  assert.deepEqual(DEVELOPMENT_CHAINS, [1_337, 31_337]))
