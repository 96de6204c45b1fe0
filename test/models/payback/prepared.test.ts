// The first step of refunds: src/operator/acts/refunds holds payments, says whether their ether may be sent, and makes files, as the second reading does, for
// one payment, for several by name, and for all that are held for a reason. Answers, states, verdicts and the log are compared whole.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { inEther } from '../../../src/domain/units.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import type { PreparedRefund } from '../../../src/operator/acts/refunds/prepare.ts'
import { prepareRefund } from '../../../src/operator/acts/refunds/prepare.ts'
import { type AllPrepared, prepareAllRefunds } from '../../../src/operator/acts/refunds/prepare-all.ts'
import { type OneOfMany, prepareRefunds } from '../../../src/operator/acts/refunds/prepare-many.ts'
import { resultLine } from '../../../src/operator/define-act.ts'
import { noticesIn, openTables, poolAfter, recording, type Tables, word } from '../../db/direct-rows.ts'
import { inOrder, plain } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './prepared.ts'
import { heldLine } from './words.ts'
import { blockTime, CHAIN_ID, chainOf, drawnWorld, ledgerOf, MINTER, rowsOf, type World } from './world.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const ACTOR = { name: 'ada', requestId: 'r1' }
const NOTE = 'agreed by mail'
const REFUSALS: [RegExp, model.Refused][] = [
  [/has no such payment|Give a payment as/, 'unknown'],
  [/holds several/, 'several'],
  [/no longer held for/, 'otherReason'],
  [/was expelled/, 'expelled'],
  [/Send nothing back/, 'state'],
  [/is no sale/, 'noSale'],
  [/Part of it already/, 'spent'],
  [/has just found that the ledger was restored/, 'restored'],
]
const WORDS: [RegExp, model.Word][] = [
  [/signed for it can be executed/, 'mint'],
  [/own block is not final/, 'block'],
  [/only one provider reports who paid it/, 'payer'],
  [/^Send it now, then record/, 'send'],
  [/^A file that pays it back was made/, 'filed'],
  [/^Do not send it yet/, 'waits'],
]
const kindOf = <T>(words: [RegExp, T][], text: string): T | string =>
  words.find(([form]) => form.test(text))?.[1] ?? text
const isoOf = (sec: number | null) => (sec === null ? null : new Date(1_000 * sec).toISOString())

/** An answer as the model gives it: its words by their meaning, and the time of the file by the database's clock. */
function answerOf({ says, fileMadeAt, ...one }: PreparedRefund, now: number) {
  const fileMade = fileMadeAt === null ? null : Math.round(now - Date.parse(fileMadeAt) / 1_000)
  return { ...one, says: kindOf(WORDS, says), warns: says.includes('Only one provider reports it'), fileMade }
}

const expectedAnswer = ({ id, txHash, tierId }: model.Payment, { safeAfter, ...one }: model.Answer) => ({
  ...{ id, txHash, status: 'held', reason: 'refunding', tierId, ...one },
  safeAfter: isoOf(safeAfter),
})

const nowOf = async (sql: Sql) => {
  const [row] = await sql<{ now: number }[]>`SELECT extract(epoch FROM now())::float8 AS now`
  return row?.now ?? 0
}

const subjectOf = ({ id, txHash }: model.Payment) => txHash ?? String(id)
function loggedOf({ log, unproven }: model.Ledger, note: string | null) {
  const ofActs = log.map(({ action, payment, before }) => {
    const after = before
      ? { status: 'held', reason: 'refunding' }
      : { ref: payment.ref, valueWei: String(payment.valueWei) }
    const change = before ? { before: { status: before.state, reason: before.reason }, after, reason: note } : { after }
    return { actor: 'ada', action, subject: subjectOf(payment), detail: change, request_id: 'r1' }
  })
  if (unproven === null) return ofActs
  const detail = { part: 'transactions', host: null }
  return [...ofActs, { actor: 'pass', action: 'proofFailed', subject: String(unproven), detail, request_id: null }]
}

/** All rows after an act. */
async function compareRows(sql: Sql, ledger: model.Ledger, note: string | null): Promise<void> {
  const rows = await sql`SELECT id, state, reason, proof FROM payments WHERE id < 500 ORDER BY id`
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    ledger.payments.map(({ id, state, reason, proof }) => ({ id, state, reason, proof })),
  )
  const verdicts = await sql`
    SELECT payment_id AS id, verdict, reason, evidence FROM payment_verdicts WHERE decided_by = 'ada' ORDER BY id`
  const expected = ledger.verdicts.map(({ payment: { id, block, tierId }, evidence }) => {
    const place = { blockHash: block === null ? null : word(block), tierVersion: tierId === null ? null : 1, note }
    return { id, verdict: 'held', reason: 'refunding', evidence: { ...evidence, ...place } }
  })
  assert.deepEqual(inOrder(verdicts.map((row) => ({ ...row }))), inOrder(expected))
  const log = await sql`SELECT actor, action, subject, detail - 'says' AS detail, request_id FROM audit
    WHERE actor <> 'eve' ORDER BY id`
  assert.deepEqual(inOrder(log.map((row) => ({ ...row }))), inOrder(plain(loggedOf(ledger, note)) as never[]))
}

/** Runs an act on the rows of a ledger, and compares all rows after it. `meanwhile`: what another does before the act's first transaction. */
async function within(
  given: World,
  note: string | null,
  act: (deps: never, ledger: model.Ledger, now: number) => Promise<void>,
  meanwhile: (sql: Sql) => Promise<unknown> = async () => {},
): Promise<void> {
  const ledger = ledgerOf(given)
  await tables.within(rowsOf(given, ledger), async (sql) => {
    const sent: string[] = []
    const deps = {
      pool: poolAfter(sql, meanwhile, recording(sql, sent)),
      log: silentLog,
      signers: { minter: MINTER, distributor: null },
      ...chainOf(given, ledger),
    }
    await act(deps as never, ledger, await nowOf(sql))
    await compareRows(sql, ledger, note)
    // A preview is undone, and with it its notices.
    assert.ok(noticesIn(sent) > 0 || ledger.verdicts.length === 0)
  })
}

/** The payment that a text names: by its row, or by a hash that only one has. */
function namedIn({ payments }: model.Ledger, name: string): model.Payment | model.Refused {
  const found = payments.filter(({ id, txHash }) => String(id) === name || txHash === name)
  return found.length > 1 ? 'several' : (found[0] ?? 'unknown')
}
const name = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('1', '2', '3', '4', '5', '6') },
  fc.constantFrom(word(51), word(53), word(54), '9'),
)
const note = fc.constantFrom(null, NOTE)
const rarely = fc.constantFrom(false, false, true)
const BECAUSE: Record<string, string> = { unknown: 'notFound', restored: 'notYet' }

test('a payment is held for its refund, and its ether may be sent once no mint of it can land', async () => {
  const met = new Map<string, number>()
  const compare = async (given: World, payment: string, isRestored: boolean, note: string | null) => {
    const compareOne = async (deps: never, ledger: model.Ledger, now: number) => {
      const found = await prepareRefund.unguarded(deps, ACTOR, { payment, reason: note })
      const one = namedIn(ledger, payment)
      const expected = typeof one === 'string' ? one : model.prepare(ledger, one, isRestored)
      const word = typeof expected === 'string' ? expected : expected.says
      met.set(word, (met.get(word) ?? 0) + 1)
      if (isOperatorRefusal(found)) {
        assert.equal(kindOf(REFUSALS, found.message), expected)
        assert.equal(found.because, BECAUSE[expected as string] ?? 'conflict')
      } else if (typeof one === 'string' || typeof expected === 'string') assert.fail(`${found.says}, not ${expected}`)
      else assert.deepEqual(answerOf(found, now), expectedAnswer(one, expected))
    }
    const restores = (sql: Sql) => sql`UPDATE ledger_state SET recheck_up_to = coalesce(recheck_up_to, 0) + 1`
    await within(given, note, compareOne, isRestored ? restores : undefined)
  }
  const first = fc.constantFrom('1', '1', '1', '2', '3', word(51), '9')
  await fc.assert(fc.asyncProperty(drawnWorld, first, rarely, note, compare), { numRuns: cases(100) })
  assert.ok(met.size >= 9, JSON.stringify([...met]))
})

function expectedResult({ payment, refused, answer }: model.Result, name: string) {
  if (payment === null || answer === null) return { payment: name, from: null, valueWei: null, prepared: null, refused }
  const { from, valueWei } = payment
  return { payment: name, from, valueWei, prepared: expectedAnswer(payment, answer), refused: null }
}
const resultOf = ({ refusal, prepared, ...one }: OneOfMany, now: number) => ({
  ...{ ...one, prepared: prepared && answerOf(prepared, now) },
  refused: refusal && kindOf([...REFUSALS, [/Given twice/, 'twice']], refusal),
})

const sumOf = (some: { valueWei: bigint }[]) => some.reduce((sum, { valueWei }) => sum + valueWei, 0n)
const transfersOf = (
  some: { transactions: { to: string; value: string }[]; chainId: string; meta: { name: string } }[],
) =>
  some.flatMap(({ transactions, chainId, meta }) => {
    assert.deepEqual([chainId, meta.name], [String(CHAIN_ID), 'Refunds'])
    return transactions.map(({ to, value }) => ({ to: to.toLowerCase(), valueWei: BigInt(value) }))
  })

const problemsOf = (found: object) =>
  isOperatorRefusal(found) ? found.problems.map(({ field, code }) => [field, code]) : []

const WHY: [RegExp, string][] = [
  ...REFUSALS,
  [/signed before may still/, 'mint'],
  [/block is not final/, 'block'],
  [/one provider reports/, 'payer'],
  [/No payer is proven/, 'nobody'],
  [/has no value/, 'nothing'],
]
/** What a line of a preview tells of one payment: its name or row, and what becomes of it. */
function linedOf(line: string): string[] {
  const [, name = '', says = ''] = /^Payment (\S+?)(?: \([^)]*\))?: (.*)$/.exec(line) ?? []
  return [name, kindOf<string>([...REFUSALS, ...WORDS], says)]
}
/** What a preview tells of the ether to send, and of payments in no file. */
function toldOf(text: string) {
  const now = /^Of it ([\d.]+) ETH may be sent now(?:, in (\d+) files?)?\.$/m.exec(text)
  const lines = [...text.matchAll(/^In no file: (\d+)(?:, ([\d.]+) ETH)? \(payments? [^)]*\)\. (.*)$/gm)]
  // A refusal names the state, which is no other reason here.
  const others = new Map<string, [count: number, sum: string]>()
  for (const [, count, sum = '0', why = ''] of lines) {
    const kind = kindOf(WHY, why)
    others.set(kind, [(others.get(kind)?.[0] ?? 0) + Number(count), sum])
  }
  return { now: now?.[1], files: Number(now?.[2] ?? 0), others }
}
function expectedTold({ inNoFile, transfers }: model.Outcome) {
  const others = new Map<string, [count: number, sum: string]>()
  for (const [why, those] of inNoFile) {
    const counted = REFUSALS.some(([, kind]) => kind === why) ? [] : those
    others.set(why, [those.length, inEther(sumOf(counted.flatMap((one) => one ?? [])))])
  }
  return { now: inEther(sumOf(transfers)), files: transfers.length === 0 ? 0 : 1, others }
}

test('several are prepared each for itself, and one file pays what may be sent, once', async () => {
  const compare = async (given: World, drawn: string[], again: boolean, note: string | null) => {
    const names = [...new Set(drawn)]
    const input = { payments: names, again, reason: note }
    const request = { heldFor: null, again }
    const named = (ledger: model.Ledger) => names.map((one) => ({ payment: namedIn(ledger, one) }))
    // A row and the hash of its transaction name one payment.
    fc.pre(
      new Set(named(ledgerOf(given)).map(({ payment }) => (typeof payment === 'string' ? {} : payment.id))).size ===
        names.length,
    )
    await within(given, note, async (deps, ledger, now) => {
      const preview = await prepareRefunds.operation.preview(deps, ACTOR, input)
      const tried = structuredClone(ledger)
      assert.ok(!isOperatorRefusal(preview))
      const trial = model.prepareEach(tried, named(tried), request)
      assert.deepEqual(toldOf(preview.text), expectedTold(trial))
      const lines = preview.text.split('\n')
      for (const [n, { payment, refused, answer }] of trial.results.entries())
        assert.deepEqual(linedOf(lines[n] ?? ''), [
          String(refused === null ? payment?.id : names[n]),
          refused ?? answer?.says,
        ])
      const found = await prepareRefunds.unguarded(deps, ACTOR, input)
      assert.ok(!isOperatorRefusal(found))
      const { results, transfers } = model.prepareEach(ledger, named(ledger), request)
      assert.deepEqual(
        found.results.map((one) => resultOf(one, now)),
        results.map((one, n) => expectedResult(one, names[n] ?? '')),
      )
      assert.equal(found.sendNowWei, sumOf(transfers))
      const heldCount = results.filter(({ refused }) => refused === null).length
      assert.equal(
        resultLine(prepareRefunds.operation, found),
        `${heldCount} of ${results.length} held for refund. Send ${inEther(sumOf(transfers))} ETH of it now.`,
      )
      assert.ok(prepareRefunds.operation.makesFiles)
      assert.deepEqual(transfersOf(found.safeBatch === null ? [] : [found.safeBatch]), transfers)
    })
  }
  const names = fc.array(name, { minLength: 1, maxLength: 5 })
  await fc.assert(fc.asyncProperty(drawnWorld, names, rarely, note, compare), { numRuns: cases(60) })
})

const heldOf = ({ results }: model.Outcome) =>
  results.flatMap(({ payment, refused }) => (payment && refused === null ? [payment] : []))

type SumIs = 'right' | 'wrong' | 'dry'
const sumField = (sumIs: SumIs, sumWei: bigint) =>
  sumIs === 'dry' ? { dryRun: true } : { sumWei: String(sumIs === 'wrong' ? sumWei + 1n : sumWei) }

/** Above which amount a second person must confirm the act: what it gives away, which what is prepared already does only if a file pays it again. */
async function compareSum(deps: never, input: object, rows: model.Payment[], again: boolean): Promise<void> {
  const sumWei = sumOf(rows.filter(({ reason }) => again || reason !== 'refunding'))
  const { pool } = deps as { pool: Sql }
  const waitsAbove = async (wei: bigint) => {
    await pool`UPDATE ledger_state SET second_person_wei = ${String(wei)}`
    const preview = await prepareAllRefunds.operation.preview(deps, ACTOR, { ...input })
    assert.ok(!isOperatorRefusal(preview))
    return preview.waits
  }
  assert.equal(await waitsAbove(sumWei), false)
  if (sumWei > 0n) assert.equal(await waitsAbove(sumWei - 1n), true)
  await pool`UPDATE ledger_state SET second_person_wei = NULL`
}

function compareAnswer(
  found: AllPrepared,
  { rows, outcome, isDry, now }: { rows: model.Payment[]; outcome: model.Outcome; isDry: boolean; now: number },
): void {
  const { results, safeBatches, ...rest } = found
  assert.deepEqual(
    results.map((one) => resultOf(one, now)),
    outcome.results.map((one, n) => expectedResult(one, String(rows[n]?.id))),
  )
  const held = heldOf(outcome)
  const times = held.map((one) => blockTime(one)).toSorted((a, b) => a - b)
  assert.deepEqual(rest, {
    ...{ dryRun: isDry, count: held.length, sumWei: sumOf(held), remaining: 0 },
    ...{ oldestAt: isoOf(times[0] ?? null), newestAt: isoOf(times.at(-1) ?? null) },
    ...{ sendNowWei: sumOf(outcome.transfers), fileCount: outcome.transfers.length === 0 ? 0 : 1 },
  })
  assert.deepEqual(transfersOf(safeBatches), isDry ? [] : outcome.transfers)
  const [oldest = null, newest = null] = [times[0], times.at(-1)]
  const line = heldLine({ ...found, isDry: isDry, oldest, newest })
  assert.ok(resultLine(prepareAllRefunds.operation, found).startsWith(`${line} `), line)
}

test('all that are held for a reason are prepared, if their sum is still what a preview showed', async () => {
  const compare = async (
    given: World,
    again: boolean,
    late: number,
    sumIs: SumIs,
    isDismissed: boolean,
    note: string | null,
  ) => {
    const before = 1_800 * 150 + late
    let dismissed: number | null = null
    const meanwhile = async (sql: Sql) =>
      dismissed === null ? null : await sql`UPDATE payments SET state = 'dismissed' WHERE id = ${dismissed}`
    const compareAll = async (deps: never, ledger: model.Ledger, now: number) => {
      const asked = { heldFor: 'soldOut', before, again }
      const rows = model.heldBefore(ledger.payments, asked, blockTime)
      const named = (one: model.Ledger) =>
        rows.map(({ id }) => ({ payment: one.payments.find((other) => other.id === id) ?? ('unknown' as const) }))
      // It keeps its reason.
      const gone = isDismissed ? rows.find(({ reason }) => reason === 'soldOut') : undefined
      dismissed = gone?.id ?? null
      if (gone) gone.state = 'dismissed'
      const tried = structuredClone(ledger)
      const trial = model.prepareEach(tried, named(tried), asked, false)
      const input = { ...asked, before: String(before), reason: note, ...sumField(sumIs, sumOf(heldOf(trial))) }
      assert.ok(prepareAllRefunds.operation.makesFiles)
      const unsummed = await prepareAllRefunds.unguarded(deps, ACTOR, { ...asked, before: String(before) })
      assert.deepEqual(problemsOf(unsummed), [['sumWei', 'missing']])
      if (dismissed === null) await compareSum(deps, { ...asked, before: String(before) }, rows, again)
      const found = await prepareAllRefunds.unguarded(deps, ACTOR, input)
      assert.deepEqual(problemsOf(found), sumIs === 'wrong' ? [[null, 'conflict']] : [])
      if (isOperatorRefusal(found)) return
      const outcome = sumIs === 'dry' ? trial : model.prepareEach(ledger, named(ledger), asked)
      compareAnswer(found, { rows, outcome, isDry: sumIs === 'dry', now })
    }
    await within(given, note, compareAll, meanwhile)
  }
  const late = fc.constantFrom(-1_800, 0, 1, 9_000)
  const sumIs = fc.constantFrom<SumIs>('right', 'right', 'right', 'wrong', 'dry')
  const property = fc.asyncProperty(drawnWorld, rarely, late, sumIs, rarely, note, compare)
  await fc.assert(property, { numRuns: cases(80) })
})
