// The command `node-ledger pass`: runs a pass once, as the service would, under the same locks.
import { readCursor } from '../../db/blocks/blocks.ts'
import { readHalt } from '../../db/blocks/halts.ts'
import type { Drift } from '../../domain/drift.ts'
import { reconcileWindow } from '../../follower/reconcile.ts'
import type { PassContext } from '../../passes/context.ts'
import { creditPass } from '../../passes/credit.ts'
import { paymentsPass } from '../../passes/payments.ts'
import { withPasses } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { UnavailableError } from '../errors.ts'
import { fields } from '../output.ts'

/** How often one window is tried before we give up because the ledger keeps moving. */
const TRIES_MAX = 20

/** Runs the command: 0 if the pass did its work, 1 if it did not run or something blocks it. */
export async function pass(call: Call): Promise<ExitCode> {
  const { io, out, args } = call
  return await withPasses(io, async (ctx) => {
    const outcome = await run(ctx, args.pass ?? '')
    const halt = await readHalt(ctx.pool)
    await out.result({ ...outcome, halted: halt }, () => fields(Object.entries(outcome)))
    if (!outcome.ran) out.say('It did not run: another run of this pass is under way.')
    if (halt) out.say(`The passes are halted (${halt.reason}, since ${halt.since}): see "node-ledger help resume".`)
    const waits = whatWaits(outcome)
    for (const line of waits) out.say(line)
    const stuck = 'reason' in outcome && ['disabled', 'paused', 'underfunded'].includes(outcome.reason ?? '')
    const drifting = 'drifts' in outcome && outcome.drifts.length > 0
    return outcome.ran && !halt && !stuck && waits.length === 0 && !drifting ? EXIT.done : EXIT.negative
  })
}

/** Why paid work still waits although the pass ran, each reason with what to do. */
function whatWaits(outcome: object): string[] {
  const { signer, budgetSpent } = outcome as { signer?: string | null; budgetSpent?: string | null }
  const lines: string[] = []
  if (signer === 'notSigned')
    lines.push('Its signer did not sign, so its work still waits: "node-ledger doctor" says why.')
  if (budgetSpent) {
    lines.push(
      `The minter’s budget of ${budgetSpent} is spent: "node-ledger owner refill-minter --${budgetSpent} <n>" prints what the contract’s owner signs.`,
    )
  }
  return lines
}

function run(ctx: PassContext, name: string) {
  if (name === 'payments') return paymentsPass(ctx)()
  if (name === 'credit') return creditPass(ctx)()
  return reconcileAll(ctx)
}

interface ReconcileOutcome {
  ran: boolean
  blockNumber: number | null
  /** How many nodes the ledger lacked and now has. */
  inserted: number
  drifts: Drift[]
}

/** Compares every window of nodes once. A run of the pass compares only one. */
async function reconcileAll(ctx: PassContext): Promise<ReconcileOutcome> {
  const done = await ctx.lock('payments', async (signal): Promise<ReconcileOutcome> => {
    let blockNumber: number | null = null
    let inserted = 0
    const drifts = new Map<string, Drift>()
    let first = 1
    for (let tries = 0; tries < TRIES_MAX; ) {
      signal.throwIfAborted()
      const cursor = await readCursor(ctx.pool)
      if (!cursor) break
      const { result, next } = await reconcileWindow(ctx, cursor, first)
      inserted += result.inserted
      if ((await readCursor(ctx.pool))?.hash !== cursor.hash) {
        // The ledger moved in between, so we did not read both sides at the same block.
        tries++
        continue
      }
      blockNumber = cursor.number
      for (const drift of result.drifts) drifts.set(JSON.stringify(drift), drift)
      if (next <= first) return { ran: true, blockNumber, inserted, drifts: [...drifts.values()] }
      first = next
      tries = 0
    }
    throw new UnavailableError(
      'The ledger could not be compared: it has followed nothing yet, or it moves too fast. Try again.',
    )
  })
  return done ?? { ran: false, blockNumber: null, inserted: 0, drifts: [] }
}
