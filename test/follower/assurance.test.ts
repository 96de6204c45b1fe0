// What a payment rests on, as its page says it: its block's hash is the chain's own once the contract, or two providers, have named it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { LEDGER_CHECKS } from '../../src/cli/doctor/ledger.ts'
import { lowerProof } from '../../src/db/blocks/proofs.ts'
import { inTransaction } from '../../src/db/core/sql.ts'
import { readPaymentsIn } from '../../src/db/reads/public-payments.ts'
import { LEARNT } from '../../src/domain/observed.ts'
import type { Hash } from '../../src/domain/units.ts'
import type { FalseProvider } from '../chain/false-provider.ts'
import { endLies, startTwoProviders } from '../support/two-providers.ts'
import { ETHER, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let world: World
let second: FalseProvider
before(async () => {
  const parts = await startTwoProviders()
  ;({ world, second } = parts)
  await endLies(parts, LEARNT)
  await world.settle()
})
after(() => world.close())

const assuranceOf = async (txHash: Hash) =>
  JSON.parse((await readPaymentsIn(world.pool, txHash))?.json ?? '{}').assurance

test('a payment is linked until the contract has carried out a mint that is bound to its block or a later one', async () => {
  const txHash = await world.pay(7, BASIC)
  await world.chain.mine()
  await world.payments()
  assert.equal(await assuranceOf(txHash), 'linked')
  await world.settle()
  assert.equal(await assuranceOf(txHash), 'proven')
})

test('without a mint, a payment is linked until two providers call its block, or a later one, final', async () => {
  const { payments } = world.instance({ minter: null })
  const txHash = await world.pay(7, BASIC)
  await world.chain.mine(70)
  second.rule = ({ params }) => (params[0] === 'finalized' ? { result: null } : undefined)
  for (let run = 0; run < 2; run++) await payments()
  assert.equal(await assuranceOf(txHash), 'linked')
  second.rule = () => undefined
  await payments()
  assert.equal(await assuranceOf(txHash), 'proven')
  await world.settle()
})

test('the doctor names the parts of blocks that are believed, and nothing while all are proven', async () => {
  const look = async () => LEDGER_CHECKS['ledger.proofs']?.({ pool: world.pool } as never)
  assert.equal(await look(), null)
  await inTransaction(world.pool, (sql) => lowerProof(sql, 'receipts', { blockNumber: 7, by: 'pass' }))
  const found = (await look()) as { says: string; warn: string }
  assert.match(found.says, /receipts since block 7 \(by pass\)/)
  assert.ok(found.warn)
})
