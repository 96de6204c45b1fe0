// The command `payments decide`: one decision about many held payments, chosen by a filter or a file. We decide each payment on its own, with its own
// row in the audit log. So after an interruption, just run it again; it finds the rest.
import { createReadStream } from 'node:fs'
import type { components } from '../../../api/admin.ts'
import { readCsv } from '../../lib/csv.ts'
import { codeOf } from '../../lib/errors.ts'
import { isOperatorRefusal, type OperatorDeps } from '../../operator/act.ts'
import { decideMany } from '../../operator/acts/decide.ts'
import { findRows, MANY_MAX, namedAs, readPayments } from '../../operator/acts/payments.ts'
import { prepareRefunds } from '../../operator/acts/refunds/prepare-many.ts'
import { LIMIT_MAX } from '../../operator/input.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere } from '../database.ts'
import { UsageError } from '../errors.ts'
import { inEther } from '../ether.ts'
import { accepted } from '../operator.ts'
import { mustAgree, table } from '../output.ts'

/** How many bad lines of a file we name at most. */
const PROBLEMS_MAX = 20
const COLUMNS = { payment: ['payment', 'txhash', 'hash', 'id'] }

type Row = Pick<components['schemas']['Payment'], 'id' | 'valueWei' | 'reason' | 'tierId'>
/** A payment by its row id or its transaction's hash, and why it was not decided; null if it was decided. */
interface Outcome {
  readonly payment: string
  readonly refusal: string | null
}

/** Runs the command: 0 if all were decided, 1 if any was refused. */
export async function decidePayments(call: Call): Promise<ExitCode> {
  const { args, values, flags, io, out } = call
  const filters = ['held-for', 'from', 'tier'].filter((name) => values[name] !== undefined)
  if ((values.file === undefined) === (filters.length === 0))
    throw new UsageError('Choose the payments: by --file, or by one or more of --held-for, --from and --tier.')
  if (args.decision === 'refund-prepare' && flags.has('dry-run'))
    throw new UsageError(
      '--dry-run: not with refund-prepare, which only holds payments; "payments refund-cancel" undoes it',
    )
  if (args.decision !== 'release' && values['tier-id'] !== undefined)
    throw new UsageError('--tier-id: only with release')
  return await withOperator(io, async (deps) => {
    const names = values.file === undefined ? await chosen(call, deps) : await readNames(values.file)
    const dryRun = flags.has('dry-run')
    if (names.length === 0) {
      await out.result({ dryRun, decided: 0, refused: [] }, 'No held payment matches.')
      return EXIT.done
    }
    // Looked up for the whole file at once, because two parts of the file may name the same payment.
    const rows = await findRows(deps.pool, names.map(namedAs))
    const payments = rows.flatMap(({ row }) => (isOperatorRefusal(row) ? [] : [String(row.id)]))
    const question = `${WORDS[args.decision ?? '']} ${payments.length === 1 ? 'this payment' : `these ${payments.length} payments`}?`
    if (!dryRun && payments.length > 0) await mustAgree(call, question)
    const refusals = await decideInParts(call, deps, payments)
    const results = rows.flatMap(({ payment, row }): Outcome[] => {
      const refusal = isOperatorRefusal(row) ? row.message : refusals.get(String(row.id))
      return refusal === undefined ? [] : [{ payment, refusal }]
    })
    const refusedPayments = results.filter(({ refusal }) => refusal !== null)
    const decidedCount = results.length - refusedPayments.length
    await out.result({ dryRun, decided: decidedCount, refused: refusedPayments }, () =>
      [
        ...refusedPayments.map(({ payment, refusal }) => `${payment}: ${refusal}`),
        `${decidedCount} ${dryRun ? 'would be' : 'were'} decided, ${refusedPayments.length} not.`,
      ].join('\n'),
    )
    return refusedPayments.length === 0 ? EXIT.done : EXIT.negative
  })
}

/** Decides as many payments at a time as one act allows, until interrupted. @returns for each payment why it was not decided; null if it was. */
async function decideInParts(
  call: Call,
  deps: OperatorDeps,
  payments: readonly string[],
): Promise<Map<string, string | null>> {
  const refusals = new Map<string, string | null>()
  for (let at = 0; at < payments.length && !call.signal.aborted; at += MANY_MAX) {
    const outcomes = await decide(call, deps, payments.slice(at, at + MANY_MAX))
    for (const { payment, refusal } of outcomes) refusals.set(payment, refusal)
    if (payments.length > MANY_MAX) call.out.say(`  ${refusals.size} of ${payments.length}`)
  }
  return refusals
}

const WORDS: Readonly<Record<string, string>> = {
  release: 'Release',
  dismiss: 'Dismiss (no node, no refund)',
  'refund-prepare': 'Hold for their refunds',
}

/** The ids of the held payments that match the filter, oldest first; shows their sums. */
async function chosen(call: Call, deps: OperatorDeps): Promise<string[]> {
  const { 'held-for': reason, from, tier: tierId } = call.values
  const rows: Row[] = []
  for (let cursor: string | undefined; ; ) {
    const filter = { status: 'held', reason, from, tierId, cursor, limit: LIMIT_MAX }
    const input = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
    const page = accepted(await readPayments(deps, input), call) as { payments: Row[]; nextCursor: string | null }
    rows.push(...page.payments)
    if (page.nextCursor === null) break
    cursor = page.nextCursor
  }
  if (rows.length > 0) call.out.say(summary(rows))
  return rows.map(({ id }) => String(id)).reverse()
}

/** The number and sum of the payments, by reason and tier. */
function summary(rows: readonly Row[]): string {
  const groups = Map.groupBy(rows, ({ reason, tierId }) => `${reason} ${tierId ?? '-'}`)
  return table(
    ['held for', 'tier', 'payments', 'ether'],
    [...groups].map(([key, of]) => [
      ...key.split(' '),
      of.length,
      inEther(of.reduce((sum, { valueWei }) => sum + BigInt(valueWei), 0n)),
    ]),
  )
}

/** Payments named one per row, by hash or row id. What follows a # is for people. Throws a UsageError with every bad line. */
async function readNames(path: string): Promise<string[]> {
  const names: string[] = []
  const problems: string[] = []
  try {
    for await (const row of readCsv(createReadStream(path), COLUMNS)) {
      if (row.problem === null) names.push(row.cells.payment.replace(/#.*/, '').trim())
      else problems.push(`--file: line ${row.line}: ${row.problem}`)
    }
  } catch (error) {
    throw new UsageError(`--file: ${path} cannot be read (${codeOf(error)})`)
  }
  if (problems.length > 0) throw new UsageError(problems.slice(0, PROBLEMS_MAX).join('\n'))
  return names
}

async function decide(call: Call, deps: OperatorDeps, payments: readonly string[]): Promise<readonly Outcome[]> {
  const { args, values, flags } = call
  const reason = values.reason === undefined ? {} : { reason: values.reason }
  if (args.decision === 'refund-prepare')
    return accepted(
      await prepareRefunds(deps, actorHere(), { ...reason, payments: [...payments], holdOnly: true }),
      call,
    ).results
  const tier = values['tier-id'] === undefined ? {} : { tierId: values['tier-id'] }
  const input = { ...reason, ...tier, decision: args.decision, payments: [...payments], dryRun: flags.has('dry-run') }
  return accepted(await decideMany(deps, actorHere(), input), call).results
}
