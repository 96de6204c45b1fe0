// The table of a payment's moves: consistent, and the same as the diagram in docs/ARCHITECTURE.md.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { MOVES, type Move, type MoveName, PAYMENT_STATES, type PaymentState } from '../../src/domain/transitions.ts'

const NAMES = Object.keys(MOVES) as MoveName[]
const ruleOf = (name: MoveName): Move => MOVES[name]
const isState = (word: string): word is PaymentState => PAYMENT_STATES.some((state) => state === word)

test('only a move to held or ignored states a reason', () => {
  for (const name of NAMES) {
    const { to, reasons } = ruleOf(name)
    const [only] = to
    // An orphaned payment keeps its reason.
    const needed = to.length === 1 && (only === 'held' || only === 'ignored' || name === 'strikeOrphanedRefund')
    assert.equal(reasons !== undefined, needed, name)
  }
})

/** A decision about a payment that has its node, or is off the chain, counts once the node is gone or the payment is back. */
const APART: readonly MoveName[] = ['strikeOrphanedRefund', 'refundMinted', 'refundOrphaned']

test('a verdict is of the state that the move leads to', () => {
  for (const name of NAMES) {
    const { to, verdict } = ruleOf(name)
    if (verdict && !APART.includes(name)) assert.deepEqual(to, [verdict], name)
  }
})

test('the diagram in docs/ARCHITECTURE.md draws every move, and no other', () => {
  const page = readFileSync(new URL('../../docs/ARCHITECTURE.md', import.meta.url), 'utf8')
  const [, diagram] = /```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(page) ?? []
  const table = NAMES.flatMap((name) => {
    const { from, to } = ruleOf(name)
    return (from.length === 0 ? ['[*]'] : from).flatMap((start) => to.map((end) => `${start} --> ${end} : ${name}`))
  })
  assert.deepEqual(readDiagram(diagram ?? '').sort(), table.sort())
})

/** The arrows of a state diagram, one for each label and each pair of states. An arrow of a composite state counts for all states in it. */
function readDiagram(diagram: string): string[] {
  const arrows: [from: string, to: string, labels: string[]][] = []
  const members = new Map<string, Set<string>>()
  const open: string[] = []
  for (const line of diagram.split('\n').map((text) => text.trim())) {
    const composite = /^state ".*" as (\w+) \{$/.exec(line)?.[1]
    const [, from, to, labels] = /^(\S+) --> (\S+) : (.+)$/.exec(line) ?? []
    if (composite) open.push(composite)
    else if (line === '}') open.pop()
    else if (from && to && labels) {
      arrows.push([from, to, labels.split(', ')])
      for (const outer of open) {
        const inner = members.get(outer) ?? new Set()
        for (const word of [from, to].filter(isState)) inner.add(word)
        members.set(outer, inner)
      }
    } else assert.equal(line, '', 'a line of the diagram that this test does not understand')
  }
  const statesOf = (word: string) => [...(members.get(word) ?? [word])]
  return arrows.flatMap(([from, to, labels]) =>
    labels.flatMap((label) =>
      statesOf(from).flatMap((start) => statesOf(to).map((end) => `${start} --> ${end} : ${label}`)),
    ),
  )
}
