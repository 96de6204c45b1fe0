// Plays every line of the tables on the service's passes, and compares what happened with what must hold.
// NL_EVIDENCE=WORDS plays only the lines with these words.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { LIARS } from './liars.ts'
import type { Line, Place } from './lines.ts'
import { playLiar, playQuirk } from './play.ts'
import { QUIRKS } from './quirks.ts'
import { type Stage, startStage } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(() => stage.close())

const PLACES: Record<Place, string> = {
  first: 'asked first',
  second: 'asked second',
  both: 'by both alike',
  only: 'by the only one',
  restart: 'asked first after a restart',
  later: 'in one later call',
  three: 'by the only one, three passes',
  agreed: 'asked first without proofs',
  agreedSecond: 'asked second without proofs',
}

type Tables = Readonly<Record<string, readonly Line[]>>
const played = new Set<string>()

function tests(kind: string, tables: Tables, play: typeof playLiar): void {
  for (const [about, lines] of Object.entries(tables))
    for (const line of lines)
      for (const place of line.stands) testLine(`${kind} of ${about}: ${line.name}`, line, { place, play })
}

function testLine(name: string, line: Line, { place, play }: { place: Place; play: typeof playLiar }): void {
  const sentence = `${name}, ${PLACES[place]}`
  assert.ok(!played.has(sentence), `two lines have the name ${sentence}`)
  played.add(sentence)
  if (!sentence.includes(process.env.NL_EVIDENCE ?? '')) return
  test(sentence, async () => {
    const failed = await play(stage, line, place)
    assert.deepEqual(failed, [])
  })
}

tests('A lie', LIARS, playLiar)
tests('A quirk', QUIRKS, playQuirk)
