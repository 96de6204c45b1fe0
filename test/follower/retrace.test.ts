// Residues are traced again: once their block can be traced they are replaced by what they were made of, unless somebody has decided about them.
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import { wei } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { dismissPayment } from '../../src/operator/decide.ts'
import {
  payInside,
  putForwarder,
  SPLITTER,
  splitterOf,
  innerStands as stands,
  storedInner as stored,
} from '../support/forwarder.ts'
import { worldTest } from '../support/in-world.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const PLUS = ETHER / 40n

const inWorld = worldTest({ prepare: (world) => putForwarder(world) })

describe('a residue', () => {
  const mute = (world: World) => world.instance({ chain: { ...world.ctx.chain, blockTransfers: async () => null } })
  const waitPast = (world: World) => world.pool`UPDATE residue_traces SET tried_at = now() - interval '2 days'`

  inWorld('is replaced by the payments that it was made of once its block can be traced', async (world) => {
    await world.chain.rpc('anvil_setCode', [SPLITTER, splitterOf(world.at(3), [BASIC, PLUS])])
    await world.chain.setBalance(SPLITTER, ETHER)
    await world.call(7, SPLITTER, '0x')
    await mute(world).payments()
    assert.deepEqual(await stands(world), [[BASIC + PLUS, 'held unattributed']])
    await world.payments()
    assert.deepEqual(await stands(world), [
      [BASIC, 'held contractWallet'],
      [PLUS, 'held contractWallet'],
      [BASIC + PLUS, 'orphaned unattributed'],
    ])
    const told = await world.pool`SELECT action FROM audit WHERE action = 'residueExplained'`
    assert.equal(told.length, 1)
    await world.settle()
    await checkInvariants(world)
  })

  inWorld('is tried again after a pause that grows, and costs nothing meanwhile', async (world) => {
    await payInside(world, BASIC)
    let asked = 0
    const chain: typeof world.ctx.chain = {
      ...world.ctx.chain,
      async blockTransfers() {
        asked++
        return null
      },
    }
    const { payments } = world.instance({ chain })
    for (let i = 0; i < 4; i++) await payments()
    assert.equal(asked, 2, 'as it is found, and once more')
    await waitPast(world)
    await payments()
    assert.equal(asked, 3)
    await waitPast(world)
    await world.payments()
    assert.deepEqual((await stands(world))[0], [BASIC, 'held contractWallet'])
  })

  inWorld('that was decided, or does not add up, stays', async (world) => {
    await payInside(world, BASIC)
    const { block } = await payInside(world, PLUS)
    await mute(world).payments()
    const [first] = await world.pool`SELECT id FROM payments WHERE value_wei = ${BASIC.toString()} AND tx_hash IS NULL`
    await dismissPayment({ pool: world.pool }, { name: 'ada', requestId: null }, { payment: String(first?.id) })
    const { blockTransfers } = world.ctx.chain
    const less: typeof blockTransfers = async (at, wallets) =>
      (await blockTransfers(at, wallets))?.map((transfer) => ({ ...transfer, valueWei: wei(1n) })) ?? null
    await world.instance({ chain: { ...world.ctx.chain, blockTransfers: less } }).payments()
    const both = [
      [BASIC, 'dismissed unattributed'],
      [PLUS, 'held unattributed'],
    ]
    assert.deepEqual(await stands(world), both)
    await waitPast(world)
    await world.payments()
    const [dismissed, ...rest] = await stored(world)
    assert.deepEqual([dismissed?.value, dismissed?.stands], [BASIC, 'dismissed unattributed'])
    assert.deepEqual(
      rest.map(({ value, block: at }) => [value, at]),
      [
        [PLUS, block],
        [PLUS, null],
      ],
    )
  })

  inWorld('and what replaced it go with their block, and come back told apart', async (world) => {
    await world.chain.mine()
    await world.payments()
    const { block } = await payInside(world, BASIC)
    await mute(world).payments()
    await world.payments()
    for (const instance of [world.instance(), mute(world), world.instance()]) {
      const cursor = (await readCursor(world.pool)) ?? assert.fail()
      await rewindTo(world.ctx, (await readBlock(world.pool, block - 1)) ?? assert.fail(), cursor)
      assert.ok((await stands(world)).every(([, stands]) => String(stands).startsWith('orphaned')))
      await waitPast(world)
      await instance.payments()
    }
    await world.settle()
    assert.deepEqual(
      (await stands(world)).filter(([, stands]) => !String(stands).startsWith('orphaned')),
      [[BASIC, 'held contractWallet']],
    )
    await checkInvariants(world)
  })
})
