// The ways to misconfigure a second instance of a ledger, and what must hold anyway: terms, wallets and endpoints are
// the ledger's, and owners are paid by them to the wei. The soak draws from these at each start of its second instance.
import assert from 'node:assert/strict'
import { encodeAbiParameters, keccak256 } from 'viem'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import type { Dice } from '../support/faults/dice.ts'
import { type Credited, readBlocks, readEvents } from '../support/invariants.ts'
import { deployContracts, ETHER, INTERVAL_SEC, SLOT_SEC, type World } from '../support/world.ts'
import { type Receiver, SECRET, SECRET_BEFORE, startReceiver } from '../webhooks/receiver.ts'
import { addTo } from './counts.ts'
import type { Stage } from './stage.ts'

/** Ways that a start refuses; each comes alone. */
const REFUSED = [
  'a range from zero',
  'half of the terms',
  'the factory as payments wallet',
  'a late START_BLOCK',
  'another factory',
  'a contract that is no factory',
  'another chain id',
  'an unknown key',
  'the keys exchanged',
  'one key for both',
  'a setting of an earlier release',
] as const
/** Ways that a start reports, or accepts; several come together. */
const TAKEN = [
  'another range',
  'a range of 1 wei',
  'another interval',
  'another slot',
  'payouts off',
  'no terms',
  'another payments wallet',
  'the minter as payments wallet',
  'a contract as payments wallet',
  'no payments wallet',
  'another webhook',
  'another webhook secret',
  'no webhooks',
  'public webhooks only',
  'no keys',
  'no minter',
  'no distributor',
  'signers that do not answer',
  'one block deep',
  'final blocks only',
  '9,999 blocks deep',
  'a fee cap of 1 wei',
  'no fee cap',
  'no tip',
  'any tip',
  'rounds from swaps',
  'a short price grace',
  'holdings asked for once',
] as const
/** All of them, by name. */
export const WAYS: readonly Way[] = [...REFUSED, ...TAKEN]
export type Way = (typeof REFUSED)[number] | (typeof TAKEN)[number]

/** The settings of a way, and the start's answer to them: `refused` if it must end. */
interface Settings {
  env: Readonly<Record<string, string>>
  refused?: RegExp
  told?: RegExp
}

/** Additions to a soak with a misconfigured instance. */
export interface Misconfigured {
  settings: Readonly<Record<Way, Settings>>
  receiver: Receiver
  /** Settings of the correct instance, and of the other one if nothing is wrong. */
  env: Readonly<Record<string, string>>
  /** Wallets outside any ledger: the ledger judges no payment to them. */
  strangers: readonly `0x${string}`[]
  /** Terms, wallets and endpoints as entered; the endpoints after the first start. */
  entered: string | null
  /** Draws of each way. A way counts as having happened once an instance ran with it. */
  drawn: Map<string, number>
}

const keyOf = (account: number) => DEVELOPMENT_ACCOUNTS[account]?.privateKey ?? assert.fail('no such account')
const STRANGERS = ['0x00000000000000000000000000000000000a11ce', '0x0000000000000000000000000000000000000b0b'] as const
const UNKNOWN_KEY = `0x${'11'.repeat(32)}`
/** A port without a listener. */
const NOWHERE = 'http://127.0.0.1:9'
/** Each concerns different settings. */
const WAYS_AT_ONCE_MAX = 5
/** Terms as the stage enters them; the check compares every turn with them. */
const RANGE = { minWei: ETHER / 2000n, maxWei: (ETHER * 3n) / 2000n }

/** Prepares the wrong inputs of a misconfigured instance: another factory, a receiver of webhooks. */
export async function prepareMisconfigured({ world }: Stage, drawn: Map<string, number>): Promise<Misconfigured> {
  const { factory: otherFactory } = await deployContracts(world.chain, 200n)
  const receiver = await startReceiver()
  const hooks = { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET: SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' }
  return {
    settings: settingsFor(world, otherFactory),
    ...{ receiver, env: hooks, strangers: STRANGERS, entered: null, drawn },
  }
}

function settingsFor(world: World, otherFactory: string): Record<Way, Settings> {
  const otherTerms = /CREDIT_…: ignored/
  const otherWallet = /PAYMENT_ADDRESS: ignored/
  const otherLedger = /This database holds the ledger of another factory or chain/
  const noRole = /is not the factory's (minter|distributor)/
  const none = { MINTER_PRIVATE_KEY: '', DISTRIBUTOR_PRIVATE_KEY: '' }
  const noTerms = {
    DIST_ENABLED: '',
    CREDIT_MIN_WEI: '',
    CREDIT_MAX_WEI: '',
    CREDIT_INTERVAL_SEC: '',
    CREDIT_SLOT_SEC: '',
  }
  return {
    'a range from zero': { env: { CREDIT_MIN_WEI: '0' }, refused: /CREDIT_MIN_WEI is 0/ },
    'half of the terms': { env: { CREDIT_MAX_WEI: '' }, refused: /CREDIT_MAX_WEI is missing/ },
    'the factory as payments wallet': { env: { PAYMENT_ADDRESS: world.factory }, refused: /is the factory itself/ },
    'a late START_BLOCK': { env: { START_BLOCK: '100' }, refused: otherLedger },
    'another factory': { env: { FACTORY_ADDRESS: otherFactory }, refused: otherLedger },
    'a contract that is no factory': { env: { FACTORY_ADDRESS: world.token }, refused: otherLedger },
    'another chain id': { env: { CHAIN_ID: '1' }, refused: otherLedger },
    'an unknown key': { env: { MINTER_PRIVATE_KEY: UNKNOWN_KEY }, refused: noRole },
    'the keys exchanged': { env: { MINTER_PRIVATE_KEY: keyOf(2), DISTRIBUTOR_PRIVATE_KEY: keyOf(1) }, refused: noRole },
    'one key for both': { env: { DISTRIBUTOR_PRIVATE_KEY: keyOf(1) }, refused: /is MINTER_PRIVATE_KEY too/ },
    'a setting of an earlier release': {
      env: { MINTER_PRIVATE_KEY: '', MINTER_KEYSTORE: '/run/minter.json' },
      refused: /MINTER_KEYSTORE is removed/,
    },
    'another range': { env: { CREDIT_MIN_WEI: '7', CREDIT_MAX_WEI: String(ETHER / 100n) }, told: otherTerms },
    'a range of 1 wei': { env: { CREDIT_MIN_WEI: '1', CREDIT_MAX_WEI: '1' }, told: otherTerms },
    'another interval': { env: { CREDIT_INTERVAL_SEC: String(INTERVAL_SEC * 2) }, told: otherTerms },
    'another slot': { env: { CREDIT_SLOT_SEC: String(SLOT_SEC / 2) }, told: otherTerms },
    'payouts off': { env: { DIST_ENABLED: 'false' }, told: otherTerms },
    'no terms': { env: noTerms },
    'another payments wallet': { env: { PAYMENT_ADDRESS: STRANGERS[0] }, told: otherWallet },
    'the minter as payments wallet': { env: { PAYMENT_ADDRESS: world.at(1) }, told: otherWallet },
    'a contract as payments wallet': { env: { PAYMENT_ADDRESS: world.token }, told: otherWallet },
    'no payments wallet': { env: { PAYMENT_ADDRESS: '' } },
    'another webhook': { env: { WEBHOOK_URL: `${NOWHERE}/hooks` } },
    'another webhook secret': { env: { WEBHOOK_SECRET: SECRET_BEFORE } },
    'public webhooks only': { env: { WEBHOOK_URL: '', WEBHOOK_SECRET: '', WEBHOOK_ALLOW_PRIVATE: 'false' } },
    'no webhooks': { env: { WEBHOOK_URL: '', WEBHOOK_SECRET: '' } },
    'no keys': { env: none },
    'no minter': { env: { MINTER_PRIVATE_KEY: '' } },
    'no distributor': { env: { DISTRIBUTOR_PRIVATE_KEY: '' } },
    'signers that do not answer': {
      env: {
        ...none,
        ...{ MINTER_SIGNER_URL: NOWHERE, MINTER_ADDRESS: world.at(1) },
        ...{ DISTRIBUTOR_SIGNER_URL: NOWHERE, DISTRIBUTOR_ADDRESS: world.at(2) },
      },
    },
    'one block deep': { env: { FINALITY: '1' } },
    'final blocks only': { env: { FINALITY: 'finalized' } },
    '9,999 blocks deep': { env: { FINALITY: '9999' } },
    'a fee cap of 1 wei': { env: { FEE_CAP_WEI: '1' } },
    'no fee cap': { env: { FEE_CAP_WEI: String(ETHER) } },
    'no tip': { env: { TIP_MAX_WEI: '0' } },
    'any tip': { env: { TIP_MAX_WEI: String(ETHER) } },
    'rounds from swaps': { env: { DIST_MODE: 'swaps' } },
    'a short price grace': { env: { PRICE_GRACE_SEC: '120' } },
    'holdings asked for once': { env: { HOLDING_RETRY_SEC: '0' } },
  }
}

/** Draws a way that a start refuses. */
export function drawRefused(misconfigured: Misconfigured, dice: Dice): Way {
  return drawOne(misconfigured, dice, REFUSED)
}

/** Draws how to misconfigure the second instance this time: in one way, or in several that do not contradict each other. */
export function drawTaken(misconfigured: Misconfigured, dice: Dice): Way[] {
  const { settings } = misconfigured
  const ways: Way[] = []
  const isFree = (way: Way) =>
    ways.every((other) => Object.keys(settings[way].env).every((name) => !(name in settings[other].env)))
  for (let more = dice.between('ways', 1, WAYS_AT_ONCE_MAX); more > 0; more--)
    ways.push(drawOne(misconfigured, dice, TAKEN.filter(isFree)))
  return ways
}

/** One of the least drawn of these. */
function drawOne({ drawn }: Misconfigured, dice: Dice, ways: readonly Way[]): Way {
  const least = Math.min(...ways.map((way) => drawn.get(way) ?? 0))
  const way = dice.pick(
    'way',
    ways.filter((one) => (drawn.get(one) ?? 0) === least),
  )
  addTo(drawn, way)
  return way
}

/** Checks the output of a start with these ways; throws if a warning is missing. */
export function checkTold({ settings }: Misconfigured, ways: readonly Way[], output: string): void {
  for (const way of ways) {
    const { told } = settings[way]
    if (told) assert.match(output, told, `"${way}" is reported at start`)
  }
}

/** Entries that only acts may change. */
async function readEntered({ pool }: World): Promise<string> {
  const rows = await Promise.all([
    pool`SELECT * FROM credit_terms ORDER BY id`,
    pool`SELECT * FROM payment_wallets ORDER BY id`,
    pool`SELECT endpoint, url, to_jsonb(secrets) AS secrets, active, disabled_at, added_by FROM webhook_endpoints ORDER BY endpoint`,
    pool`SELECT chain_id, genesis_hash, factory, start_block FROM ledger_state`,
  ])
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

/** Notes the ledger's entries, once its first instance has started. */
export async function noteEntered(misconfigured: Misconfigured, world: World): Promise<void> {
  misconfigured.entered = await readEntered(world)
  assert.match(misconfigured.entered, /hooks/, 'the first instance has entered its endpoint')
}

/** True if every event has been delivered: the receiver accepts all. */
export async function isDelivered({ pool }: World): Promise<boolean> {
  const [row] = await pool<{ open: number }[]>`
    SELECT count(*) AS open FROM webhook_events e WHERE NOT EXISTS
      (SELECT FROM webhook_deliveries d WHERE d.seq = e.seq AND d.state = 'delivered')`
  return row?.open === 0
}

/** Asserts at rest that owners are paid, buyers judged and events sent as if the second instance did not exist. */
export async function checkUnmoved({ entered, receiver, strangers }: Misconfigured, world: World): Promise<void> {
  assert.equal(await readEntered(world), entered, 'terms, wallets and endpoints are as they were entered')
  await checkPaid(world)
  const wallets = await world.pool<{ wallet: string }[]>`SELECT DISTINCT wallet FROM payments`
  for (const { wallet } of wallets)
    assert.equal(wallet, world.at(3), 'payments to the ledger’s wallet alone are judged')
  const strays = await world.pool`SELECT FROM payments WHERE wallet = ANY(${[...strangers]})`
  assert.equal(strays.count, 0, 'what came to another wallet is none of the ledger’s')
  const told = new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
  const events = await world.pool<{ id: string }[]>`SELECT id FROM webhook_events`
  assert.deepEqual(
    events.filter(({ id }) => !told.has(id)),
    [],
    'every event has reached the ledger’s endpoint',
  )
}

/** Every credit on the chain equals what the ledger's terms give for its turns, one after the other without a gap. */
async function checkPaid(world: World): Promise<void> {
  const [blocks, { credited, skipped }] = await Promise.all([readBlocks(world), readEvents(world)])
  assert.deepEqual(skipped, [], 'no turn was skipped: all of them are owed')
  const cohorts = new Map(
    (
      await world.pool<{ cohort: number; bps: number; intervalSec: number }[]>`
        SELECT c.cohort, c.interval_sec AS "intervalSec",
          (SELECT payout_bps FROM tiers t WHERE t.tier_no = c.tier_no LIMIT 1) AS bps FROM cohorts c`
    ).map((row) => [row.cohort, row]),
  )
  const nextDue = new Map<number, number>()
  const inOrder = credited.toSorted((a, b) => Number(a.round - b.round))
  for (const credit of inOrder) {
    const cohort = Number(credit.cohort)
    const { bps, intervalSec } = cohorts.get(cohort) ?? assert.fail(`no cohort ${cohort}`)
    assert.deepEqual(
      [intervalSec, Number(credit.due) % SLOT_SEC],
      [INTERVAL_SEC, 0],
      'cohorts are of the ledger’s terms',
    )
    const expected = nextDue.get(cohort)
    if (expected !== undefined) assert.equal(Number(credit.due), expected, `cohort ${cohort} misses no turn`)
    nextDue.set(cohort, Number(credit.due) + Number(credit.turns) * INTERVAL_SEC)
    assert.equal(credit.amountPerNode, owedFor(credit, blocks, bps), `round ${credit.round} pays what the terms say`)
  }
}

type Block = Awaited<ReturnType<typeof readBlocks>>[number]

/** A node's due for a credit's turns of its cohort, by the terms that the stage entered. */
function owedFor({ cohort, due, turns }: Credited, blocks: readonly Block[], bps: number): bigint {
  let owed = 0n
  for (let turn = 0n; turn < turns; turn++) {
    const time = due + turn * BigInt(INTERVAL_SEC)
    const at = blocks.findIndex((block) => BigInt(block.timestamp) >= time)
    const block = blocks[at] ?? assert.fail(`no block for the turn of ${time}`)
    const constant = !/^0x(?:(?!0{8}).{16}){4}$/.test(block.mixHash) || block.mixHash === blocks[at - 1]?.mixHash
    const words = encodeAbiParameters(
      [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'uint256' }],
      [constant ? block.hash : block.mixHash, cohort, time],
    )
    const draw = RANGE.minWei + (BigInt(keccak256(words)) % (RANGE.maxWei - RANGE.minWei + 1n))
    owed += (draw * BigInt(bps)) / 10_000n
  }
  return owed
}
