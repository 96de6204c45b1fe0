// Previews of the owner's transactions, each sent exactly as printed: the result is what the preview said.
import assert from 'node:assert/strict'
import { createGovernanceReader } from '../../src/chain/factory/governance.ts'
import { type Address, type Hash, hash } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import {
  type OwnerDeps,
  type OwnerPreview,
  previewBounds,
  previewCap,
  previewDistributor,
  previewExpel,
  previewMinter,
  previewPause,
  previewRefill,
} from '../../src/operator/acts/owner.ts'
import type { OwnersPowers } from '../../src/ports/contract.ts'
import { mintData } from '../support/factory.ts'
import { worldTest } from '../support/in-world.ts'
import { ETHER, INTERVAL_SEC, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const ROGUE = hash(`0x${'5a'.repeat(32)}`)
const SECOND = hash(`0x${'5b'.repeat(32)}`)

interface Desk extends OwnerDeps {
  powers(): Promise<OwnersPowers>
}

const inWorld = (sentence: string, body: (world: World, desk: Desk) => Promise<void>) =>
  worldTest()(sentence, (world) => {
    const governance = createGovernanceReader(world.rpc, world.factory)
    return body(world, { pool: world.pool, governance, powers: () => governance.powers() })
  })

/** The preview, which must not be a refusal. */
function given(found: OwnerPreview | object): OwnerPreview {
  if (isOperatorRefusal(found)) assert.fail(found.message)
  return found as OwnerPreview
}

/** Sends the transaction as printed. */
async function carryOut(world: World, { owner, transaction }: OwnerPreview): Promise<void> {
  assert.equal(owner, world.at(0))
  const txHash = await world.call(0, transaction.to, transaction.data, transaction.valueWei)
  assert.equal(await world.succeeded(txHash), true)
}

async function mintRogue(world: World, ref: Hash, to: Address): Promise<void> {
  const [{ cohort } = assert.fail()] = await world.pool<{ cohort: number }[]>`SELECT cohort FROM nodes`
  await world.call(1, world.factory, mintData({ to, cohort, ref }))
  await world.payments()
}

inWorld('a refill leaves the budget of its preview, and a second one no more than its maximum', async (world, desk) => {
  await world.act(0, 'setMinter', [world.at(1), 2n, 3n])
  const found = given(await previewRefill(desk, { nodes: '10', cohorts: '4' }))
  assert.deepEqual(found.before, { nodesLeft: '2', cohortsLeft: '3' })
  assert.deepEqual(found.after, { nodesLeft: '12', cohortsLeft: '7' })
  assert.equal(found.refusal, null)
  for (const _ of [1, 2]) {
    await carryOut(world, found)
    const { budget } = await desk.powers()
    assert.deepEqual([budget.nodes, budget.cohorts], [12, 7])
  }
  const capped = given(await previewRefill(desk, { nodes: '10', nodesMost: '15' }))
  assert.equal(capped.after.nodesLeft, '15')
  await carryOut(world, capped)
  assert.equal((await desk.powers()).budget.nodes, 15)
})

inWorld('a refill of a minter that was replaced meanwhile is reported as refused', async (world, desk) => {
  const found = given(await previewRefill(desk, { nodes: '10' }))
  await world.act(0, 'setMinter', [world.at(9), 2n, 3n])
  assert.equal(await desk.governance.refusalOf(found.transaction, found.owner), 'WrongKey')
  assert.equal(await desk.governance.refusalOf(found.transaction, world.at(5)), 'NotOwner')
})

inWorld('another key has the budget or bounds of its preview, and never both roles', async (world, desk) => {
  await carryOut(world, given(await previewMinter(desk, { address: world.at(9), nodes: '7', cohorts: '8' })))
  await carryOut(
    world,
    given(await previewDistributor(desk, { address: world.at(8), floorGwei: '1', ceilingGwei: '2' })),
  )
  const { minter, budget, distributor, bounds } = await desk.powers()
  assert.deepEqual([minter, budget.nodes, budget.cohorts], [world.at(9), 7, 8])
  assert.deepEqual([distributor, bounds.floorWei, bounds.ceilingWei], [world.at(8), 10n ** 9n, 2n * 10n ** 9n])
  const both = [
    await previewMinter(desk, { address: world.at(8), nodes: '7', cohorts: '8' }),
    await previewDistributor(desk, { address: world.at(9), floorGwei: '1', ceilingGwei: '2' }),
  ]
  for (const refused of both) assert.ok(isOperatorRefusal(refused) && refused.because === 'conflict')
})

inWorld('bounds that do not fit the terms in force are reported', async (world, desk) => {
  const wide = given(await previewBounds(desk, { floorGwei: '0', ceilingGwei: '1000000000' }))
  assert.deepEqual(wide.notes, [])
  const narrow = given(await previewBounds(desk, { floorGwei: '0', ceilingGwei: '1' }))
  assert.match(narrow.notes.join(), /would wait/)
  await carryOut(world, narrow)
  assert.equal((await desk.powers()).bounds.ceilingWei, 10n ** 9n)
  assert.ok(isOperatorRefusal(await previewBounds(desk, { floorGwei: '2', ceilingGwei: '1' })))
})

inWorld('the pause and its end are previewed', async (world, desk) => {
  await carryOut(world, given(await previewPause(desk, { paused: true })))
  assert.equal((await desk.powers()).paused, true)
  await carryOut(world, given(await previewPause(desk, { paused: false })))
  assert.equal((await desk.powers()).paused, false)
})

inWorld('a ref with a payment or a grant is expelled only if it is given twice', async (world, desk) => {
  const paid = await world.pay(5, BASIC)
  await world.settle()
  await mintRogue(world, ROGUE, world.at(9))
  await mintRogue(world, SECOND, world.at(9))
  await world.pool`INSERT INTO grants (ref, reason, granted_by) SELECT ref, 'a gift', 'test' FROM nodes WHERE node_id = 3`
  const rogue = given(await previewExpel(desk, { refs: ROGUE }))
  assert.equal(rogue.refusal, null)
  for (const ref of [paid, SECOND, `${ROGUE},${paid}`]) {
    const refused = await previewExpel(desk, { refs: ref })
    assert.ok(isOperatorRefusal(refused) && refused.because === 'conflict')
    assert.match(refused.message, /repeat the ref/)
  }
  const named = given(await previewExpel(desk, { refs: `${ROGUE}, ${SECOND}`, again: SECOND }))
  const nodesOf = (shown: Readonly<Record<string, string>>) => Object.values(shown).map((text) => text.split(', ')[0])
  assert.deepEqual(nodesOf(named.after), [`node 2 of ${world.at(9)}`, `node 3 of ${world.at(9)}`])
  await carryOut(world, named)
  await world.payments()
  const rows = await world.pool<
    { id: number; cohort: number | null }[]
  >`SELECT node_id AS id, cohort FROM nodes ORDER BY 1`
  assert.deepEqual(
    rows.map(({ id, cohort }) => [id, cohort === null]),
    [
      [1, false],
      [2, true],
      [3, true],
    ],
  )
  const gone = await previewExpel(desk, { refs: ROGUE })
  assert.ok(isOperatorRefusal(gone) && /expelled already/.test(gone.message))
  assert.ok(given(await previewExpel(desk, { refs: paid, again: paid })).refusal === null)
})

inWorld(
  'a tier is capped as its preview shows, no higher than before and no lower than what it has',
  async (world, desk) => {
    await world.pay(5, BASIC)
    await world.settle()
    const found = given(await previewCap(desk, { tier: 'basic', most: '2' }))
    assert.deepEqual(found.before, { minted: '1', most: 'no limit' })
    await carryOut(world, found)
    assert.deepEqual(await desk.governance.tierSupply(1), { minted: 1, most: 2 })
    for (const [most, says] of [
      ['3', /never be raised/],
      ['0', /can have no fewer/],
    ] as const) {
      const refused = await previewCap(desk, { tier: 'basic', most })
      assert.ok(isOperatorRefusal(refused) && says.test(refused.message))
    }
    const unknown = await previewCap(desk, { tier: 'none', most: '1' })
    assert.ok(isOperatorRefusal(unknown) && unknown.because === 'notFound')
  },
)

inWorld('a node that was credited and is old, and a ref without a node, are refused', async (world, desk) => {
  const paid = await world.pay(5, BASIC)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  const young = given(await previewExpel(desk, { refs: paid, again: paid }))
  assert.equal(young.refusal, null)
  assert.match(Object.values(young.after).join(), /keeps [1-9]\d* wei/)
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  const credited = await previewExpel(desk, { refs: paid, again: paid })
  assert.ok(isOperatorRefusal(credited) && /A longer interval opens the window again/.test(credited.message))
  await world.chain.increaseTime(7 * 86_400)
  await world.rest()
  const old = await previewExpel(desk, { refs: paid, again: paid })
  assert.ok(isOperatorRefusal(old) && /never be expelled/.test(old.message))
  const none = await previewExpel(desk, { refs: ROGUE })
  assert.ok(isOperatorRefusal(none) && /no node/.test(none.message))
  assert.ok(isOperatorRefusal(await previewExpel(desk, { refs: 'abc' })))
})
