// Referral codes and allowlists: the code, the second reading and the libraries of others agree over random calldata and random lists.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StandardMerkleTree } from '@openzeppelin/merkle-tree'
import fc from 'fast-check'
import { proofPlaces } from '../../src/domain/payers/allowlists.ts'
import { codesIn } from '../../src/domain/payers/referrals.ts'
import { buildTree } from '../../src/operator/acts/allowlists/tree.ts'
import { cases } from '../support/property.ts'
import { codesOf } from './referrals.ts'
import { nodesOf, proofOf, proves } from './tree.ts'

const MARKER = '80218021802180218021802180218021'
const hexOf = (text: string) => Buffer.from(text, 'latin1').toString('hex')
const byte = (value: number) => (value & 255).toString(16).padStart(2, '0')

/** Calldata with a suffix, whole or wrong in one byte. */
const calldata = fc
  .record({
    before: fc.constantFrom('', '00', 'a9059cbb', 'ff'.repeat(300)),
    codes: fc.array(
      fc.constantFrom(
        'friends',
        'a',
        'A',
        'x_y-z',
        'z'.repeat(32),
        'z'.repeat(33),
        'z'.repeat(230),
        '',
        ' ',
        'a b',
        'ü',
        '~',
        '!',
        '\x7f',
      ),
      { maxLength: 9 },
    ),
    longer: fc.constantFrom(0, 0, 0, 0, 1, -1, 200),
    schema: fc.constantFrom(0, 0, 0, 0, 1, 2, 255),
    marker: fc.constantFrom(MARKER, MARKER, MARKER, MARKER.toUpperCase(), '8021'.repeat(7), `${MARKER.slice(0, -1)}0`),
    behind: fc.constantFrom('', '', '', '', '00'),
  })
  .map(({ before, codes, longer, schema, marker, behind }) => {
    const text = codes.join(',').slice(0, 255)
    return `0x${before}${hexOf(text)}${byte(text.length + longer)}${byte(schema)}${marker}${behind}`
  })

test('calldata carries the codes that ERC-8021 reads from its end', () => {
  fc.assert(
    fc.property(calldata, (data) => assert.deepEqual(codesIn(data), codesOf(data))),
    { numRuns: cases(3_000) },
  )
})

test('a suffix is read whole up to the 255 bytes of codes that its length can express', () => {
  for (const length of [1, 237, 238, 239, 254, 255]) {
    const text = 'x'.repeat(length)
    const data = `0xa9059cbb${hexOf(text)}${byte(length)}00${MARKER}`
    assert.deepEqual(codesOf(data), [text])
    assert.deepEqual(codesIn(data), [text], `${length} bytes`)
  }
})

const row = fc.record({
  address: fc.bigInt(1n, 40n).map((at) => `0x${at.toString(16).padStart(40, '0')}`),
  allocation: fc.constantFrom(1, 2, 255, 256, 2 ** 31 - 1),
})
const rows = fc.uniqueArray(row, { minLength: 1, maxLength: 12, selector: ({ address }) => address })

test('a list has the tree and the proofs of OpenZeppelin’s StandardMerkleTree', () => {
  const compare = (list: { address: string; allocation: number }[], pick: number) => {
    const nodes = nodesOf(list)
    const theirs = StandardMerkleTree.of(
      list.map((one) => [one.address, String(one.allocation)]),
      ['address', 'uint256'],
    )
    const addresses = list.map((one) => one.address) as unknown as Parameters<typeof buildTree>[0]['addresses']
    const ours = buildTree({ addresses, allocations: list.map((one) => one.allocation) })
    assert.equal(nodes[0], theirs.root)
    assert.equal(ours.root, nodes[0])
    assert.equal(ours.nodes.toString('hex'), nodes.map((one) => one.slice(2)).join(''))
    const at = pick % list.length
    const one = list[at] as (typeof list)[number]
    const proof = proofOf(list, one)
    assert.deepEqual(proof, theirs.getProof(at))
    assert.deepEqual(
      proofPlaces(ours.leaves[at] as number).map((place) => nodes[place]),
      proof,
    )
    assert.ok(proves(theirs.root as `0x${string}`, one, proof ?? []))
    assert.ok(!proves(theirs.root as `0x${string}`, { ...one, allocation: one.allocation - 1 }, proof ?? []))
  }
  fc.assert(fc.property(rows, fc.nat(11), compare), { numRuns: cases(120) })
})
