// Seeds that once broke the service, or the simulation, stay: each with a word on what it found.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { playSeed } from './run.ts'
import { openStage, type Stage } from './stage.ts'

interface Kept {
  seed: number
  /** What it found. */
  found: string
}
const kept = JSON.parse(readFileSync(new URL('seeds.json', import.meta.url), 'utf8')) as Kept[]

let stage: Stage
before(async () => {
  stage = await openStage('model')
})
after(() => stage.close())

for (const { seed, found } of kept) {
  test(`seed ${seed} holds: ${found}`, async () => {
    const { failure, log } = await playSeed(stage, seed)
    assert.equal(failure, null, log.join('\n'))
  })
}
