// Tests that each have a world of their own, since they break it.
import { test } from 'node:test'
import { startWorld, type World } from './world.ts'

type InWorld = (world: World) => Promise<unknown>

/** Makes such a test: its world is settled once `prepare` is done, and `finish` looks at what the test left. */
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
