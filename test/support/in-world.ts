// Tests that each need their own world, because they break it.

import { test } from 'node:test'
import type { Trouble } from '../../src/db/core/troubles.ts'
import { startWorld, type World } from './world.ts'

type InWorld = (world: World) => Promise<unknown>

/** Makes such a test. Its world is settled once `prepare` is done, and `finish` checks what the test left behind. */
export const worldTest =
  ({ prepare, finish }: { prepare?: InWorld; finish?: InWorld } = {}) =>
  (sentence: string, body: InWorld): void => {
    test(sentence, async () => {
      const world = await startWorld()
      try {
        await prepare?.(world)
        await world.settle()
        await body(world)
        await finish?.(world)
      } finally {
        await world.close()
      }
    })
  }

/** Moves an incident back in time, so that it has been quiet for long enough to be over. */
export const beWellFor = ({ pool }: World, trouble: Trouble) => pool`
  UPDATE troubles SET value = value || '{"calmSince": "2020-01-01T00:00:00.000Z"}' WHERE name = ${`trouble ${trouble}`}`
