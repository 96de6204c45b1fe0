// Codes in calldata, as ERC-8021 has them: read from the end, within bounds, or not at all. Compared with the `ox` library.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { Attribution } from 'ox/erc8021'
import { referralSuffix } from '../../../client/src/viem/referral.ts'
import { codesIn } from '../../../src/domain/payers/referrals.ts'

const MARKER = '8021'.repeat(8)
const hexOf = (text: string) => Buffer.from(text, 'latin1').toString('hex')
/** Calldata that ends in a suffix, with any length byte and schema. */
const endingIn = (codes: string, { before = '', length = codes.length, schema = '00' } = {}) =>
  `0x${before}${hexOf(codes)}${length.toString(16).padStart(2, '0')}${schema}${MARKER}`
const small = (code: string) => code.toLowerCase()

test('any calldata is read without a fault, and as another library reads it within our bounds', () => {
  const suffix = fc.record({
    before: fc.uint8Array({ maxLength: 300 }),
    codes: fc.array(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 6 }),
    length: fc.option(fc.nat(255), { nil: undefined }),
    schema: fc.constantFrom('00', '00', '00', '01', '02', 'ff'),
  })
  fc.assert(
    fc.property(suffix, ({ before, codes, length, schema }) => {
      const text = codes.join()
      const calldata = endingIn(text, {
        before: Buffer.from(before).toString('hex'),
        length: length ?? Math.min(text.length, 255),
        schema,
      }) as `0x${string}`
      const read = codesIn(calldata)
      if (read.length > 0) assert.deepEqual(read, Attribution.fromData(calldata)?.codes?.map(small))
      const isOurs = schema === '00' && length === undefined && text.length <= 255
      if (isOurs && codes.every((code) => /^[!-+\--~]+$/.test(code))) assert.deepEqual(read, codes.map(small))
    }),
  )
  fc.assert(fc.property(fc.uint8Array(), (bytes) => codesIn(`0x${Buffer.from(bytes).toString('hex')}`).length === 0))
})

test('what the client encodes is what the library encodes, and what we read', () => {
  for (const code of ['a', 'friends', 'x_1-y', 'z'.repeat(32)]) {
    assert.equal(referralSuffix(code), Attribution.toDataSuffix({ codes: [code] }))
    assert.deepEqual(codesIn(`0x${randomBytes(4).toString('hex')}${referralSuffix(code).slice(2)}`), [code])
  }
  assert.equal(referralSuffix('Friends'), referralSuffix('friends'))
  for (const code of ['', 'a,b', 'z'.repeat(33), 'a b']) assert.throws(() => referralSuffix(code), TypeError)
})
