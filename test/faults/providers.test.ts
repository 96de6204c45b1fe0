// Two providers before one chain: the other one does the work that one cannot.
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import type { Call } from '../support/faults/names.ts'
import { attemptsOf, isOneNode, lastAttempt, paid, play } from './stage.ts'

const STAGE = { rpcTimeoutMs: 2_000, providers: 2 }
const { act } = play(STAGE)

/** More blocks than the first provider is ever shown to lag, and the seconds between two of them. */
const [LAG_BLOCKS, LAG_SEC] = [10, 40]

act(
  'F29: one of two providers swallows every send: the other one gets it mined immediately',
  ['swallowed'],
  async ({ world, proxy }) => {
    proxy.inject('swallowed', { times: 100 })
    const payment = await paid(world)
    await world.payments()
    assert.equal((await lastAttempt(world)).outcome, 'accepted')
    await world.chain.mine()
    await world.payments()
    await isOneNode(world, payment)
  },
)

act(
  'F30: one of two providers lost a block: the run reads it from the other one',
  ['missingBlock'],
  async ({ world, proxy }) => {
    const payment = await paid(world)
    await world.payments()
    await world.chain.mine()
    proxy.inject('missingBlock', { where: ({ params }: Call) => params[1] === true, times: 100 })
    await world.payments()
    await isOneNode(world, payment)
  },
)

act(
  'F31: one of two providers answers nothing but errors: no caller notices',
  ['unavailable'],
  async ({ world, proxy }) => {
    proxy.inject('unavailable', { times: 1_000 })
    const before = (await attemptsOf(world)).length
    const payment = await paid(world)
    await world.payments()
    await world.chain.mine()
    await world.payments()
    await isOneNode(world, payment)
    assert.equal((await attemptsOf(world)).length, before + 1)
  },
)

describe('with a first provider that has not failed', () => {
  play(STAGE).act(
    'F48: the first provider’s head is stale: the run follows and sends through the other one',
    ['staleHead'],
    async ({ world, proxy }) => {
      proxy.inject('staleHead', { times: 10_000 })
      const payment = await paid(world)
      for (let run = 0; run < 2; run++) {
        // However far behind the first one shows its head, it is more than half a minute.
        await world.chain.mine(LAG_BLOCKS, LAG_SEC)
        await world.payments()
        assert.equal((await readCursor(world.pool))?.number, Number((await world.chain.block()).number))
      }
      await isOneNode(world, payment)
    },
  )
})
