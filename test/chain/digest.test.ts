// The draw of a turn and the name of a residue, recomputed with another library from the rule in docs/REWARDS.md.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AbiCoder, keccak256 } from 'ethers'
import fc from 'fast-check'
import { innerRef, residueRef, turnDigest } from '../../src/chain/digest.ts'
import { turnAmountWei } from '../../src/domain/rounds/turn-amounts.ts'
import { address, hash } from '../../src/domain/units.ts'
import { cases } from '../support/property.ts'

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((b) => `0x${Buffer.from(b).toString('hex')}`)
const abi = AbiCoder.defaultAbiCoder()

test('anyone can compute a turn’s pay from its seed, cohort, time and terms', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 20n })
  fc.assert(
    fc.property(
      bytes(32),
      fc.integer({ min: 1, max: 2 ** 32 }),
      fc.integer({ min: 1, max: 2 ** 40 }),
      fc.tuple(amount, amount),
      fc.integer({ min: 0, max: 1_000_000 }),
      (seed, cohort, due, [a, b], payoutBps) => {
        const digest = BigInt(keccak256(abi.encode(['bytes32', 'uint256', 'uint256'], [seed, cohort, due])))
        assert.equal(turnDigest(hash(seed), cohort, due), digest)
        const [minWei, maxWei] = a < b ? [a, b] : [b, a]
        const paid = turnAmountWei(turnDigest(hash(seed), cohort, due), { minWei, maxWei }, payoutBps)
        assert.equal(paid, ((minWei + (digest % (maxWei - minWei + 1n))) * BigInt(payoutBps)) / 10_000n)
      },
    ),
    { numRuns: cases(500) },
  )
})

test('a residue has one key per chain, wallet, block, amount and direction', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2 ** 40 }),
      bytes(20),
      bytes(32),
      fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }),
      (chain, wallet, block, wei) => {
        const types = ['uint256', 'address', 'bytes32', 'int256']
        const expected = keccak256(abi.encode(types, [chain, wallet, block, wei]))
        assert.equal(residueRef(chain, address(wallet), hash(block), wei), expected)
      },
    ),
    { numRuns: cases(500) },
  )
})

test('each transfer inside a transaction has its own key', () => {
  fc.assert(
    fc.property(bytes(32), bytes(20), fc.nat(), (txHash, wallet, index) => {
      const types = ['bytes32', 'address', 'uint256']
      const ref = innerRef(hash(txHash), address(wallet), index)
      assert.equal(ref, keccak256(abi.encode(types, [txHash, wallet, index])))
    }),
    { numRuns: cases(200) },
  )
})
