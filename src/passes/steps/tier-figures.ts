// Keeps what the nodes of each tier got, worked out again where a turn or a price has changed since, or a day began. Only reads rest on it, and
// those do without: it never keeps a pass from its work.
import { keepFigures, readTiersToKeep } from '../../db/nodes/tier-figures.ts'
import type { LedgerDb, Logging, Run } from '../context.ts'

/** Keeps the figures of every tier; what a run has no time for, the next one does. */
export async function keepTierFigures(ctx: LedgerDb & Logging, run: Pick<Run, 'outOfTime'>): Promise<void> {
  try {
    for (const tier of await readTiersToKeep(ctx.pool)) {
      if (run.outOfTime()) return
      await keepFigures(ctx.pool, tier)
    }
  } catch (error) {
    ctx.log.warn({ err: error }, 'what the nodes of a tier got could not be kept: reads work it out until then')
  }
}
