// Plays seeds again that once broke the service, or that notice a planted bug, each with a note on that bug.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { playSeed } from './run.ts'
import { openStage, type Stage } from './stage.ts'

interface Kept {
  seed: number
  /** The bug that it found, or finds. */
  found: string
}
const kept = JSON.parse(readFileSync(new URL('seeds.json', import.meta.url), 'utf8')) as Kept[]

let stage: Stage
before(async () => {
  stage = await openStage('model')
})
after(() => stage.close())

for (const { seed, found } of kept) {
  test(`seed ${seed} holds, which notices ${found}`, async () => {
    const { failure, log } = await playSeed(stage, seed)
    assert.equal(failure, null, log.join('\n'))
  })
}
