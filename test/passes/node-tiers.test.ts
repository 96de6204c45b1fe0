// Whose node a mint is: a node with a payment's ref is the payment's only if it went to the wallet that paid and into the tier
// that was paid for, by the earlier verdict or by the price. The test uses the minter's key outside the service.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeCall } from '../../src/chain/send/signer-account.ts'
import { readOddCohorts, readSoundCohorts } from '../../src/db/nodes/cohorts.ts'
import { isDue } from '../../src/domain/schedule.ts'
import type { Hash } from '../../src/domain/units.ts'
import type { FactoryCall } from '../../src/ports/sending.ts'
import { FOREVER } from '../support/factory.ts'
import { checkInvariants } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import {
  acceptedPayment,
  alarmsOf,
  ETHER,
  INTERVAL_SEC,
  judgeOnly,
  SLOT_SEC,
  standingOf,
  type World,
} from '../support/world.ts'

const BASIC = ETHER / 100n

let desk: Desk
let world: World
const onPurpose = { foreign: [] as Hash[], unpaidRefs: [] as Hash[] }
before(async () => {
  desk = await startDesk()
  world = desk.world
  await world.settle()
})
after(() => desk.close())

const told = (txHash: Hash) => standingOf(world, txHash)
const follow = () => judgeOnly(world)
const accepted = (account: number) => acceptedPayment(world, account, BASIC)
/** Calls the factory with the minter's key outside the service. */
async function callAsThief(call: FactoryCall): Promise<void> {
  onPurpose.foreign.push(await world.call(1, world.factory, encodeCall(call, { withGuard: false }).data))
}
/** Mints that way, into a cohort of the tier that accepts nodes for a while yet, or into the named one. */
async function steal(tierNo: number, ref: Hash, to: number, named?: number): Promise<void> {
  const [open = assert.fail('no cohort')] = await world.pool<{ cohort: number }[]>`
    SELECT cohort FROM cohorts WHERE tier_no = ${tierNo} ORDER BY size, next_due DESC LIMIT 1`
  const orders = [{ to: world.at(to), cohort: named ?? open.cohort, ref }]
  await callAsThief({ kind: 'mint', orders, guard: null, validUntil: FOREVER })
  assert.notEqual(await world.read('nodeOfRef', [ref]), 0n)
}
/** Opens a cohort that way. @returns its number. */
async function openAsThief(intervalSec: number, phase: number): Promise<number> {
  const first = Number(await world.read<bigint>('lastCohort')) + 1
  const now = Number((await world.chain.block()).timestamp)
  const firstDue = (Math.floor(now / SLOT_SEC) + 5) * SLOT_SEC + phase
  await callAsThief({
    kind: 'openCohorts',
    first,
    openings: [{ tierNo: 1, firstDue, intervalSec }],
    validUntil: FOREVER,
  })
  return first
}
const isPaid = async (ref: Hash) => {
  const [node = assert.fail('no node')] = await world.pool<{ paid: boolean }[]>`
    SELECT payment_id IS NOT NULL AS paid FROM nodes WHERE ref = ${ref}`
  return node.paid
}
async function isNoNodeOf(paid: Hash): Promise<void> {
  onPurpose.unpaidRefs.push(paid)
  assert.equal(await isPaid(paid), false, 'the node counts as unpaid, so that its cohort is not credited')
  assert.deepEqual(await alarmsOf(world, paid), ['mintedElsewhere'])
}

test('a node of a more expensive tier is not the payment’s, by its earlier verdict', async () => {
  const paid = await accepted(5)
  await steal(2, paid, 5)
  await world.settle()
  assert.equal(await told(paid), 'held mintedElsewhere')
  await isNoNodeOf(paid)
  const released = await desk.post(`payments/${paid}/release`, { tierId: 'basic' })
  assert.deepEqual([released.status, /refund or dismiss/.test(released.json.error)], [409, true], released.text)
})

test('a cohort off the slot’s grid takes no node and no credit, and no payment owns its node', async () => {
  const paid = await accepted(13)
  const odd = await openAsThief(INTERVAL_SEC, 7)
  await steal(1, paid, 13, odd)
  await follow()
  assert.deepEqual(
    (await readOddCohorts(world.pool)).map(({ cohort }) => cohort),
    [odd],
  )
  assert.deepEqual(await alarmsOf(world, String(odd)), ['cohortOdd'])
  assert.equal(await told(paid), 'held mintedElsewhere')
  await isNoNodeOf(paid)
  // A granted node keeps no cohort from its credits, but this one is not granted.
  const [{ id } = assert.fail()] = await world.pool<
    { id: number }[]
  >`SELECT node_id AS id FROM nodes WHERE ref = ${paid}`
  await desk.post(`nodes/${id}/grant`, { reason: 'a test' })
  await world.chain.increaseTime(2 * INTERVAL_SEC)
  await world.rest()
  const [cohort] = await world.pool`SELECT turn_count AS turns, next_due AS due FROM cohorts WHERE cohort = ${odd}`
  assert.equal(cohort?.turns, 0)
  const [{ time } = assert.fail()] = await world.pool<{ time: number }[]>`SELECT block_time AS time FROM cursors`
  const due = (await readSoundCohorts(world.pool)).filter((sound) => isDue(sound, time))
  const nodes = due.reduce((sum, { size }) => sum + size, 0)
  assert.equal((await world.credit()).dueNodes, nodes, 'a node that is never credited is not due')
})

test('a cohort with an interval of no terms is none either, until the contract’s owner sets it', async () => {
  const paid = await accepted(14)
  const odd = await openAsThief(INTERVAL_SEC / 2, 0)
  await steal(1, paid, 14, odd)
  await follow()
  assert.equal(await told(paid), 'held mintedElsewhere')
  const blocks = Number((await world.chain.block()).number)
  await world.act(0, 'setInterval', [BigInt(odd), BigInt(INTERVAL_SEC)])
  await follow()
  assert.deepEqual([await told(paid), await isPaid(paid)], ['minted', true])
  // The reorganisation removes the owner's act and its effect.
  await world.chain.reorg(Number((await world.chain.block()).number) - blocks)
  await follow()
  assert.ok((await readOddCohorts(world.pool)).some(({ cohort }) => cohort === odd))
  await world.act(0, 'setInterval', [BigInt(odd), BigInt(INTERVAL_SEC)])
  await world.settle()
  assert.deepEqual([await told(paid), await isPaid(paid)], ['minted', true])
})

test('after all of this the ledger matches the chain', () => checkInvariants(world, onPurpose))
