// Providers that answer queries of a wallet's state from another block than the requested one. The ledger files no ether that
// does not exist, finds what an honest one proves, and withdraws what it filed on a false answer once there are proofs.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { checkAgain } from '../../src/db/payments/wallet.ts'
import type { Call, FalseProvider, Rule } from '../chain/false-provider.ts'
import { startSibling, type TestChain } from '../support/anvil.ts'
import { payInside, putForwarder, traceNothing } from '../support/forwarder.ts'
import { checkInvariants } from '../support/invariants.ts'
import { startTwoProviders, throughTwo } from '../support/two-providers.ts'
import { ETHER, startWorld, type World } from '../support/world.ts'

const PAID = ETHER / 50n

let world: World
let first: FalseProvider
let second: FalseProvider
let richer: TestChain
before(async () => {
  ;({ world, first, second } = await startTwoProviders())
  traceNothing(world)
  await putForwarder(world)
  await world.settle()
  // The same chain, except that the wallet has one ether more.
  richer = await startSibling(world.chain)
  await richer.setBalance(
    world.at(3),
    BigInt(await world.chain.rpc<string>('eth_getBalance', [world.at(3), 'latest'])) + ETHER,
  )
  await richer.mine()
})
afterEach(async () => {
  for (const provider of [first, second]) provider.rule = () => undefined
  await world.pool`UPDATE residue_traces SET prove_at = now() WHERE prove_at IS NOT NULL`
  for (let run = 0; run < 3; run++) {
    await world.chain.mine()
    await world.payments()
  }
  await world.pool`DELETE FROM troubles WHERE name = 'trouble proof'`
  await checkInvariants(world)
})
after(async () => {
  await richer.stop()
  await world.close()
})

const isState = ({ method }: Call) => method === 'eth_getBalance' || method === 'eth_getProof'
/** Answers with the other chain's present state. */
const stateOfNow: Rule = async (call) =>
  isState(call) ? { result: await richer.rpc(call.method, [...call.params.slice(0, -1), 'latest']) } : undefined
/** The same, with a header that is a real block's. */
const foreign: Rule = async (call, forward) =>
  call.method === 'eth_getBlockByHash'
    ? { result: await richer.rpc('eth_getBlockByNumber', ['latest', false]) }
    : stateOfNow(call, forward)
const honest: Rule = () => undefined
const without =
  (rule: Rule): Rule =>
  (call, forward) =>
    call.method === 'eth_getProof'
      ? { error: { code: -32601, message: 'the method is not there' } }
      : rule(call, forward)
/** One ether too many. */
const moreBy =
  (wei: bigint): Rule =>
  async ({ method }, forward) => {
    const answer = await forward()
    if (method !== 'eth_getBalance' || !('result' in answer)) return answer
    return { result: `0x${(BigInt(answer.result as string) + wei).toString(16)}` }
  }
const [more, fewer] = [moreBy(ETHER), moreBy(-ETHER)]

interface Residue {
  value: bigint
  block: number
  proof: string
}
const residues = () => world.pool<Residue[]>`
  SELECT p.value_wei AS value, p.block_number AS block, v.evidence ->> 'proof' AS proof FROM payments p
  JOIN payment_verdicts v ON v.payment_id = p.id WHERE p.tx_hash IS NULL AND p.state <> 'orphaned' ORDER BY p.block_number, v.id`
const outflows = async () => (await world.pool`SELECT FROM wallet_outflows WHERE tx_hash IS NULL`).count
const checkedUpTo = async () => (await world.pool`SELECT audited_block AS block FROM wallet_books`)[0]?.block
const failures = async () =>
  (
    await world.pool<{ detail: { part: string; host: string } }[]>`
      SELECT detail FROM audit WHERE action = 'proofFailed' ORDER BY id`
  ).map(({ detail }) => [detail.part, detail.host])
const withdrawn = async () => (await world.pool`SELECT FROM audit WHERE action = 'residueWithdrawn'`).count
const alone = () => world.instance({ chain: world.ctx.chain.providers[0] ?? assert.fail('no provider') })

for (const [name, rule] of [
  ['the state of another block', stateOfNow],
  ['another block and its state', foreign],
] as const)
  test(`the only provider files nothing by ${name}`, async () => {
    first.rule = rule
    await world.chain.mine()
    const checked = await checkedUpTo()
    await alone().payments()
    assert.deepEqual([(await residues()).length, await outflows(), await checkedUpTo()], [0, 0, checked])
  })

test('T28: beside an honest provider a false balance files nothing, and its host is reported', async () => {
  for (const [liar, rule, name] of [
    [first, stateOfNow, 'first'],
    [second, foreign, 'second'],
  ] as const) {
    const [known, told] = [await residues(), await failures()]
    liar.rule = rule
    // From then on a liar is the last choice.
    await world.chain.mine()
    const { block } = await payInside(world, PAID)
    await world.payments()
    assert.equal(await checkedUpTo(), block, name)
    assert.deepEqual((await residues()).slice(known.length), [{ value: PAID, block, proof: 'proven' }])
    await world.chain.mine()
    await world.payments()
    liar.rule = honest
    const since = (await failures()).slice(told.length)
    assert.ok(since.length === 0 || since.every((one) => one.join() === `state,${new URL(liar.url).host}`))
    if (liar === first) assert.equal(since.length, 1)
  }
})

test('without proofs two providers must agree', async () => {
  first.rule = without(stateOfNow)
  second.rule = without(honest)
  const [known, checked] = [(await residues()).length, await checkedUpTo()]
  const { block } = await payInside(world, PAID)
  await world.payments()
  assert.deepEqual([(await residues()).length, await checkedUpTo()], [known, checked])
  first.rule = without(honest)
  await world.payments()
  assert.deepEqual((await residues()).slice(known), [{ value: PAID, block, proof: 'agreed' }])
  assert.equal(await checkedUpTo(), block)
  first.rule = honest
  await world.payments()
  assert.deepEqual([(await residues()).length, await withdrawn()], [known + 1, 0], 'the proof says the same')
  assert.equal((await world.pool`SELECT FROM residue_traces WHERE prove_at IS NOT NULL`).count, 0)
})

test('a single provider is believed with a report, and a proof withdraws what it contradicts', async () => {
  const known = (await residues()).length
  first.rule = without(more)
  const { block } = await payInside(world, PAID)
  await alone().payments()
  const [filed, ...others] = (await residues()).slice(known)
  assert.deepEqual([filed?.proof, others], ['believed', []])
  assert.equal(filed?.value, PAID + ETHER)
  first.rule = honest
  await world.payments()
  assert.deepEqual([await withdrawn(), await outflows()], [1, 0])
  assert.deepEqual((await residues()).slice(known), [{ value: PAID, block, proof: 'proven' }])
})

test('an untrusted single provider files nothing unproven, which the service reports', async () => {
  const [chain] = world.ctx.chain.providers
  const careful = world.instance({ ...(chain && { chain }), rules: { trustsProvider: false } })
  const [known, left, checked] = [await residues(), await outflows(), await checkedUpTo()]
  for (const rule of [more, fewer]) {
    first.rule = without(rule)
    await world.chain.mine()
    await careful.payments()
    assert.deepEqual([await residues(), await outflows(), await checkedUpTo()], [known, left, checked])
    const rows = await world.pool`SELECT detail FROM audit WHERE action = 'proofFailed' ORDER BY id DESC LIMIT 1`
    assert.match(rows[0]?.detail.says, /^no provider proves the balance of 0x[0-9a-f]{40}: they report \d+ wei/)
    await world.pool`DELETE FROM troubles WHERE name = 'trouble proof'`
  }
  first.rule = honest
  await careful.payments()
  assert.ok((await checkedUpTo()) > checked)
})

test('so is ether that a provider reported as gone', async () => {
  const [known, before] = [await residues(), await withdrawn()]
  first.rule = without(fewer)
  await world.chain.mine()
  await alone().payments()
  assert.equal(await outflows(), 1)
  first.rule = honest
  await world.payments()
  assert.deepEqual([await withdrawn(), await outflows()], [before + 1, 0])
  assert.deepEqual(await residues(), known)
})

test('a residue that the operator has decided stays', async () => {
  const before = await withdrawn()
  first.rule = without(more)
  await world.chain.mine()
  await alone().payments()
  first.rule = honest
  await world.pool`UPDATE payments SET state = 'dismissed' WHERE tx_hash IS NULL AND value_wei = ${ETHER.toString()}`
  await world.payments()
  assert.equal(await withdrawn(), before)
})

test('a proof corrects a false balance at the beginning, and leaves no residue of it', async () => {
  const { between, providers } = throughTwo()
  const other = await startWorld({ startBlock: 4 }, { between })
  try {
    for (let block = 0; block < 5; block++) await other.chain.mine()
    const [liar] = providers as [FalseProvider]
    liar.rule = without(more)
    await other.instance({ chain: other.ctx.chain.providers[0] ?? assert.fail('no provider') }).payments()
    liar.rule = honest
    for (let run = 0; run < 4; run++) {
      await other.chain.mine()
      await other.payments()
    }
    const left = await other.pool`SELECT FROM wallet_outflows WHERE tx_hash IS NULL`
    const [books] = await other.pool`SELECT base_wei AS wei, audited_proof AS proof FROM wallet_books`
    assert.deepEqual([left.count, books?.proof], [0, 'proven'])
    assert.equal(books?.wei, BigInt(await other.chain.rpc<string>('eth_getBalance', [other.at(3), '0x3'])))
    await checkInvariants(other)
  } finally {
    await other.close()
  }
})

test('a false residue and what offsets it in its block are withdrawn as one difference', async () => {
  const [known, gone, left] = [(await residues()).length, await withdrawn(), await outflows()]
  first.rule = without(more)
  const { block } = await payInside(world, PAID)
  await alone().payments()
  // The provider gives no proof, so the next comparison is due in ten minutes.
  await world.chain.mine()
  await alone().payments()
  assert.equal((await residues()).at(-1)?.value, PAID + ETHER)
  first.rule = honest
  // As after the withdrawal of another residue.
  await checkAgain(world.pool, world.at(3), null)
  for (let run = 0; run < 2; run++) {
    await world.chain.mine()
    await world.payments()
  }
  assert.deepEqual([await withdrawn(), await outflows()], [gone + 1, left])
  assert.deepEqual((await residues()).slice(known), [{ value: PAID, block, proof: 'proven' }])
})
