// Anvil forgets its oldest states first, however many blocks were taken back since. Every seed begins with the oldest, so a chain serves for a
// few seeds only.
import { openStage, type Stage } from '../stage.ts'

/** After some 550 blocks, those taken back included, anvil forgets the first states. One seed mines fewer than 300. */
const MINED_MAX = 250

const minedOn = new WeakMap<Stage, number>()

/** Notes the blocks of a seed that was played. */
export async function noteMined(stage: Stage): Promise<void> {
  const { number } = await stage.chain.block()
  minedOn.set(stage, (minedOn.get(stage) ?? 0) + Number(number))
}

/** The stage; another in its place, if its chain would forget its first states during a seed. */
export async function unworn(stage: Stage): Promise<Stage> {
  if (stage.backend === 'model' || (minedOn.get(stage) ?? 0) <= MINED_MAX) return stage
  await stage.close()
  return openStage(stage.backend)
}
