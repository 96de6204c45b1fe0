// Halving: what src/passes/steps/{send-round,send}.ts send of a plan or a batch, and what they set aside, is what the second reading says.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { readCreditTerms } from '../../../src/db/sale/terms.ts'
import { readTierVersions } from '../../../src/db/sale/tiers.ts'
import { planOf, type RoundPlan } from '../../../src/domain/rounds/round-plan.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import { pay } from '../../../src/passes/credit.ts'
import { type Sent, sendWhatFits } from '../../../src/passes/steps/send.ts'
import type { EstimateOutcome, FactoryCall, SignerAccount } from '../../../src/ports/sending.ts'
import { account, openTables, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './halving.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

type Credit = Extract<FactoryCall, { kind: 'credit' }>
const [SENDER, CURSOR] = [account(2) as Address, { number: 10, hash: word(10) as Hash, time: 1_000 }]
/** What a call and each of its cohorts and turns cost. An order costs as much as a cohort. */
const [CALL_GAS, COHORT_GAS, TURN_GAS] = [20, 10, 1]
const gasOf = (parts: { turns: number }[]): number =>
  CALL_GAS + parts.reduce((sum, { turns }) => sum + COHORT_GAS + TURN_GAS * turns, 0)

const drawnCohort = fc.record({
  turns: fc.array(fc.constantFrom(0n, 5n, 10n, 100n), { minLength: 1, maxLength: 4 }),
  nodes: fc.constantFrom(1, 1, 2, 50),
  isFaulty: fc.constantFrom(false, false, false, true),
})
interface Drawn {
  cohorts: (Omit<model.Part, 'cohort'> & { isFaulty: boolean })[]
  error: string
  looksFirst: 'ether' | 'faults'
  mode: 'treasury' | 'swaps'
  /** In hundredths of what the sound cohorts need. */
  gas: number
  ether: number
}
const situation = {
  error: fc.constantFrom(
    'WrongTurn',
    'WrongValue',
    'EmptyCohort',
    'TurnOwed',
    'AmountOutOfBounds',
    'WrongTurn',
    'WrongRound',
  ),
  looksFirst: fc.constantFrom('ether' as const, 'faults' as const),
  mode: fc.constantFrom('treasury' as const, 'swaps' as const),
  gas: fc.constantFrom(1_000, 1_000, 100, 99, 60, 50, 30, 10),
  ether: fc.constantFrom(1_000, 1_000, 100, 99, 50, 30, 10, 1, 0),
}
const few = fc.record({ cohorts: fc.array(drawnCohort, { minLength: 1, maxLength: 9 }), ...situation })
/** Up to three at fault among the most that a round has. */
const many = fc.record({
  cohorts: fc
    .tuple(fc.constantFrom(199, 200), fc.array(fc.nat(199), { maxLength: 3 }))
    .map(([size, places]) =>
      Array.from({ length: size }, (_, i) => ({ turns: [5n], nodes: 1, isFaulty: places.includes(i) })),
    ),
  ...situation,
})

interface Place {
  plan: model.Part[]
  faulty: number[]
  isWhole: boolean
  gasCap: number
  weiMost: bigint
  fits(parts: model.Part[]): boolean
}

function placeOf({ cohorts, error, gas, ether }: Drawn): Place {
  const plan = cohorts.map(({ turns, nodes }, i) => ({ cohort: 1 + i, turns, nodes }))
  const faulty = plan.filter((_, i) => cohorts[i]?.isFaulty).map(({ cohort }) => cohort)
  const sound = plan.filter(({ cohort }) => !faulty.includes(cohort))
  const counted = (parts: model.Part[]) => gasOf(parts.map(({ turns }) => ({ turns: turns.length })))
  const gasCap = Math.floor((counted(sound) * gas) / 100)
  const weiMost = (model.weiOf(sound) * BigInt(ether)) / 100n
  const fits = (parts: model.Part[]) => counted(parts) <= gasCap && model.weiOf(parts) <= weiMost
  return { plan, faulty, isWhole: error === 'WrongRound', gasCap, weiMost, fits }
}

/** A contract that rejects what is at fault, and a node that says first that the account's ether is too little, or says it last. */
function estimate(
  { faulty, gasCap, weiMost, plan, isWhole }: Place,
  { error, looksFirst, mode }: Drawn,
  call: Credit,
): EstimateOutcome {
  const isShort = mode === 'treasury' && call.valueWei > weiMost
  if (isShort && looksFirst === 'ether') return { kind: 'insufficientFunds' }
  for (const { cohort } of call.credits) assert.ok(plan.some((one) => one.cohort === cohort))
  if (isWhole || call.credits.some(({ cohort }) => faulty.includes(cohort))) return { kind: 'reverts', error }
  const gas = gasOf(call.credits.map(({ paid }) => ({ turns: paid })))
  if (gas > gasCap) return { kind: 'overGasCap' }
  return isShort ? { kind: 'insufficientFunds' } : { kind: 'ok', gas: BigInt(gas) }
}

interface Played {
  signed: Credit[]
  simulations: number
  refused: number[] | null
  /** What the pass answers. */
  told: Awaited<ReturnType<typeof pay>>
}

async function play(sql: Sql, given: Drawn, place: Place): Promise<Played> {
  const played: Omit<Played, 'told'> = { signed: [], simulations: 0, refused: null }
  const sender: Partial<SignerAccount> = {
    address: SENDER,
    nonce: async () => 0,
    nonces: async () => [0],
    noncesAt: async () => [0],
    // The fee is nothing, so that only the round's own ether counts.
    fees: async () => ({ maxFeeWei: 0n, maxPriorityFeeWei: 0n }),
    balance: async () => place.weiMost as never,
    estimate: async (call) => {
      played.simulations += 1
      return estimate(place, given, call as Credit)
    },
    sign: async (call) => {
      played.signed.push(call as Credit)
      return { txHash: word(77) as Hash, raw: '0x02' } as never
    },
    broadcast: async () => ({ kind: 'accepted' }) as never,
  }
  const contract = {
    factory: account(3),
    balance: async () => place.weiMost,
    swapsAllowance: async () => place.weiMost,
  }
  const log = { error() {}, warn() {}, info() {} }
  const rules = { distMode: given.mode, feeCapWei: 10n, tipMaxWei: 10n, validForSec: 600 }
  const ctx = { pool: poolWithin(sql), chain: { balanceAt: async () => null }, contract, rules, log }
  const run = { guardUsable: false, checkLock() {} }
  const basis = { terms: await readCreditTerms(sql), tiers: await readTierVersions(sql) }
  const empty = { notOwed: [], delayed: [], unbacked: [], unknown: [], outOfBounds: [] }
  const credits = place.plan.map(({ cohort, turns, nodes }) => ({
    ...{ cohort, pendingDue: 500, skipped: 0, turns: turns.map((amountWei, i) => ({ due: 500 + 60 * i, amountWei })) },
    ...{ amountWei: turns.reduce((a, b) => a + b, 0n), nodeCount: nodes },
  }))
  const plan = planOf(empty as unknown as RoundPlan, credits as never)
  const sending = { run, sender, cursor: CURSOR }
  const told = await pay(ctx as never, sending as never, { plan, basis, bounds: null } as never)
  const [row] = await sql<{ value: number[] }[]>`SELECT refused_cohorts AS value FROM ledger_state`
  return { ...played, refused: row?.value ?? null, told }
}

const ROWS = { sender_bases: [{ sender: SENDER, nonce: 0, block_number: 1 }] }

async function compare(given: Drawn): Promise<void> {
  const place = placeOf(given)
  const { signed, refused, simulations, told } = await tables.within(ROWS, (sql) => play(sql, given, place))
  assert.ok(simulations <= 48 + 9, `${simulations} simulations`)
  const knowsAll = given.mode === 'treasury' && given.looksFirst === 'faults'
  const affords = (parts: model.Part[]) => knowsAll || model.weiOf(parts) <= place.weiMost
  const aside = place.isWhole ? [] : model.setAside(place.plan, place.faulty, affords)
  const goes = place.isWhole ? [] : model.roundOf(place.plan, aside, place.fits)
  assert.deepEqual((refused ?? []).toSorted(byNumber), aside.toSorted(byNumber))
  const expected = goes.map(({ cohort, turns }) => ({
    ...{ cohort, firstDue: 500, skipped: 0, paid: turns.length },
    amountPerNodeWei: turns.reduce((a, b) => a + b, 0n),
  }))
  const nodes = goes.reduce((sum, one) => sum + one.nodes, 0)
  const wei = goes.length === 0 ? 0n : model.weiOf(goes)
  assert.deepEqual([told.nodeCount, told.totalWei, told.txHash !== null], [nodes, wei, goes.length > 0], 'told')
  const values = goes.length === 0 ? [] : [given.mode === 'treasury' ? model.weiOf(goes) : 0n]
  assert.deepEqual(
    signed.map(({ valueWei }) => valueWei),
    values,
  )
  assert.deepEqual(
    signed.flatMap(({ credits }) => credits),
    expected,
  )
}
const byNumber = (a: number, b: number) => a - b

test('a round drops the cohorts at fault, and pays as much as gas and ether allow, oldest first', async () => {
  await fc.assert(fc.asyncProperty(few, compare), { numRuns: cases(300) })
})

test('three cohorts at fault among two hundred are found in one run', async () => {
  await fc.assert(fc.asyncProperty(many, compare), { numRuns: cases(25) })
})

test('the first orders of a batch go, as many as fit or half of those, and the others wait', async () => {
  const orders = fc.record({
    size: fc.constantFrom(1, 2, 3, 7, 8, 100, 199, 200),
    gasFor: fc.constantFrom(0, 1, 2, 3, 4, 7, 8, 63, 100, 199, 200),
    etherFor: fc.constantFrom(0, 1, 2, 3, 4, 7, 8, 63, 100, 199, 200),
    isShortKnown: fc.boolean(),
    other: fc.constantFrom(null, null, null, null, 'reverts' as const, 'resting' as const),
  })
  const compareBatch = async ({
    size,
    gasFor,
    etherFor,
    isShortKnown,
    other,
  }: typeof orders extends fc.Arbitrary<infer T> ? T : never) => {
    const batch = Array.from({ length: size }, (_, i) => i)
    const costOf = (length: number) => 21n + 10n * BigInt(length)
    const tried: (readonly number[])[] = []
    const sendPart = async (part: readonly number[]): Promise<Sent> => {
      tried.push(part)
      const [hasWei, needsWei] = [costOf(etherFor), costOf(part.length)]
      const refused = { kind: 'refused' as const, detail: '' }
      if (other !== null) return { ...refused, why: other }
      if (part.length > gasFor) return { ...refused, why: 'overGasCap' }
      if (hasWei >= needsWei) return { kind: 'sent', txHash: word(1) as Hash }
      return { ...refused, why: 'insufficientFunds', ...(isShortKnown ? { short: { hasWei, needsWei } } : {}) }
    }
    const sent = await sendWhatFits(batch, sendPart)
    const last = tried.at(-1) ?? []
    for (const part of tried) assert.deepEqual(part, batch.slice(0, part.length))
    const most = Math.min(gasFor, etherFor)
    assert.equal(sent.kind, other === null && most > 0 ? 'sent' : 'refused')
    // Smaller parts help only against what depends on the size.
    if (other !== null) assert.equal(tried.length, 1)
    if (sent.kind === 'sent')
      assert.ok(last.length <= most && last.length >= model.least(size, most), `${last.length} of ${most}`)
  }
  await fc.assert(fc.asyncProperty(orders, compareBatch), { numRuns: cases(2_000) })
})
