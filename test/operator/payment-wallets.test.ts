// The payments wallet on a real chain: an act changes it, instances that started with another one notice, the old one
// is still watched, and some changes are refused.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { operatorDeps } from '../../src/boot/app.ts'
import { StartError } from '../../src/boot/preflight.ts'
import { lockWallets } from '../../src/db/sale/payment-wallets.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { changeWallet } from '../../src/operator/acts/payment-wallets.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { meetAt, openDatabase } from '../support/postgres.ts'
import { startOn } from '../support/start.ts'
import { ETHER, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const GRACE_SEC = 900
const ADA = { name: 'ada', requestId: null }

describe('the payments wallet', () => {
  let desk: Desk
  let world: World
  before(async () => {
    desk = await startDesk()
    world = desk.world
    await world.settle()
  })
  after(() => desk.close())

  const told = (txHash: `0x${string}`) => standingOf(world, txHash as Hash)
  const quoted = async () => (await desk.service.get('/.well-known/node-ledger.json')).json.paymentAddress
  const known = async (): Promise<{ wallet: Address; state: string }[]> =>
    (await desk.get('payment-wallets')).json.wallets
  const inForce = async () => (await known()).find(({ state }) => state === 'inForce')?.wallet
  const close = () => desk.post('payment-wallets/close', { address: world.at(3) })
  async function change(to: Address, fields: object = {}) {
    const done = await desk.post('payment-wallets', { address: to, ...fields })
    assert.equal(done.status, 200, done.text)
    lastTime = done.json.fromTime
    return done.json
  }
  /** When the last change takes effect. The more time the blocks before took, the later. */
  let lastTime = 0
  async function letHold() {
    await world.chain.increaseTime(lastTime - Number((await world.chain.block()).timestamp))
    await world.chain.mine(65)
    await world.payments()
  }

  it('is no account that sends, no factory, present or former, and no contract without traces', async () => {
    const refused = async (address: Address) => (await desk.post('payment-wallets', { address })).json.error
    assert.match(await refused(world.at(1)), /minter's own account/)
    assert.match(await refused(world.at(2)), /distributor's own account/)
    assert.match(await refused(world.factory), /the factory itself/)
    assert.match(await refused(world.at(3)), /already/)
    const { contract } = world.ctx
    const blind = {
      ...contract,
      walletFacts: async (of: Address) => ({ ...(await contract.walletFacts(of)), isTraceable: false }),
    }
    const unseen = await changeWallet(operatorDeps({ ...world.ctx, contract: blind }, world.pool), ADA, {
      address: world.token,
    })
    assert.ok(isOperatorRefusal(unseen) && /has code/.test(unseen.message), JSON.stringify(unseen))
    assert.equal((await desk.post('payment-wallets', { address: world.token, dryRun: true })).status, 200)
    assert.equal((await known()).length, 1)
  })

  it('is previewed, applies after 64 blocks and five minutes, and the old one has its grace', async () => {
    const now = await world.chain.block()
    const preview = await desk.post('payment-wallets', { address: world.at(12), dryRun: true })
    assert.equal(preview.status, 200, preview.text)
    assert.equal((await known()).length, 1)
    assert.equal((await close()).status, 409, 'it is in force')
    const { fromBlock, fromTime, graceUntil } = await change(world.at(12))
    assert.equal(fromBlock, Number(now.number) + 64)
    assert.ok(fromTime >= Number(now.timestamp) + 300)
    assert.equal(graceUntil, fromTime + GRACE_SEC)
    assert.equal(await inForce(), world.at(3))
    await letHold()
    assert.deepEqual([await inForce(), await quoted()], [world.at(12), world.at(12)])
    assert.deepEqual(
      (await world.pool`SELECT actor FROM audit WHERE action = 'walletChanged'`).map((row) => row.actor),
      ['ada'],
    )
    const [late, fresh] = [await world.pay(5, BASIC), await world.pay(6, BASIC, world.at(12))]
    await world.settle()
    assert.deepEqual([await told(late), await told(fresh)], ['minted', 'minted'])
    assert.equal((await close()).status, 409, 'its payments still buy')
  })

  it('that is old holds payments after the grace, until its books are closed', async () => {
    await world.chain.increaseTime(GRACE_SEC)
    const tooLate = await world.pay(7, BASIC)
    // A transfer between our own wallets is no sale.
    const moved = await world.chain.send({ from: world.at(3), to: world.at(12), value: `0x${BASIC.toString(16)}` })
    await world.settle()
    assert.deepEqual([await told(tooLate), await told(moved as Hash)], ['held oldWallet', 'ignored self'])
    assert.equal((await desk.get('payments?reason=oldWallet')).json.payments.length, 1)
    const closed = await close()
    assert.equal(closed.status, 200, closed.text)
    const unseen = await world.pay(7, BASIC)
    await world.settle()
    assert.equal(await told(unseen), 'unseen')
    // The follower reads its last block for it again after a reorganisation.
    const [row] = await world.pool`SELECT closed_block AS block FROM payment_wallets WHERE wallet = ${world.at(3)}`
    assert.equal(row?.block, closed.json.closedBlock)
    assert.equal((await close()).status, 409)
  })

  it('is watched from the next block on by every instance, under any start', async () => {
    // The other instance has already read a range for only the old wallet, and stores it after the change.
    const { chain } = world.ctx
    let paid: `0x${string}` | null = null
    const observe: typeof chain.observe = async (...asked) => {
      const range = await chain.observe(...asked)
      if (paid === null) {
        paid = '0x'
        await change(world.at(17))
      }
      return range
    }
    const hash = await world.pay(5, BASIC, world.at(17))
    await world.chain.mine()
    await world.instance({ chain: { ...chain, observe } }).payments()
    assert.notEqual(await told(hash), 'unseen')
    await world.settle()
    assert.equal(await told(hash), 'minted')
  })
})

describe('a start', () => {
  let desk: Desk
  let world: World
  before(async () => {
    desk = await startDesk()
    world = desk.world
    await world.settle()
  })
  after(() => desk.close())

  it('never changes a ledger’s wallet: another one is reported and ignored', async () => {
    const lines = await startOn(world, { PAYMENT_ADDRESS: world.at(12) })
    assert.match(lines.join('\n'), /PAYMENT_ADDRESS: ignored/)
    assert.deepEqual(
      (await world.pool`SELECT wallet FROM payment_wallets`).map((row) => row.wallet),
      [world.at(3)],
    )
    assert.doesNotMatch((await startOn(world, {})).join('\n'), /PAYMENT_ADDRESS/)
    const { out } = await runHere(['doctor', '--json'], { ...worldEnv(world), PAYMENT_ADDRESS: world.at(12) })
    assert.match(out, /PAYMENT_ADDRESS: ignored/)
  })

  it('is no way to change it, the command line is', async () => {
    const env = worldEnv(world)
    const changed = await runHere(['wallets', 'set', world.at(13), '--stolen', '--yes'], env)
    assert.equal(changed.code, 0, changed.err)
    assert.match(changed.out, new RegExp(`Buyers pay to ${world.at(13)} from block`))
    assert.doesNotMatch((await startOn(world, { PAYMENT_ADDRESS: world.at(12) })).join('\n'), /PAYMENT_ADDRESS/)
    await world.settle()
    await world.payments()
    assert.match((await runHere(['wallets', 'list'], env)).out, new RegExp(`${world.at(13)} +inForce`))
    assert.equal((await runHere(['wallets', 'set', world.at(14), '--yes'], env)).code, 0)
    const back = await runHere(['wallets', 'cancel', world.at(14), '--yes'], env)
    assert.match(back.out, new RegExp(`Cancelled. Buyers keep paying to ${world.at(13)}`), back.err)
    const closed = await runHere(['wallets', 'close', world.at(3), '--yes'], env)
    assert.equal(closed.code, 0, closed.err)
    assert.match(closed.out, /Closed at block/)
    assert.notEqual((await runHere(['wallets', 'close', world.at(13), '--yes'], env)).code, 0)
  })

  it('enters the first one, by one of two simultaneous starts, and refuses a hot key', async () => {
    await using database = await openDatabase(4, { prepare: false })
    const { pool } = database
    await assert.rejects(startOn(world, { PAYMENT_ADDRESS: world.at(1) }, pool), (error) => {
      assert.ok(error instanceof StartError)
      return /minter's own account/.test(error.message)
    })
    assert.equal((await pool`SELECT FROM payment_wallets`).count, 0)
    const start = (account: number) => () => startOn(world, { PAYMENT_ADDRESS: world.at(account) }, pool)
    const both = await meetAt(pool, lockWallets, [3, 12].map(start))
    assert.equal(both.flat().filter((line) => line.includes('PAYMENT_ADDRESS: ignored')).length, 1)
    assert.equal((await pool`SELECT FROM payment_wallets`).count, 1)
    assert.equal((await pool`SELECT FROM audit WHERE action = 'walletChanged'`).count, 1)
  })
})
