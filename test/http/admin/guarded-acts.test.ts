// One person never does what needs two. The test tries each act that may wait for a second person with every field of
// the other acts, and the acts that release held sums in other ways wait as well. Real parts.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Address, hash } from '../../../src/domain/units.ts'
import { mintData } from '../../support/factory.ts'
import { FORWARDER, payInside, putForwarder, traceNothing } from '../../support/forwarder.ts'
import { type Desk, KEYS, startDesk } from '../../support/operator.ts'
import { meetAt } from '../../support/postgres.ts'
import { ETHER, paymentOf } from '../../support/world.ts'
import { FIELDS, fieldsAt } from './documented.ts'

const BASIC = ETHER / 100n
const BOUND = 2n * BASIC
const LARGE = 30n * BASIC
const [, GRACE] = KEYS
const grace = { headers: { 'x-admin-key': GRACE?.key } }
const why = { reason: 'agreed' }

/** Contracts whose payments wait, and what each has paid. */
const [FUND, CLUB, GUILD] = ['c1', 'c2', 'c3'].map((digits) => `0x${digits.repeat(20)}` as Address) as [
  Address,
  Address,
  Address,
]
const WAITING: [by: Address, valueWei: bigint][] = [
  [FUND, (BASIC * 5n) / 2n],
  [CLUB, BASIC],
  ...Array(3).fill([GUILD, BASIC]),
]

let desk: Desk
before(async () => {
  desk = await startDesk()
  const { world } = desk
  for (const at of [FORWARDER, FUND, CLUB, GUILD]) await putForwarder(world, at)
  // The state at the head, to which their code was added, is not the one that its header proves.
  await world.chain.mine()
  for (const [by, valueWei] of WAITING) await payInside(world, valueWei, { by })
  await world.settle()
  assert.equal((await desk.get('payments?status=held&reason=contractWallet')).json.payments.length, WAITING.length)
  traceNothing(world)
})
after(() => desk.close())

const setRule = (aboveWei: bigint | null) =>
  desk.world.pool`
    UPDATE ledger_state SET second_person_wei = ${aboveWei?.toString() ?? null}`
const held = async (valueWei: bigint, payer = 5): Promise<string> => {
  const txHash = await desk.world.pay(payer, valueWei)
  await desk.world.settle()
  return txHash
}
const stands = async (payment: string) => {
  const { state, reason } = (await paymentOf(desk.world, payment as never)) ?? {}
  return [state, reason]
}
/** Unexplained value from an internal call: the row and the transaction. */
const residue = async (valueWei: bigint) => {
  const { txHash } = await payInside(desk.world, valueWei)
  await desk.world.settle()
  const [payment] = (await desk.get('payments?reason=unattributed&status=held&limit=1')).json.payments
  assert.equal(payment.valueWei, valueWei.toString())
  return { txHash, id: payment.id as number }
}
/** A node without a payment. */
const unpaidNode = async (account: number, tierNo: number): Promise<string> => {
  const { world } = desk
  const [open] = await world.pool<{ cohort: number }[]>`
    SELECT cohort FROM cohorts WHERE tier_no = ${tierNo} AND next_due > (SELECT block_time + 120 FROM cursors) LIMIT 1`
  const ref = hash(`0x${account.toString(16).padStart(64, '7')}`)
  await world.call(1, world.factory, mintData({ to: world.at(account), cohort: open?.cohort ?? 0, ref }))
  await world.settle()
  const { nodes } = (await desk.get('nodes/unpaid?open=true')).json
  return nodes.find(({ owner }: { owner: string }) => owner === world.at(account)).nodeId
}
const proposed = async (path: string, body: object): Promise<number> => {
  const { status, json, text } = await desk.post(path, body)
  assert.equal(status, 202, `${path}: ${text}`)
  return json.proposal.id
}
const confirmed = async (id: number) => {
  const { status, json, text } = await desk.post(`proposals/${id}/confirm`, {}, grace)
  assert.equal(status, 200, text)
  return json.done
}
const countOf = async (table: 'proposals' | 'audit') => (await desk.world.pool.unsafe(`SELECT FROM ${table}`)).count

describe('an act that needs a second person', () => {
  it('needs one: it refuses any field of another act, and does or proposes nothing', async () => {
    const { world } = desk
    const cheap = await held(BASIC + 1n)
    const large = await held(LARGE)
    const refunding = await held(LARGE + 1n)
    assert.equal((await desk.post(`payments/${refunding}/refund/prepare`)).status, 200, 'before the rule')
    const { txHash, id } = await residue(LARGE + 2n)
    const denied = { address: world.at(8), label: 'exchange', ...why }
    assert.equal((await desk.post('senders', denied)).status, 200)
    await held(LARGE, 8)
    const node = await unpaidNode(7, 3)
    const wallet = world.at(12)
    await setRule(BOUND)
    const stated = { txHash, innerIndex: 1, from: world.at(9), valueWei: '1' }
    const acts: [path: string, body: object][] = [
      [`payments/${large}/release`, { tierId: 'basic' }],
      ['payments/decide', { decision: 'release', payments: [large], tierId: 'basic' }],
      [`payments/${large}/refund/prepare`, {}],
      ['payments/refunds/prepare', { payments: [large] }],
      ['payments/refunds/prepare-all', { heldFor: 'wrongAmount', before: 2 ** 40 - 1, sumWei: '1' }],
      [`payments/${refunding}/refund/cancel`, {}],
      [`payments/${id}/attribute`, stated],
      ['contract-wallets/allow', { address: FUND, label: 'a fund', ...why }],
      ['contract-wallets', { mode: 'all' }],
      [`senders/${denied.address}/remove`, {}],
      [`nodes/${node}/grant`, why],
      ['terms', { maxWei: (ETHER / 1000n).toString() }],
      ['terms/cancel', { fromTime: 1 }],
      ['payment-wallets', { address: wallet }],
      ['payment-wallets/cancel', { address: wallet }],
      ['payment-wallets/close', { address: wallet }],
      ['second-person', { off: true }],
    ]
    const decoys: Record<string, unknown[]> = {
      payment: [cheap, [], '1'],
      payments: [[], [cheap], cheap],
      decision: ['dismiss'],
      dryRun: [true, 'true'],
    }
    const [proposals, audit] = [await countOf('proposals'), await countOf('audit')]
    for (const [path, body] of acts)
      for (const field of FIELDS) {
        if (field in body || fieldsAt(path).includes(field)) continue
        for (const value of decoys[field] ?? [null, '1']) {
          const { status, json } = await desk.post(path, { ...body, [field]: value })
          assert.equal(status, 400, `${path} with ${field}: ${JSON.stringify(json)}`)
          assert.match(json.error, new RegExp(`\\b${field}\\b`))
        }
      }
    assert.deepEqual([await countOf('proposals'), await countOf('audit')], [proposals, audit])
    assert.deepEqual(await stands(large), ['held', 'wrongAmount'])
    // What could not succeed now is refused as without the rule, and not stored.
    const answers = await Promise.all(acts.map(async ([path, body]) => (await desk.post(path, body)).status))
    assert.ok(
      answers.every((status) => [202, 400, 404, 409].includes(status)),
      answers.join(),
    )
    const stored = answers.filter((status) => status === 202).length
    assert.ok(stored > 8 && stored < acts.length, answers.join())
    assert.equal(await countOf('proposals'), proposals + stored)
    assert.deepEqual(await stands(large), ['held', 'wrongAmount'])
    await setRule(null)
  })

  it('is refused before a proposal if its payment’s identifier cannot be stored', async () => {
    await setRule(BOUND)
    const large = await held(LARGE + 3n)
    for (const odd of ['\0', '\ud800', { toString: 1 }]) {
      const payments = [large, odd]
      assert.equal((await desk.post('payments/refunds/prepare', { payments })).status, 400)
      const decided = await desk.post('payments/decide', { decision: 'release', payments, tierId: 'basic' })
      assert.equal(decided.status, 400)
    }
  })

  it('counts what it releases by the price of the tier that it is released in, if that is more', async () => {
    const cheap = await held(BASIC / 10n, 6)
    await setRule(BOUND)
    const dear = { tierId: 'founder' }
    await proposed(`payments/${cheap}/release`, dear)
    await proposed('payments/decide', { decision: 'release', payments: [cheap], ...dear })
    assert.equal((await desk.post(`payments/${cheap}/release`, { tierId: 'basic' })).status, 200)
    // A payment with its own tier is released in no other.
    await setRule(null)
    await desk.post('tiers/basic', { onSale: false, immediately: true })
    await desk.world.settle()
    const own = await held(BASIC, 6)
    assert.deepEqual(await stands(own), ['held', 'saleClosed'])
    await setRule(BOUND)
    const both = { decision: 'release', payments: [own], ...dear }
    assert.equal((await desk.post('payments/decide', both)).status, 200)
    await setRule(null)
    await desk.post('tiers/basic', { onSale: true })
    await desk.world.settle()
  })
})

describe('with the rule, a second person is needed', () => {
  before(() => setRule(BOUND))
  after(() => setRule(null))

  it('to allow a contract with more than the amount waiting, unless it is allowed already', async () => {
    const allow = (address: string, label = 'a fund') => ({ address, label, ...why })
    const allowed = async () =>
      (await desk.get('contract-wallets')).json.allowed.map(({ address }: { address: string }) => address)
    assert.equal((await desk.post('contract-wallets/allow', allow(CLUB))).status, 200)
    const id = await proposed('contract-wallets/allow', allow(GUILD))
    assert.deepEqual(await allowed(), [CLUB])
    assert.equal((await confirmed(id)).wallet.addedBy, 'ada')
    assert.deepEqual(await allowed(), [CLUB, GUILD])
    assert.equal((await desk.post('contract-wallets/allow', allow(GUILD, 'the same one'))).status, 200)
    assert.equal((await desk.post(`contract-wallets/${GUILD}/disallow`)).status, 200)
    // It also releases what was not judged yet.
    const judged = await desk.world.pool`
      UPDATE payments SET state = 'seen', reason = NULL WHERE from_address = ${GUILD} AND state = 'held'`
    assert.equal(judged.count, 3)
    await proposed('contract-wallets/allow', allow(GUILD))
  })

  it('to let more contracts buy; not to let fewer', async () => {
    const id = await proposed('contract-wallets', { mode: 'proven' })
    assert.equal((await confirmed(id)).mode, 'proven')
    await proposed('contract-wallets', { mode: 'all' })
    assert.equal((await desk.post('contract-wallets', { mode: 'proven' })).json.changed, false)
    assert.equal((await desk.post('contract-wallets', { mode: 'hold' })).json.changed, true)
    await proposed('contract-wallets', { mode: 'proven' })
  })

  it('to take a wallet off the deny list while more than the amount of it is held', async () => {
    const { world } = desk
    const deny = { address: world.at(10), label: 'exchange', ...why }
    const remove = `senders/${deny.address}/remove`
    assert.equal((await desk.post('senders', deny)).status, 200)
    await held(BASIC, 10)
    assert.equal((await desk.post(remove)).status, 200)
    assert.equal((await desk.post('senders', deny)).status, 200, 'to put it there takes none')
    const later = await held(BOUND, 10)
    assert.deepEqual(await stands(later), ['held', 'senderDenied'])
    // A payment that waits for room would be released without the act, too.
    await world.pool`UPDATE payments SET reason = 'walletLimit' WHERE tx_hash = ${later}`
    await proposed(remove, {})
    await world.pool`UPDATE payments SET reason = 'senderDenied' WHERE tx_hash = ${later}`
    const id = await proposed(remove, {})
    assert.equal((await confirmed(id)).removed, true)
  })

  it('to give up a refund of more than the amount', async () => {
    const [small, large] = [await held(BASIC + 7n), await held(LARGE + 7n)]
    assert.equal((await desk.post(`payments/${small}/refund/prepare`)).status, 200)
    await confirmed(await proposed(`payments/${large}/refund/prepare`, {}))
    assert.equal((await desk.post(`payments/${small}/refund/cancel`)).status, 200)
    const id = await proposed(`payments/${large}/refund/cancel`, {})
    assert.deepEqual(await stands(large), ['held', 'refunding'])
    assert.equal((await confirmed(id)).status, 'held')
    assert.deepEqual(await stands(large), ['held', 'wrongAmount'])
  })

  it('to identify the sender of a part of more than the amount by one’s word alone', async () => {
    const { world } = desk
    const { txHash, id } = await residue(LARGE)
    const part = (innerIndex: number) => ({ txHash, innerIndex, from: world.at(9), valueWei: BASIC.toString() })
    const unseen = await desk.post(`payments/${id}/attribute`, { transfers: [{ txHash }, part(1)] })
    assert.equal(unseen.status, 400, 'the trace shows no such transfer')
    const { innerTransfers } = world.ctx.chain
    Object.assign(world.ctx.chain, { innerTransfers: async () => null })
    const { proof, restWei } = await confirmed(await proposed(`payments/${id}/attribute`, part(1)))
    assert.deepEqual([proof, restWei], ['stated', (LARGE - BASIC).toString()])
    await proposed(`payments/${id}/attribute`, part(2))
    Object.assign(world.ctx.chain, { innerTransfers })
    const other = await residue(LARGE + 9n)
    const traced = await desk.post(`payments/${other.id}/attribute`, { txHash: other.txHash })
    assert.deepEqual([traced.status, traced.json.from, traced.json.status], [200, FORWARDER, 'held'])
  })

  it('to grant a node of a tier that costs more than the amount', async () => {
    const [basic, founder] = [await unpaidNode(13, 1), await unpaidNode(14, 3)]
    assert.equal((await desk.post(`nodes/${basic}/grant`, why)).status, 200)
    const id = await proposed(`nodes/${founder}/grant`, why)
    const open = async () =>
      (await desk.get('nodes/unpaid?open=true')).json.nodes.map((n: { nodeId: string }) => n.nodeId)
    assert.ok((await open()).includes(founder))
    assert.equal((await confirmed(id)).granted, true)
    assert.equal((await desk.post(`nodes/${founder}/grant`, why)).json.changed, false, 'it has one')
    assert.equal((await desk.post(`nodes/${founder}/revoke`, why)).status, 200)
    assert.equal((await desk.post('nodes/999999/grant', why)).status, 404)
  })

  it('to raise the amount that another person has lowered, or to switch off their rule', async () => {
    const LOWERED = BOUND - 2n
    const amount = (wei: bigint) => ({ aboveWei: wei.toString() })
    const cases: [was: bigint | null, asked: object, status: number, then: bigint][] = [
      [BOUND, amount(LOWERED + 1n), 409, LOWERED],
      [BOUND, amount(LOWERED), 200, LOWERED],
      [BOUND, amount(LOWERED - 1n), 200, LOWERED - 1n],
      [null, { off: true }, 409, LOWERED],
      [null, amount(LOWERED + 1n), 409, LOWERED],
    ]
    for (const [was, asked, status, then] of cases) {
      const what = `${was}, then ${JSON.stringify(asked)}`
      await setRule(was)
      const answers = await meetAt(
        desk.world.pool,
        // Delays both after they have seen that they need nobody.
        (sql) => sql`UPDATE ledger_state SET second_person_wei = second_person_wei`,
        [amount(LOWERED), asked].map((body) => () => desk.post('second-person', body)),
      )
      const statuses = answers.map((answer) => answer.status)
      assert.deepEqual(statuses, [200, status], what)
      assert.equal((await desk.get('second-person')).json.aboveWei, then.toString(), what)
    }
    await setRule(BOUND)
  })

  it('not by a proposal: an act that would be refused is refused immediately', async () => {
    const proposals = await countOf('proposals')
    for (const [path, body] of [
      [
        'payments/decide',
        {
          decision: 'release',
          payments: Array(101)
            .fill('x')
            .map((_, i) => `${i}`),
        },
      ],
      ['contract-wallets', { mode: 'some' }],
      ['second-person', { off: true, aboveWei: '1' }],
      ['terms', { before: 'sometime' }],
    ] as const)
      assert.equal((await desk.post(path, body)).status, 400, path)
    assert.equal(await countOf('proposals'), proposals)
  })
})
