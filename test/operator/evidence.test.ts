// What blocks are worth after a fork that this version does not know: a person has two providers believed, for which the doctor asks. While blocks
// prove themselves no person can, and once they do again a person has them proven again.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { operatorDeps } from '../../src/boot/app.ts'
import { readMode } from '../../src/db/blocks/evidence.ts'
import { readHalt } from '../../src/db/blocks/halts.ts'
import type { Address } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { releasePayment } from '../../src/operator/acts/decide.ts'
import { setEvidence } from '../../src/operator/acts/evidence.ts'
import { clearHaltByHand } from '../../src/operator/acts/pause.ts'
import type { FalseProvider, Rule } from '../chain/false-provider.ts'
import { hashed } from '../chain/prove/published.ts'
import { lieBody, other, type Wire } from '../follower/lies.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { digestsOfAll } from '../support/postgres.ts'
import { setModeTo, startAlone, startTwoProviders } from '../support/two-providers.ts'
import { ETHER, type World } from '../support/world.ts'

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
  ;({ world: alone, liar: only } = await startAlone())
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
  return { result: { ...header, fieldOfAFork: header.stateRoot, mixHash: other(header.mixHash) } }
}

const checkedUpTo = async ({ pool }: World) => (await pool`SELECT audited_block AS block FROM wallet_books`)[0]?.block
const set = (input: object) => setEvidence(operatorDeps(alone.ctx, alone.pool), operator, { ...input })
async function refusalOf(input: object): Promise<string> {
  const said = await set(input)
  return isOperatorRefusal(said) ? said.message : ''
}
const modeOf = async ({ pool }: World) => (await readMode(pool))?.mode
/** The doctor's finding about what blocks are worth. */
async function doctor() {
  const { out } = await runHere(['doctor', '--json'], { ...worldEnv(alone), RPC_URL: only.url })
  const findings: { check: string; verdict: string; says: string; todo: string | null }[] = JSON.parse(out).findings
  return findings.find(({ check }) => check === 'chain.evidence')
}

test('while blocks prove themselves, no person has them believed', async () => {
  assert.match(await refusalOf({ mode: 'agreed' }), /^No change: block \d+ proves itself/)
  assert.match(await refusalOf({ mode: 'proven' }), /^It is proven already, since block 0/)
  assert.equal((await doctor())?.verdict, 'ok')
})

test('doctor reports header fields that the hash covers and no release knows', async () => {
  await alone.chain.mine(6)
  only.rule = async ({ method }, forward) => {
    const { result } = (await forward()) as { result: Wire }
    if (method !== 'eth_getBlockByNumber' || !result || (result.transactions as unknown[]).length > 0) return undefined
    return { result: hashed({ ...result, fieldOfAFork: '0x1' }, ['fieldOfAFork']) }
  }
  const finding = await doctor()
  only.rule = () => undefined
  assert.deepEqual([finding?.verdict, finding?.says.includes('(fieldOfAFork)')], ['warn', true])
})

test('a false proof of the only provider leaves its wallet unchecked, and the service reports it', async () => {
  only.rule = forkedState
  await alone.chain.mine(6)
  const checked = await checkedUpTo(alone)
  await alone.payments()
  assert.deepEqual([await checkedUpTo(alone), await modeOf(alone)], [checked, 'proven'])
  assert.equal((await alone.pool`SELECT FROM audit WHERE action = 'proofFailed'`).count, 1)
  only.rule = () => undefined
  await alone.payments()
  assert.ok((await checkedUpTo(alone)) > checked)
})

test('headers without any proof are not followed until a person accepts them, as doctor requests', async () => {
  only.rule = forkedHeader
  await alone.chain.mine(6)
  await alone.payments()
  assert.equal((await readHalt(alone.pool))?.reason, 'unproven')
  const asked = await doctor()
  assert.equal(asked?.verdict, 'fail')
  assert.match(asked?.todo ?? '', /"node-ledger evidence set agreed"/)
  const deps = operatorDeps(alone.ctx, alone.pool)
  const halted = await digestsOfAll(alone.pool)
  const cleared = await clearHaltByHand(deps, operator, { dryRun: true })
  assert.deepEqual(await digestsOfAll(alone.pool), halted)
  assert.equal(!isOperatorRefusal(cleared) && cleared.cleared.reason, 'unproven')
  await clearHaltByHand(deps, operator, {})
  await alone.payments()
  assert.equal((await readHalt(alone.pool))?.reason, 'unproven', 'clearing it makes no block proven')
  const unset = await digestsOfAll(alone.pool)
  const shown = await set({ mode: 'agreed', dryRun: true })
  assert.deepEqual(await digestsOfAll(alone.pool), unset)
  assert.deepEqual([isOperatorRefusal(shown) || shown.restsOn, await modeOf(alone)], ['believed', 'proven'])
  await set({ mode: 'agreed', reason: 'a fork' })
  assert.match(await refusalOf({ mode: 'agreed' }), /already/)
  const [row] = await alone.pool`SELECT actor, detail FROM audit WHERE action = 'evidenceSet' ORDER BY id DESC LIMIT 1`
  assert.deepEqual([row?.actor, row?.detail.after, row?.detail.reason], ['a person', 'agreed', 'a fork'])
  const paid = await alone.pay(7, BASIC)
  for (let run = 0; run < 4; run++) {
    await alone.chain.mine()
    await alone.payments()
  }
  assert.equal(await readHalt(alone.pool), null)
  assert.equal((await alone.pool`SELECT state FROM payments WHERE tx_hash = ${paid}`)[0]?.state, 'minted')
})

test('once blocks prove themselves again, doctor reports it, and a person requires proofs', async () => {
  await alone.chain.mine(6)
  const asked = await doctor()
  assert.deepEqual([asked?.verdict, /"node-ledger evidence set proven"/.test(asked?.todo ?? '')], ['warn', true])
  await set({ mode: 'proven' })
  only.rule = forkedHeader
  await alone.chain.mine()
  await alone.payments()
  assert.equal((await readHalt(alone.pool))?.reason, 'unproven')
})

test('two providers that give the same false answers change no mode', async () => {
  for (const provider of [first, second]) provider.rule = forkedState
  await world.chain.mine(6)
  const checked = await checkedUpTo(world)
  for (let run = 0; run < 2; run++) await world.payments()
  assert.deepEqual([await checkedUpTo(world), await modeOf(world)], [checked, 'proven'])
  for (const provider of [first, second]) provider.rule = forkedHeader
  await world.chain.mine()
  for (let run = 0; run < 2; run++) await world.payments()
  assert.deepEqual([(await readHalt(world.pool))?.reason, await modeOf(world)], ['unproven', 'proven'])
})

test('without proofs of blocks, a released wrong amount waits until two providers agree on it', async () => {
  await world.settle()
  await setModeTo(world.pool, 'agreed')
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
