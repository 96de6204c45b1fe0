// If a minter's ether does not pay for the whole batch, it mints what it can pay for. The funds check and the doctor
// warn by the waiting batch, not by a usual transaction.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runHere, worldEnv } from '../support/cli.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const BUYERS = 30
/** Enough gas for about a third of them. */
const GAS = 900_000n

let world: World
before(async () => {
  world = await startWorld()
  await world.settle()
  // The service has measured a transaction's usual gas, which is little.
  await world.pay(5, BASIC)
  await world.settle()
})
after(() => world.close())

const minter = () => world.ctx.minter ?? assert.fail('no minter')
const count = async (state: string) => (await world.pool`SELECT FROM payments WHERE state = ${state}`).count

let purse = 0n

test('the doctor fails a minter who cannot pay for the mint that waits', async () => {
  purse = await minter().balance()
  for (let i = 0; i < BUYERS; i++) await world.pay(5 + (i % 15), BASIC)
  await world.chain.mine()
  await world.chain.setBalance(minter().address, 1_000n)
  await world.payments()
  assert.equal(await count('accepted'), BUYERS)

  const { maxFeeWei } = await minter().fees()
  await world.chain.setBalance(minter().address, GAS * maxFeeWei)
  const { findings } = JSON.parse((await runHere(['doctor', '--json'], worldEnv(world))).out)
  const found = findings.find(({ check }: { check: string }) => check === 'funds.minter')
  assert.equal(found.verdict, 'fail', JSON.stringify(found))
})

test('a batch beyond the minter’s ether is sent as far as it goes, in few tries, with a warning', async () => {
  let estimates = 0
  const estimate: ReturnType<typeof minter>['estimate'] = (call) => {
    estimates++
    return minter().estimate(call)
  }
  await world.instance({ minter: { ...minter(), estimate }, rules: { fundsWarnTransactions: 1 } }).payments()
  const sent = await count('minting')
  assert.ok(sent >= 5 && sent <= 12, `${sent} of ${BUYERS}`)
  assert.ok(estimates <= 3, `${estimates} estimates`)
  const [funds] = await world.pool`SELECT value FROM troubles WHERE name = 'funds minter'`
  assert.equal(funds?.value.low, true)
  assert.ok(BigInt(funds?.value.neededWei) > (await minter().fees()).maxFeeWei * 80_000n * BigInt(BUYERS))

  await world.chain.mine()
  await world.payments()
  assert.equal(await count('minted'), 1 + sent)
  await world.chain.setBalance(minter().address, purse)
  await world.rest()
  assert.equal(await count('minted'), 1 + BUYERS)
  await checkInvariants(world)
})
