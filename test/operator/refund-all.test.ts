// All payments that are held for a reason and were paid before a time: their refunds are prepared by one act, with files to the wei. What has to be
// paid back is counted here from what the test itself paid.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { recordIdentity } from '../../src/db/core/state.ts'
import { lockPayers } from '../../src/db/payments/lock-order.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { batchesOf, TRANSFERS_MAX } from '../../src/operator/acts/refunds/safe-batch.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { type Desk, KEYS, startDesk } from '../support/operator.ts'
import { meetAt } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { twice } from '../support/two-providers.ts'
import { ETHER, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const FAR = 2 ** 40 - 1

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk({}, { between: twice })
  world = desk.world
  const { chain, factory } = world
  await recordIdentity(world.pool, { chainId: chain.chainId, genesisHash: '0x', factory, startBlock: 1 })
})
after(() => desk.close())

interface Paid {
  txHash: Hash
  from: Address
  valueWei: bigint
}
/** Payments of these amounts, which no tier has: [account, wei]. */
async function pay(...each: [account: number, valueWei: bigint][]): Promise<Paid[]> {
  const paid: Paid[] = []
  for (const [account, valueWei] of each)
    paid.push({ txHash: await world.pay(account, valueWei), from: world.at(account), valueWei })
  await world.settle()
  for (const { txHash } of paid) assert.equal(await standingOf(world, txHash), 'held wrongAmount')
  return paid
}
async function finalize(): Promise<void> {
  for (let i = 0; i < 66; i++) await world.chain.mine()
  await world.payments()
}
const headTime = async () => Number((await world.chain.block()).timestamp)
const all = (body: object, options?: object) =>
  desk.post('payments/refunds/prepare-all', { heldFor: 'wrongAmount', ...body }, options)

/** The sum, counted coin by coin. */
function owed(paid: readonly Paid[]): string {
  let wei = 0n
  for (const { valueWei } of paid) wei += valueWei
  return String(wei)
}
interface File {
  transactions: { to: string; value: string }[]
}
/** What the files pay, as payer and wei, in their order. */
const paysOf = (files: readonly File[]) =>
  files.flatMap(({ transactions }) => transactions.map(({ to, value }) => [to.toLowerCase(), value]))
const oweEach = (paid: readonly Paid[]) => paid.map(({ from, valueWei }) => [from, String(valueWei)])

test('all that is held for a reason and older is prepared to the wei, after a preview', async () => {
  const late = await pay([5, BASIC - 1n], [6, BASIC - 2n], [5, BASIC - 1n])
  // Blocks of one second have one time.
  await world.chain.increaseTime(1)
  await finalize()
  const before = await headTime()
  const young = await pay([7, BASIC - 4n])
  const dry = await all({ before, dryRun: true })
  const { count, sumWei, sendNowWei, safeBatches } = dry.json
  assert.deepEqual([count, sumWei, sendNowWei, safeBatches], [3, owed(late), owed(late), []], dry.text)
  for (const { txHash } of [...late, ...young]) assert.equal(await standingOf(world, txHash), 'held wrongAmount')

  assert.equal((await all({ before })).status, 400, 'without the sum of the preview')
  const other = await all({ before, sumWei: String(BigInt(owed(late)) + 1n) })
  assert.deepEqual([other.status, /is \d+ wei now, not/.test(other.json.error)], [409, true])
  const done = await all({ before, sumWei: owed(late) })
  assert.deepEqual(paysOf(done.json.safeBatches), oweEach(late), done.text)
  assert.deepEqual([done.json.sendNowWei, done.json.remaining], [owed(late), 0])
  for (const { txHash } of late) assert.equal(await standingOf(world, txHash), 'held refunding')
  for (const { txHash } of young) assert.equal(await standingOf(world, txHash), 'held wrongAmount')

  const next = await all({ before, dryRun: true })
  assert.deepEqual([next.json.count, next.json.sendNowWei], [0, '0'], 'a file pays them')
  const again = await all({ before, again: true, sumWei: owed(late) })
  assert.deepEqual(paysOf(again.json.safeBatches), oweEach(late))
})

test('what may not be sent yet is held immediately, and comes into the file of a later act', async () => {
  const early = await pay([8, BASIC - 11n], [9, BASIC - 12n])
  const held = await pay([10, BASIC - 13n])
  const found = (await all({ before: FAR, dryRun: true })).json
  const first = await all({ before: FAR, sumWei: found.sumWei })
  assert.deepEqual([first.json.safeBatches, first.json.sendNowWei], [[], '0'], first.text)
  for (const { txHash } of [...early, ...held]) assert.equal(await standingOf(world, txHash), 'held refunding')
  await finalize()
  const later = await all({ before: FAR, sumWei: found.sumWei })
  const paid = paysOf(later.json.safeBatches)
  for (const pair of oweEach([...early, ...held]))
    assert.equal(paid.filter(([to, value]) => to === pair[0] && value === pair[1]).length, 1)
  assert.equal(String(paid.reduce((sum, [, value]) => sum + BigInt(value ?? ''), 0n)), found.sumWei)
})

test('of two simultaneous requests, the files together pay each payment once', async () => {
  const late = await pay([5, BASIC - 21n], [6, BASIC - 22n], [7, BASIC - 23n])
  await finalize()
  const ask = () => all({ before: FAR, sumWei: owed(late) })
  // Both have found the payments before either holds one.
  const answers = await meetAt(world.pool, (sql) => lockPayers(sql, [world.at(5)], { wait: true }), [ask, ask])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  )
  const paid = answers.flatMap(({ json }) => paysOf(json.safeBatches))
  assert.deepEqual(paid.toSorted(), oweEach(late).toSorted())
})

test('a second person confirms the very sum: a payment that came meanwhile refuses it', async () => {
  const late = await pay([5, BASIC - 31n])
  await finalize()
  assert.equal((await desk.post('second-person', { aboveWei: '1' })).status, 200)
  const grace = { headers: { 'x-admin-key': KEYS[1]?.key } }
  const confirm = (id: number) => desk.post(`proposals/${id}/confirm`, {}, grace)
  const stale = await all({ before: FAR, sumWei: owed(late) })
  assert.equal(stale.status, 202, stale.text)
  late.push(...(await pay([6, BASIC - 32n])))
  await finalize()
  const refused = await confirm(stale.json.proposal.id)
  assert.deepEqual([refused.status, /preview it again/.test(refused.text)], [409, true], refused.text)
  const fresh = await all({ before: FAR, sumWei: owed(late) })
  const { status, json, text } = await confirm(fresh.json.proposal.id)
  assert.equal(status, 200, text)
  assert.deepEqual(paysOf(json.done.safeBatches), oweEach(late))
  const { proposal } = (await desk.post('second-person', { off: true })).json
  assert.equal((await confirm(proposal.id)).status, 200)
})

test('the command previews, asks, and writes the file', async () => {
  const late = await pay([5, BASIC - 41n], [6, BASIC - 42n])
  // The command has one provider, whose final blocks count only from fifteen minutes below the head.
  await world.chain.increaseTime(1_000)
  await finalize()
  const path = join(temporaryDirectory(), 'refunds.json')
  const words = ['payments', 'refund-all', 'wrongAmount', '--before', String(FAR)]
  const run = (more: string[], typed?: string) => runHere([...words, ...more], worldEnv(world), typed)
  const dry = await run(['--dry-run', '--json'])
  assert.deepEqual([dry.code, JSON.parse(dry.out).sumWei], [0, owed(late)], dry.err)
  const bare = await run(['--before', 'in 1 h', '--dry-run'])
  assert.equal(bare.code, 2, 'given twice')
  const dated = await runHere(
    ['payments', 'refund-all', 'wrongAmount', '--before', '2020-01-01', '--dry-run'],
    worldEnv(world),
  )
  assert.match(dated.out, /^0 payments would be held/)
  const lost = await run(['--yes'])
  assert.deepEqual([lost.code, /--safe-file/.test(lost.err)], [2, true], lost.err)
  assert.equal(await standingOf(world, late[0]?.txHash ?? '0x'), 'held wrongAmount')
  const nowhere = await run(['--safe-file', join(path, 'no', 'folder.json'), '--yes'])
  assert.deepEqual([nowhere.code, /cannot be written/.test(nowhere.err)], [1, true], nowhere.err)
  const declined = await run(['--safe-file', path], 'n')
  assert.equal(declined.code, 1)
  assert.match(
    declined.err,
    /^(Payment \d+ \(0\.00\d+ ETH from 0x\w{40}\): Send it now, then record it\..*\n){2}2 payments would be held for their refunds, 0\.019999999999999917 ETH in all, paid from .* UTC to .* UTC\.\nOf it 0\.019999999999999917 ETH may be sent now, in 1 file\./,
  )
  assert.equal(await standingOf(world, late[0]?.txHash ?? '0x'), 'held wrongAmount')
  const done = await run(['--safe-file', path, '--yes', '--json'])
  assert.equal(done.code, 0, done.err)
  for (const { txHash } of late) assert.equal(await standingOf(world, txHash), 'held refunding')
  assert.deepEqual(paysOf(JSON.parse(done.out).safeBatches), oweEach(late), done.out)
  assert.deepEqual(paysOf([JSON.parse(readFileSync(path, 'utf8'))]), oweEach(late))
  const over = await run(['--safe-file', path, '--again', '--yes'])
  assert.deepEqual([over.code, /refunds\.json exists already, and is left as it is/.test(over.err)], [1, true])
})

test('the file of a confirmed proposal reaches the person who confirms, or nothing is confirmed', async () => {
  const late = await pay([5, BASIC - 61n])
  await world.chain.increaseTime(1_000)
  await finalize()
  assert.equal((await desk.post('second-person', { aboveWei: '1' })).status, 200)
  const asked = await all({ before: FAR, sumWei: owed(late) })
  const confirm = (...more: string[]) =>
    runHere(['proposals', 'confirm', String(asked.json.proposal.id), '--yes', ...more], {
      ...worldEnv(world),
      ADMIN_KEY: KEYS.map(({ label, key }) => `${label}:${key}`).join(),
    })
  const lost = await confirm()
  assert.deepEqual([lost.code, /--safe-file/.test(lost.err)], [2, true], lost.err)
  assert.equal(await standingOf(world, late[0]?.txHash ?? '0x'), 'held wrongAmount')
  const path = join(temporaryDirectory(), 'confirmed.json')
  const done = await confirm('--safe-file', path)
  assert.equal(done.code, 0, done.err)
  assert.match(done.out, /^Confirmed\. 1 payment is held for its refund, 0\.009999999999999939 ETH in all/)
  assert.match(done.err, /Written to .*confirmed\.json: 0\.009999999999999939 ETH in 1 transfer\./)
  assert.deepEqual(paysOf([JSON.parse(readFileSync(path, 'utf8'))]), oweEach(late))
  await world.pool`UPDATE ledger_state SET second_person_wei = NULL`
})

test('no command makes a file that it does not print', async () => {
  const [late] = await pay([6, BASIC - 71n])
  await finalize()
  for (const words of [
    ['payments', 'refund-batch', late?.txHash ?? ''],
    ['referrals', 'file'],
  ]) {
    const lost = await runHere([...words, '--yes'], worldEnv(world))
    assert.deepEqual([lost.code, /--safe-file/.test(lost.err)], [2, true], lost.err)
  }
  assert.equal(await standingOf(world, late?.txHash ?? '0x'), 'held wrongAmount')
  const made = await world.pool`SELECT FROM audit WHERE action = 'refundFileMade' AND subject = ${late?.txHash ?? ''}`
  assert.equal(made.count, 0)
})

test('files have as many transfers as a Safe sends in one transaction, and none is lost', async () => {
  const transfers = Array.from({ length: 2 * TRANSFERS_MAX + 1 }, (_, n) => ({
    to: `0x${(n + 1).toString(16).padStart(40, '0')}` as Address,
    valueWei: (BASIC + BigInt(n)) as never,
  }))
  const files = await batchesOf(world.pool, transfers, 'Refunds')
  assert.deepEqual(
    files.map(({ transactions }) => transactions.length),
    [200, 200, 1],
  )
  assert.deepEqual(
    paysOf(files),
    transfers.map(({ to, valueWei }) => [to, String(valueWei)]),
  )
  assert.deepEqual(await batchesOf(world.pool, [], 'Refunds'), [])
})
