// `node-ledger payments attribute`: splits a residue on the command line, and `payments show` lists the parts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runHere, worldEnv } from '../support/cli.ts'
import { SPLITTER, splitterOf, traceNothing } from '../support/forwarder.ts'
import { ETHER, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let world: World
before(async () => {
  world = traceNothing(await startWorld())
  await world.chain.rpc('anvil_setCode', [SPLITTER, splitterOf(world.at(3), [BASIC, BASIC * 2n])])
  await world.chain.setBalance(SPLITTER, ETHER)
  await world.settle()
})
after(() => world.close())

test('the command splits a residue, reports what remains, and shows the parts', async () => {
  const txHash = await world.call(7, SPLITTER, '0x')
  await world.settle()
  const [residue] = await world.pool`SELECT id FROM payments WHERE tx_hash IS NULL`
  const id = String(residue?.id)
  const run = (...argv: string[]) => runHere(['payments', ...argv], worldEnv(world))
  const vague = await run('attribute', id, '--transfers', txHash, '--yes')
  assert.deepEqual([vague.code, /choose one by its place/.test(vague.err)], [2, true], vague.err)
  const none = await run('attribute', id, '--yes')
  assert.deepEqual([none.code, /--tx-hash is required/.test(none.err)], [2, true], none.err)
  const part = await run('attribute', id, '--tx-hash', txHash, '--inner-index', '2', '--yes')
  assert.equal(part.code, 0, part.err)
  assert.match(part.out, new RegExp(`0\\.02 ETH came from ${SPLITTER}, inner transfer 2 of ${txHash}`))
  assert.match(part.out, /0\.01 ETH of it still have no sender/)
  const shown = await run('show', id)
  assert.match(shown.out, new RegExp(`parts\\s+id\\s+\\d+\\s+txHash\\s+${txHash}`))
  const rest = await run('attribute', id, '--transfers', `${txHash}#1`, '--yes')
  assert.equal(rest.code, 0, rest.err)
  assert.doesNotMatch(rest.out, /still have no sender/)
})
