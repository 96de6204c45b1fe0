// Differences between ledger and contract: each names what both sides say, none is made up, and all have one order.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CohortFacts,
  type Counters,
  compareCohort,
  compareCounters,
  compareNodes,
  type Drift,
  driftInWords,
  inOrder,
  type NodeFacts,
  windowOf,
} from '../../src/domain/drift.ts'
import { address } from '../../src/domain/units.ts'

const ALICE = address(`0x${'a1'.repeat(20)}`)
const BOB = address(`0x${'b0'.repeat(20)}`)
const counters: Counters = { nodes: 3n, round: 2, outstandingWei: 10n }
const node: NodeFacts = { nodeId: 7n, owner: ALICE, creditedWei: 5n, withdrawnWei: 1n, cohort: 4 }
const cohort: CohortFacts = { cohort: 4, tierNo: 1, perNodeWei: 5n, size: 3, nextDue: 100, intervalSec: 10 }

test('sides that agree differ in nothing', () => {
  assert.deepEqual(compareCounters(counters, { ...counters }), [])
  assert.deepEqual(compareNodes([node], [{ ...node }]), [])
  assert.deepEqual(compareCohort(cohort, { ...cohort }), [])
})

test('each differing counter is reported, with both numbers', () => {
  const chain = { nodes: 4n, round: 3, outstandingWei: 11n }
  assert.deepEqual(compareCounters(counters, chain), [
    { kind: 'counter', name: 'nodes', ledger: '3', chain: '4' },
    { kind: 'counter', name: 'round', ledger: '2', chain: '3' },
    { kind: 'counter', name: 'outstandingWei', ledger: '10', chain: '11' },
  ])
  assert.deepEqual(compareCounters(counters, { ...counters, round: 9 }), [
    { kind: 'counter', name: 'round', ledger: '2', chain: '9' },
  ])
})

test('each differing fact of a node is reported, with both sides’ values', () => {
  const chain = { nodeId: 7n, owner: BOB, creditedWei: 6n, withdrawnWei: 2n, cohort: 5 }
  const fact = (field: string, ledger: string, chain: string) => ({ kind: 'node', nodeId: '7', field, ledger, chain })
  assert.deepEqual(compareNodes([node], [chain]), [
    fact('owner', ALICE, BOB),
    fact('creditedWei', '5', '6'),
    fact('withdrawnWei', '1', '2'),
    fact('cohort', '4', '5'),
  ])
  assert.deepEqual(compareNodes([node], [{ ...node, withdrawnWei: 0n }]), [fact('withdrawnWei', '1', '0')])
})

test('a node that one side lacks is missing there, and hides no other', () => {
  const [eighth, ninth] = [
    { ...node, nodeId: 8n },
    { ...node, nodeId: 9n },
  ]
  assert.deepEqual(compareNodes([node, eighth], [eighth, ninth]), [
    { kind: 'notInLedger', nodeId: '9' },
    { kind: 'notOnChain', nodeId: '7' },
  ])
})

test('each differing fact of a cohort is reported, with both numbers', () => {
  const chain = { cohort: 4, tierNo: 2, perNodeWei: 6n, size: 4, nextDue: 110, intervalSec: 20 }
  const fact = (field: string, ledger: string, chain: string) => ({ kind: 'cohort', cohort: 4, field, ledger, chain })
  assert.deepEqual(compareCohort(cohort, chain), [
    fact('perNodeWei', '5', '6'),
    fact('size', '3', '4'),
    fact('nextDue', '100', '110'),
    fact('intervalSec', '10', '20'),
    fact('tierNo', '1', '2'),
  ])
  assert.deepEqual(compareCohort(cohort, { ...cohort, size: 0 }), [fact('size', '3', '0')])
})

test('differences are sorted by counters, nodes and cohorts, in any order of finding', () => {
  const ofNode = (nodeId: string): Drift => ({ kind: 'notOnChain', nodeId })
  const ofCohort = (number: number): Drift => ({
    kind: 'cohort',
    cohort: number,
    field: 'size',
    ledger: '1',
    chain: '2',
  })
  const counter: Drift = { kind: 'counter', name: 'nodes', ledger: '1', chain: '2' }
  const other: Drift = { ...counter, name: 'round' }
  const ordered = [counter, other, ofNode('2'), ofNode('10'), ofNode('300'), ofCohort(1), ofCohort(3), ofCohort(20)]
  const found = [ofCohort(20), ofNode('300'), ofCohort(1), counter, ofNode('10'), ofCohort(3), other, ofNode('2')]
  const before = [...found]
  assert.deepEqual(inOrder(found), ordered)
  assert.deepEqual(inOrder([...ordered].reverse()).slice(2), ordered.slice(2))
  assert.deepEqual(found, before, 'what was given stays as it was')
})

test('several facts of one node or cohort stay in the order in which they were found', () => {
  const facts = compareCohort(cohort, { ...cohort, size: 4, perNodeWei: 6n })
  assert.deepEqual(inOrder(facts), facts)
})

test('a run compares the day’s part of all nodes, within bounds', () => {
  assert.deepEqual(
    [0, 125_000, 125_001, 1_000_000, 10_000_000, 10_000_001].map(windowOf),
    [500, 500, 501, 4_000, 40_000, 40_000],
  )
})

test('a difference in words has the row, and the values of both sides in that order', () => {
  const sides = { ledger: '3', chain: '4' }
  const words: [Drift, string][] = [
    [{ kind: 'counter', name: 'nodes', ...sides }, 'all together: nodes is 3 in the ledger, 4 on the contract'],
    [{ kind: 'node', nodeId: '7', field: 'ref', ...sides }, 'node 7: ref is 3 in the ledger, 4 on the contract'],
    [{ kind: 'cohort', cohort: 9, field: 'size', ...sides }, 'cohort 9: size is 3 in the ledger, 4 on the contract'],
    [{ kind: 'notInLedger', nodeId: '7' }, 'the ledger lacks node 7'],
    [{ kind: 'notOnChain', nodeId: '7' }, 'only the ledger has node 7'],
  ]
  for (const [drift, expected] of words) assert.equal(driftInWords(drift), expected)
})
