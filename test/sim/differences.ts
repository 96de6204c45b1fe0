// Makes the ledger differ from the chain at the end of a seed. The next reconciling must mend it.
import { DIFFERENCES } from '../support/faults/differences.ts'
import type { World } from '../support/world.ts'
import type { Play } from './play.ts'
import { count } from './tally.ts'

/** Share of seeds at whose end the ledger is made to differ. */
const DIFFERING = 0.3

/** One run finds the first difference and goes back, the next ones follow. Each may find one more. */
const RECONCILING_RUNS = 4

/** Plants differences of one kind at every node, and reconciles. @returns true if there was something to change. */
export async function plantDifferences(
  { stage: { observer, world }, dice, log, tally, rules, facts }: Play,
  run: (instance: ReturnType<World['instance']>) => Promise<unknown>,
): Promise<boolean> {
  if (dice.roll('difference') > DIFFERING) return false
  const kind = dice.pick('kind of difference', Object.keys(DIFFERENCES))
  const nodes = await observer<{ id: number }[]>`SELECT node_id AS id FROM nodes ORDER BY node_id`
  let planted = 0
  for (const { id } of nodes) if (await DIFFERENCES[kind]?.({ pool: observer }, id)) planted++
  if (planted === 0) return false
  count(tally, `difference: ${kind}`)
  log.push(`${kind}, planted ${planted} times`)
  const reconciling = world.instance({ rules: { ...rules, reconcileEverySec: 0 }, facts })
  for (let i = 0; i < RECONCILING_RUNS; i++) await run(reconciling)
  return true
}
