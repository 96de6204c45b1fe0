// The command `payments decide`: one decision about many held payments, chosen by a filter or a file. We decide each payment on its own, with its own
// row in the audit log. So after an interruption, just run it again; it finds those that are left.
import { createReadStream } from 'node:fs'
import type { components } from '../../../api/admin.ts'
import { readCsv } from '../../lib/csv.ts'
import { codeOf } from '../../lib/errors.ts'
import { type EveryPart, isOperatorRefusal, type OperatorDeps } from '../../operator/act.ts'
import { decideMany, decisionsInWords } from '../../operator/acts/decide.ts'
import { findRows, MANY_MAX, namedAs, readPayments } from '../../operator/acts/payments.ts'
import { type PreparedRefunds, prepareRefunds } from '../../operator/acts/refunds/prepare-many.ts'
import { LIMIT_MAX } from '../../operator/input.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere } from '../database.ts'
import { UsageError } from '../errors.ts'
import { inEther } from '../ether.ts'
import { accepted, previewOf } from '../operator.ts'
import { mustAgree, table } from '../output.ts'

/** How many bad lines of a file we name at most. */
const PROBLEMS_MAX = 20
const COLUMNS = { payment: ['payment', 'txhash', 'hash', 'id'] }

type Row = Pick<components['schemas']['Payment'], 'id' | 'valueWei' | 'reason' | 'tierId'>
/** A payment by its row id or its transaction's hash, and why it was not decided; null if it was decided. */
interface Outcome {
  readonly payment: string
  readonly id: number | null
  readonly tierId: string | null
  readonly refusal: string | null
}

/** Runs the command: 0 if all were decided, 1 if any was refused. */
export async function decidePayments(call: Call): Promise<ExitCode> {
  const { args, values, flags, io, out } = call
  const filters = ['held-for', 'from', 'tier'].filter((name) => values[name] !== undefined)
  if ((values.file === undefined) === (filters.length === 0))
    throw new UsageError('Choose the payments: by --file, or by one or more of --held-for, --from and --tier.')
  if (args.decision !== 'release' && values['tier-id'] !== undefined)
    throw new UsageError('--tier-id: only with release')
  return await withOperator(io, async (deps) => {
    const names = values.file === undefined ? await chosen(call, deps) : await readNames(values.file)
    const dryRun = flags.has('dry-run')
    if (names.length === 0) {
      await out.result({ dryRun, decided: 0, refused: [] }, 'No held payment matches.')
      return EXIT.done
    }
    // Looked up once for the whole file, because two parts of the file may name the same payment.
    const rows = await findRows(deps.pool, names.map(namedAs))
    const payments = rows.flatMap(({ row }) => (isOperatorRefusal(row) ? [] : [String(row.id)]))
    const outcomesOf = async (isDry: boolean) => {
      const outcomes = await decideInParts(call, deps, payments, isDry)
      return rows.flatMap(({ payment, row }): Outcome[] => {
        if (isOperatorRefusal(row)) return [{ payment, id: null, tierId: null, refusal: row.message }]
        const outcome = outcomes.get(String(row.id))
        return outcome ? [{ ...outcome, payment }] : []
      })
    }
    const plan = dryRun || !flags.has('yes') ? await outcomesOf(true) : null
    const isPlanFinal = dryRun || plan?.every(({ refusal }) => refusal !== null)
    if (plan) out.say((await decisionsInWords(deps.pool, args.decision as Decision, plan)).join('\n'))
    if (plan && !isPlanFinal) await mustAgree(call, QUESTIONS[args.decision as Decision])
    return await report(call, plan && isPlanFinal ? plan : await outcomesOf(false), isPlanFinal === true)
  })
}

async function report({ out }: Call, outcomes: readonly Outcome[], dryRun: boolean): Promise<ExitCode> {
  const refused = outcomes.flatMap(({ payment, refusal }) => (refusal === null ? [] : { payment, refusal }))
  const decided = outcomes.length - refused.length
  await out.result({ dryRun, decided, refused }, () =>
    [
      ...refused.map(({ payment, refusal }) => `${payment}: ${refusal}`),
      `${decided} ${dryRun ? 'would be decided' : 'decided'}, ${refused.length} not.`,
    ].join('\n'),
  )
  return refused.length === 0 ? EXIT.done : EXIT.negative
}

/** Decides as many payments at a time as one act allows, until interrupted. @returns the outcome of each payment. */
async function decideInParts(
  call: Call,
  deps: EveryPart,
  payments: readonly string[],
  isDry: boolean,
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>()
  for (let at = 0; at < payments.length && !call.signal.aborted; at += MANY_MAX) {
    for (const outcome of await decide(call, deps, payments.slice(at, at + MANY_MAX), isDry))
      outcomes.set(outcome.payment, outcome)
    if (payments.length > MANY_MAX) call.out.say(`  ${outcomes.size} of ${payments.length}`)
  }
  return outcomes
}

type Decision = 'release' | 'dismiss' | 'refund-prepare'

const QUESTIONS: Readonly<Record<Decision, string>> = {
  release: 'Release them?',
  dismiss: 'Dismiss them?',
  'refund-prepare': 'Hold them for their refunds?',
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
    ['held for', 'tier', 'payments', 'ETH'],
    [...groups].map(([key, of]) => [
      ...key.split(' '),
      of.length,
      inEther(of.reduce((sum, { valueWei }) => sum + BigInt(valueWei), 0n)),
    ]),
  )
}

/** Payments named one per row, by hash or row id. What follows a # is for people. Throws a UsageError with the first 20 bad lines. */
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

async function decide(
  call: Call,
  deps: EveryPart,
  payments: readonly string[],
  isDry: boolean,
): Promise<readonly Outcome[]> {
  const { args, values } = call
  const reason = values.reason === undefined ? {} : { reason: values.reason }
  if (args.decision === 'refund-prepare') {
    const input = { ...reason, payments: [...payments], holdOnly: true }
    const { results } = isDry
      ? ((await previewOf(prepareRefunds.operation, deps, input, call)).result as PreparedRefunds)
      : accepted(await prepareRefunds(deps, actorHere(), input), call)
    return results.map(({ prepared, ...of }) => ({ id: null, tierId: null, ...prepared, ...of }))
  }
  const tier = values['tier-id'] === undefined ? {} : { tierId: values['tier-id'] }
  const input = { ...reason, ...tier, decision: args.decision, payments: [...payments], dryRun: isDry }
  return accepted(await decideMany(deps, actorHere(), input), call).results
}
