// Two providers before one chain: what one of them cannot do, the other does.
import assert from 'node:assert/strict'
import type { Call } from '../support/faults/names.ts'
import { attemptsOf, isOneNode, lastAttempt, paid, play } from './stage.ts'

const { act } = play({ rpcTimeoutMs: 2_000, providers: 2 })

act(
  'F29: one of two providers swallows every send: the other one has it mined at once',
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
  'F30: one of two providers lost a block: the other one is asked, in the same run',
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
  'F31: one of two providers answers nothing but errors: nobody notices',
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
