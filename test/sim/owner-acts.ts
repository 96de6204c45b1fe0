// Acts of the contract's owner between two blocks: windows of turns not owed, with the matching terms, budgets, bounds
// and expulsions; and blocks so late that signed calls have expired. Drawn from separate dice, so the rest of a seed
// stays the same.
import { inTransaction } from '../../src/db/core/sql.ts'
import { insertTerms, readCreditTerms } from '../../src/db/sale/terms.ts'
import { NO_END, type NotOwedWindow, windowCallNeeded } from '../../src/domain/rounds/payouts.ts'
import type { Hash } from '../../src/domain/units.ts'
import { namingPresent, ROOMY_SETUP } from '../support/factory.ts'
import { createDice, type Dice } from '../support/faults/dice.ts'
import { callOf, send } from './acts.ts'
import { mine, type Play } from './play.ts'
import { count } from './tally.ts'

/** Longer than a signed call is valid. */
const STANDSTILL_SEC = 1_000

type OwnerAct = (play: Play, dice: Dice) => Promise<string | null>

async function tell(play: Play, name: string, args: readonly unknown[]) {
  const { world, factory } = play.stage
  await send(play, 0, factory, 0n, callOf(name, await namingPresent(world.read, name, args)))
}

async function windowsOf({ stage: { world } }: Play): Promise<NotOwedWindow[]> {
  const windows: NotOwedWindow[] = []
  const length = Number(await world.read<bigint>('notOwedCount'))
  for (let window = 1; window <= length; window++) {
    const [from, until] = await world.read<[bigint, bigint]>('notOwed', [BigInt(window)])
    windows.push({ window, from: Number(from), until: Number(until) })
  }
  return windows
}

const timeOf = async ({ stage: { chain } }: Play) => Number((await chain.block()).timestamp)

/** Enters terms by which turns are not owed for a while, and sets the matching window, or forgets to. */
async function switchOff(play: Play, dice: Dice): Promise<string | null> {
  const { observer } = play.stage
  const [windows, terms, now] = await Promise.all([windowsOf(play), readCreditTerms(observer), timeOf(play)])
  const last = terms.at(-1)
  if (!last) return null
  const from = Math.max(now + dice.pick('off in', [1, 300, 600]), last.fromTime + 1, windows.at(-1)?.until ?? 0)
  const until = from + dice.pick('off for', [300, 900, 2_000])
  if (from > now + 3_600 || until >= NO_END) return null
  await inTransaction(observer, async (sql) => {
    await insertTerms(sql, { ...last, fromTime: from, payouts: false }, 'operator')
    await insertTerms(sql, { ...last, fromTime: until, payouts: true }, 'operator')
  })
  const forgets = dice.roll('forgets') < 0.3
  if (!forgets) await tell(play, 'addNotOwed', [BigInt(windows.length + 1), BigInt(from), BigInt(until)])
  return `turns from ${from} to ${until} are not owed${forgets ? ', and the owner forgets to say so' : ''}`
}

/** Nodes that were never credited, or not long ago minted, leave their cohorts; the contract skips others. */
async function expel(play: Play, dice: Dice): Promise<string | null> {
  const rows = await play.stage.observer<{ ref: Hash }[]>`SELECT ref FROM nodes ORDER BY node_id DESC LIMIT 6`
  if (rows.length === 0) return null
  const { ref } = dice.pick('expelled', rows)
  await tell(play, 'expel', [[ref]])
  return `the node of ${ref} is to leave its cohort`
}

const roomyBudget = (play: Play) =>
  tell(play, 'setMinter', [play.stage.world.at(1), BigInt(ROOMY_SETUP.nodes), BigInt(ROOMY_SETUP.cohorts)])
const roomyBounds = (play: Play) =>
  tell(play, 'setBounds', [play.stage.world.at(2), ROOMY_SETUP.floorGwei, ROOMY_SETUP.ceilingGwei])

/** Every act by its name. Null: there was nothing to act on. */
export const OWNER_ACTS: Record<string, OwnerAct> = {
  window: switchOff,
  expulsion: expel,
  async budget(play, dice) {
    const [nodes, cohorts] = [dice.between('nodes', 0, 2), dice.between('cohorts', 0, 1)]
    await tell(play, 'setMinter', [play.stage.world.at(1), BigInt(nodes), BigInt(cohorts)])
    return `the minter may mint ${nodes} and open ${cohorts}`
  },
  async refill(play) {
    await roomyBudget(play)
    return 'the minter may mint as ever'
  },
  async bounds(play, dice) {
    const ceilingGwei = BigInt(dice.pick('ceiling', [0, 900_000, 1_500_000]))
    await tell(play, 'setBounds', [play.stage.world.at(2), 0n, ceilingGwei])
    return `the distributor may pay ${ceilingGwei} gwei a turn`
  },
  async 'wide bounds'(play) {
    await roomyBounds(play)
    return 'the distributor may pay what it will'
  },
  async standstill(play) {
    await mine(play, STANDSTILL_SEC)
    return `no block for ${STANDSTILL_SEC} s: what was signed has ended`
  },
}
const NAMES = Object.keys(OWNER_ACTS)

/** In two seeds of five the owner acts now and then. */
const BUSY = 0.4
const OFTEN = 0.3
const diceOf = new WeakMap<Play, Dice | null>()

/** Draws whether the owner acts, and does it. */
export async function ownerActs(play: Play): Promise<void> {
  const known = diceOf.get(play)
  const fresh = createDice(play.seed + 1_000_003)
  const dice = known === undefined ? (fresh.roll('busy') < BUSY ? fresh : null) : known
  diceOf.set(play, dice)
  if (!dice || dice.roll('acts') >= OFTEN) return
  const name = dice.pick('act', NAMES)
  const told = await OWNER_ACTS[name]?.(play, dice)
  if (!told) return
  count(play.tally, `act ${name}`)
  play.log.push(`  ${told}`)
}

/** The owner removes the obstacles: once, and then the windows one block after the other. */
export async function makeRoom(play: Play): Promise<void> {
  await roomyBudget(play)
  await roomyBounds(play)
}

/** Sets the next window that the terms require. */
export async function setWindow(play: Play): Promise<void> {
  const terms = await readCreditTerms(play.stage.observer)
  const call = windowCallNeeded(terms, await windowsOf(play), await timeOf(play))
  if (call?.name === 'addNotOwed') await tell(play, call.name, [call.window, call.from, call.until])
  if (call?.name === 'endNotOwed') await tell(play, call.name, [call.window, call.until])
}
