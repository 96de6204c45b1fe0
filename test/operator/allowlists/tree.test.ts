// The tree of an allowlist, node for node that of OpenZeppelin's own library; and proofs by the places that the ledger reads.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { StandardMerkleTree } from '@openzeppelin/merkle-tree'
import { proofPlaces } from '../../../src/domain/payers/allowlists.ts'
import { type Address, address } from '../../../src/domain/units.ts'
import { buildTree, type Entries } from '../../../src/operator/acts/allowlists/tree.ts'

const addressOf = (n: number) => `0x${createHash('sha256').update(String(n)).digest('hex').slice(0, 40)}` as Address

function compare({ addresses, allocations }: Entries): void {
  const rows = addresses.map((address, row) => [address, BigInt(allocations[row] ?? 0)] as [string, bigint])
  const theirs = StandardMerkleTree.of(rows, ['address', 'uint256'])
  const ours = buildTree({ addresses, allocations })
  const nodeAt = (place: number) => `0x${ours.nodes.subarray(place * 32, place * 32 + 32).toString('hex')}`
  const dumped = theirs.dump()
  assert.equal(ours.root, theirs.root)
  assert.deepEqual(
    Array.from({ length: ours.nodes.length / 32 }, (_, place) => nodeAt(place)),
    dumped.tree,
  )
  for (const [row, { treeIndex }] of dumped.values.entries()) {
    const leaf = ours.leaves[row] ?? assert.fail('no leaf')
    // Of two equal rows either leaf is right.
    assert.equal(nodeAt(leaf), dumped.tree[treeIndex])
    assert.ok(
      StandardMerkleTree.verify(theirs.root, ['address', 'uint256'], rows[row] ?? [], proofPlaces(leaf).map(nodeAt)),
    )
  }
}

test('is that of OpenZeppelin for 1 to 40 rows, and for sizes around powers of two', () => {
  for (const size of [...Array.from({ length: 40 }, (_, n) => n + 1), 127, 128, 129, 1_000]) {
    const rows = Array.from({ length: size }, (_, n) => n)
    compare({ addresses: rows.map(addressOf), allocations: rows.map((n) => (n % 7) + 1) })
  }
})

test('matches OpenZeppelin’s for equal rows, two allocations of a wallet, and the largest one', () => {
  const [a, b] = [addressOf(1), addressOf(2)]
  compare({ addresses: [a, a], allocations: [1, 1] })
  compare({ addresses: [a, b, a, a], allocations: [1, 2, 1, 3] })
  compare({
    addresses: [a, address(`0x${'00'.repeat(20)}`), address(`0x${'ff'.repeat(20)}`)],
    allocations: [2 ** 31 - 1, 1, 256],
  })
})
