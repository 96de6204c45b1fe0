// The moves of a payment: the table of src/domain/transitions.ts and the second reading of the diagram agree about every pair of states.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MOVES, type Move, type MoveName, mayMove } from '../../src/domain/transitions.ts'
import { ARROWS, type From, movesBetween, REASONS, STATES } from './moves.ts'

const NAMES = Object.keys(MOVES) as MoveName[]
const moveOf = (name: MoveName): Move => MOVES[name]
const FROM: From[] = ['new', ...STATES]

test('the same moves exist', () => {
  const drawn = [...new Set(ARROWS.map((one) => one.move))].sort()
  assert.deepEqual([...NAMES].sort(), drawn)
})

for (const from of FROM) {
  test(`from ${from} the same moves lead to each state`, () => {
    for (const to of STATES) {
      const code = NAMES.filter((name) => mayMove(name, from === 'new' ? null : from, to)).sort()
      assert.deepEqual(code, movesBetween(from, to), `to ${to}`)
    }
  })
}

test('a move gives the reasons in the documents', () => {
  for (const [name, reasons] of Object.entries(REASONS)) {
    assert.deepEqual([...(moveOf(name as MoveName).reasons ?? [])].sort(), [...reasons].sort(), name)
  }
})

test('a released payment was held, and only a mint on the chain gives an ignored one a node', () => {
  assert.deepEqual(moveOf('release').from, ['held'])
  assert.deepEqual(moveOf('dismiss').from, ['held'])
  const out = STATES.flatMap((to) => NAMES.filter((name) => mayMove(name, 'ignored', to)))
  assert.deepEqual(out.sort(), ['orphan', 'recordMint'])
})
