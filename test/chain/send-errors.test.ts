// The meaning of each client's error texts. If a text is not listed, its meaning is unknown: the node may have accepted the transaction.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { classifyEstimateError, classifySendError } from '../../src/chain/send/send-errors.ts'
import '../support/property.ts'

const WORDS: Record<string, string[]> = {
  accepted: [
    'already known',
    'AlreadyKnown',
    'Known transaction',
    'known transaction: 0xabc',
    'already imported',
    'transaction already imported',
    'existing txn with same hash',
    'existing tx with same hash',
    'Transaction with the same hash was already imported.',
  ],
  nonceTooLow: [
    'nonce too low: next nonce 7, tx nonce 6',
    'OldNonce, Current nonce: 7',
    'Transaction nonce is too low.',
  ],
  underpriced: [
    'replacement transaction underpriced',
    'could not replace existing tx',
    'insufficient gas price to replace existing transaction',
    'ReplacementNotAllowed',
    'OwnNonceAlreadyUsed',
  ],
  feeTooLow: [
    'transaction underpriced: tip needed 1',
    'underpriced',
    'fee too low',
    'FeeTooLowToCompete',
    'max fee per gas less than block base fee: address 0x00',
    'Gas price below configured minimum gas price',
    'gas price below current base fee',
  ],
  insufficientFunds: [
    'insufficient funds for gas * price + value: balance 1',
    'InsufficientFunds, Account balance: 1',
    'Upfront cost exceeds account balance',
  ],
  overGasCap: [
    'transaction gas limit too high (cap: 16777216)',
    'exceeds block gas limit',
    'gas limit is too high',
    'gas limit reached',
    'GasLimitExceeded, Gas limit: 1',
    'TxGasLimitCapExceeded',
    'Transaction gas limit exceeds block gas limit',
    'transaction gas limit is greater than the cap',
    'intrinsic gas too high -- CallerGasLimitMoreThanBlock',
    'intrinsic gas too high -- tx.gas_limit > env.block.gas_limit',
  ],
}
const said = (message: string, code = -32000) => ({ code, message, data: null })

for (const [kind, texts] of Object.entries(WORDS)) {
  test(`${kind}: in every client's words, behind a name, in any case`, () => {
    for (const text of texts) {
      for (const spelling of [text, text.toUpperCase(), `  ${text} `, `INTERNAL_ERROR: ${text}`, `A: ${text}`])
        assert.equal(classifySendError(said(spelling)), kind, spelling)
      // Inside another text it may mean anything.
      assert.equal(classifySendError(said(`some client says ${text}`)), 'unknown', text)
      assert.equal(classifySendError(said(`one two: ${text}`)), 'unknown', text)
      // A name counts only at the start.
      assert.equal(classifySendError(said(`${text.slice(0, 3)}a: ${text.slice(3)}`)), 'unknown', text)
    }
  })
}

test('a code that means one thing to everybody goes before the text; others mean nothing', () => {
  assert.equal(classifySendError(said('', -38010)), 'nonceTooLow')
  assert.equal(classifySendError(said('', -38012)), 'feeTooLow')
  assert.equal(classifySendError(said('already known', -38014)), 'insufficientFunds')
  for (const code of [-32000, -32001, -32004, -32010, -38011, -38013, 0, 3])
    assert.equal(classifySendError(said('', code)), 'unknown')
})

test('a busy provider gives no answer, unless it names a gas limit', () => {
  for (const message of ['nonce too low', 'already known', 'rate limited']) {
    for (const code of [429, -32005, -32007]) assert.equal(classifySendError(said(message, code)), 'unknown', message)
  }
  assert.equal(classifySendError(said('nonce too low, rate limit exceeded')), 'unknown')
  assert.equal(classifySendError(said('Transaction gas limit exceeds block gas limit', -32005)), 'overGasCap')
})

test('an unlisted text has no meaning', () => {
  const beginnings = Object.values(WORDS).flat()
  const word = fc.string({ maxLength: 30 })
  fc.assert(
    fc.property(word, (text) => {
      fc.pre(!beginnings.some((known) => text.toLowerCase().includes(known.toLowerCase().slice(0, 8))))
      assert.equal(classifySendError(said(text)), 'unknown')
    }),
  )
})

test('of an estimate that failed, two things are learnt: no funds, or too much gas', () => {
  const cases: [string, string | null][] = [
    ['insufficient funds for transfer', 'insufficientFunds'],
    ['exceeds block gas limit', 'overGasCap'],
    ['gas required exceeds allowance (16777216)', 'overGasCap'],
    ['  Out of gas: gas required exceeds block gas limit', 'overGasCap'],
    ['intrinsic gas too high', 'overGasCap'],
    ['nonce too low', null],
    ['header not found', null],
    ['', null],
    ['why: gas required exceeds allowance', null],
  ]
  for (const [message, expected] of cases) assert.equal(classifyEstimateError(said(message)), expected, message)
})
