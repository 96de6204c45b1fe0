import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { PIECE_BYTES, piecesOf } from '../../src/http/edge/pieces.ts'

test('large bodies are handed over a few pieces a turn, of all connections together, each in its turn and whole', async () => {
  const bodies = Array.from({ length: 50 }, (_, i) => Buffer.alloc(PIECE_BYTES * 3 + 5, i))
  const counts = bodies.map(() => 0)
  let handed = 0
  const sent = bodies.map(async (body, i) => {
    const pieces: Buffer[] = []
    for await (const piece of piecesOf(body)) {
      pieces.push(piece)
      counts[i] = pieces.length
      handed++
    }
    assert.ok(Buffer.concat(pieces).equals(body))
  })
  const perTurn: number[] = []
  while (handed < bodies.length * 4) {
    const before = handed
    await nextTurn()
    perTurn.push(handed - before)
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, 'one is served twice before all were served once')
  }
  await Promise.all(sent)
  assert.ok(Math.max(...perTurn) <= 8, `${Math.max(...perTurn)} pieces in one turn`)
})
