// A part of blocks that a chain's fork makes unprovable: two providers that agree lower it, or an operator, once no provider proves it. The doctor
// asks for that. What is proven is never lowered, and what blocks prove again is required again.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { operatorDeps } from '../../src/boot/app.ts'
import { readHalt } from '../../src/db/blocks/halts.ts'
import { lowerProof, readProofStates } from '../../src/db/blocks/proofs.ts'
import { inTransaction } from '../../src/db/core/sql.ts'
import { PROVEN_PARTS } from '../../src/domain/observed.ts'
import type { Address } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { releasePayment } from '../../src/operator/acts/decide.ts'
import { clearHaltByHand } from '../../src/operator/acts/pause.ts'
import { lowerProofByHand } from '../../src/operator/acts/proofs.ts'
import { type FalseProvider, type Rule, startFalseProvider } from '../chain/false-provider.ts'
import { lieBody, other, type Wire } from '../follower/lies.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { startTwoProviders } from '../support/two-providers.ts'
import { ETHER, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const THIEF = `0x${'7e'.repeat(20)}` as Address
const operator = { name: 'a person', requestId: null }

let world: World
let first: FalseProvider
let second: FalseProvider
let alone: World
let only: FalseProvider
before(async () => {
  ;({ world, first, second } = await startTwoProviders())
  const between = async (target: string) => {
    only = await startFalseProvider(target)
    return { urls: [only.url], close: () => only.close() }
  }
  alone = await startWorld({}, { between })
  for (const { pay, chain, settle } of [world, alone]) {
    await pay(5, 1n)
    await chain.mine(6)
    await settle()
  }
})
afterEach(async () => {
  for (const provider of [first, second, only]) provider.rule = () => undefined
})
after(async () => {
  await alone.close()
  await world.close()
})

/** A fork to another tree: what a provider gives is no proof in the form that we know. */
const forkedState: Rule = async ({ method }, forward) => {
  const answer = await forward()
  if (method !== 'eth_getProof' || !('result' in answer)) return answer
  const proof = answer.result as Wire
  return { result: { ...proof, accountProof: (proof.accountProof as string[]).map(other) } }
}
const forkedHeader: Rule = async ({ method }, forward) => {
  const answer = await forward()
  if (!/^eth_getBlockBy/.test(method) || !('result' in answer) || !answer.result) return answer
  const header = answer.result as Wire
  return { result: { ...header, blockAccessListHash: header.stateRoot, mixHash: other(header.mixHash) } }
}

/** A run that has not asked the providers about this ledger yet. */
const payments = (of: World) => of.instance({ pool: new Proxy(of.pool, {}) }).payments()
const stateOf = async (of: World, part: 'header' | 'state') => (await readProofStates(of.pool)).get(part)
const checkedUpTo = async ({ pool }: World) => (await pool`SELECT audited_block AS block FROM wallet_books`)[0]?.block
const loweredBy = async ({ pool }: World) =>
  (await pool`SELECT actor, detail FROM audit WHERE action = 'proofLowered' ORDER BY id DESC LIMIT 1`)[0]

const lower = (input: object) => lowerProofByHand(operatorDeps(alone.ctx, alone.pool), operator, { ...input })
async function refusalOf(input: object): Promise<string> {
  const said = await lower(input)
  return isOperatorRefusal(said) ? said.message : ''
}
/** The doctor's verdict on the proofs. */
async function doctor() {
  const { out } = await runHere(['doctor', '--json'], { ...worldEnv(alone), RPC_URL: only.url })
  const findings: { check: string; verdict: string; todo: string | null }[] = JSON.parse(out).findings
  return findings.find(({ check }) => check === 'chain.proofs')
}

test('while blocks prove a part, no person lowers it', async () => {
  for (const part of PROVEN_PARTS) assert.match(await refusalOf({ part }), /^Block \d+ proves it/, part)
  assert.equal(await loweredBy(alone), undefined)
  assert.equal((await doctor())?.verdict, 'ok')
})

test('accounts that the only provider does not prove any more: nothing is checked until a person has them believed, for which the doctor asks', async () => {
  only.rule = forkedState
  await alone.chain.mine(6)
  const checked = await checkedUpTo(alone)
  await alone.payments()
  assert.deepEqual([await checkedUpTo(alone), await stateOf(alone, 'state')], [checked, undefined])
  const asked = await doctor()
  assert.equal(asked?.verdict, 'fail')
  assert.match(asked?.todo ?? '', /"node-ledger proofs lower state"/)
  const shown = await lower({ part: 'state', dryRun: true })
  assert.deepEqual(
    [isOperatorRefusal(shown) || shown.restsOn, await stateOf(alone, 'state'), await loweredBy(alone)],
    ['believed', undefined, undefined],
  )
  await lower({ part: 'state', reason: 'a fork' })
  assert.match(await refusalOf({ part: 'state' }), /already/)
  const lowered = await loweredBy(alone)
  assert.deepEqual([lowered?.actor, lowered?.detail.reason], ['a person', 'a fork'])
  await alone.payments()
  assert.ok((await checkedUpTo(alone)) > checked)
})

test('what was lowered is required again once blocks prove it', async () => {
  assert.equal(await stateOf(alone, 'state'), 'lowered')
  await alone.chain.mine(6)
  await payments(alone)
  assert.equal(await stateOf(alone, 'state'), 'askedFor')
})

test('accounts that one of two providers does not prove stay proven; once both give the same, two that agree are believed', async () => {
  first.rule = forkedState
  await world.chain.mine(6)
  await payments(world)
  assert.equal(await stateOf(world, 'state'), undefined)
  second.rule = forkedState
  await world.chain.mine(6)
  const checked = await checkedUpTo(world)
  for (let run = 0; run < 2; run++) await payments(world)
  assert.equal(await stateOf(world, 'state'), 'lowered')
  assert.equal((await loweredBy(world))?.actor, 'pass')
  assert.ok((await checkedUpTo(world)) > checked)
})

test('once lists are lowered, a wrong amount that is released waits until two providers name its sender', async () => {
  for (const part of ['header', 'transactions'] as const)
    await inTransaction(world.pool, (sql) => lowerProof(sql, part, { blockNumber: 1, by: 'test' }))
  const number = Number(await world.chain.rpc('eth_blockNumber')) + 1
  const txHash = await world.pay(6, BASIC + 7n)
  await world.chain.mine()
  first.rule = lieBody(world, number, ([tx]) => [{ ...tx, from: THIEF }])
  await world.payments()
  const standing = async () => {
    const [row] = await world.pool`SELECT state, from_address AS sender FROM payments WHERE tx_hash = ${txHash}`
    return [row?.state, row?.sender]
  }
  assert.deepEqual(await standing(), ['held', THIEF])
  assert.ok(!isOperatorRefusal(await releasePayment(world, operator, { payment: txHash, tierId: 'basic' })))
  for (let run = 0; run < 2; run++) {
    await world.chain.mine()
    await world.payments()
  }
  assert.deepEqual(await standing(), ['accepted', THIEF])
  assert.equal((await world.pool`SELECT FROM nodes WHERE owner = ${THIEF}`).count, 0)
})

test('clearing a halt shows first what comes of it, and changes nothing then', async () => {
  only.rule = forkedHeader
  await alone.chain.mine()
  await alone.payments()
  const deps = operatorDeps(alone.ctx, alone.pool)
  const shown = await clearHaltByHand(deps, operator, { dryRun: true })
  assert.equal(!isOperatorRefusal(shown) && shown.cleared.reason, 'unproven')
  assert.deepEqual([(await readHalt(alone.pool))?.reason, await stateOf(alone, 'header')], ['unproven', 'askedFor'])
  await clearHaltByHand(deps, operator, {})
  assert.deepEqual([await readHalt(alone.pool), await stateOf(alone, 'header')], [null, 'lowered'])
})
