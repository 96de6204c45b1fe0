// Every instance hears of a pass's changes, and from then on reads again instead of answering from memory.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connect, type Pool } from '../../src/db/core/sql.ts'
import { ETHER, INTERVAL_SEC, paymentOf, startWorld, type World } from '../support/world.ts'

let world: World
let listener: Pool
const heard: string[] = []
let onHeard = () => {}
before(async () => {
  world = await startWorld()
  await world.settle()
  listener = connect(world.directUrl, { max: 1, prepare: false, applicationName: 'test' })
  await listener.listen('ledger', (word) => {
    heard.push(word)
    onHeard()
  })
})
after(async () => {
  await listener.end({ timeout: 1 })
  await world.close()
})

/** Sends a word, and waits until it arrives, and with it everything sent before. */
async function say(word: string): Promise<void> {
  const end = new Promise<void>((resolve) => {
    onHeard = () => heard.includes(word) && resolve()
  })
  await world.pool`SELECT pg_notify('ledger', ${word})`
  await end
}

/** Number of notifications while `body` ran. */
async function toldBy(body: () => Promise<unknown>): Promise<number> {
  await say('begin')
  heard.length = 0
  await body()
  await say('end')
  return heard.indexOf('end')
}

test('a payment, its mint, and a reorg of both are signalled, empty blocks are not', async () => {
  const paid = await world.pay(5, ETHER / 100n)
  await world.chain.mine()
  assert.ok((await toldBy(world.payments)) > 0, 'a payment')
  await world.chain.mine()
  assert.ok((await toldBy(world.credit)) > 0, 'a mint, by a pass that does nothing but follow')
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
  await world.chain.mine()
  assert.equal(await toldBy(world.credit), 0, 'nothing')
  await world.chain.reorg(2)
  assert.ok((await toldBy(world.credit)) > 0, 'a reorganisation')
  await world.settle()
})

test('a withdrawal, its loss in a reorg, and dust are signalled, though no payment moves', async () => {
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  await world.act(5, 'withdraw', [1n, world.at(9), 1n])
  assert.ok((await toldBy(world.credit)) > 0, 'a withdrawal')
  await world.chain.reorg(1)
  assert.ok((await toldBy(world.credit)) > 0, 'the withdrawal is gone')
  await world.pay(6, 1n)
  await world.chain.mine()
  assert.ok((await toldBy(world.credit)) > 0, 'dust')
})
