// The command `node-ledger pass`: runs a pass once, as the service would, under the same locks.
import { readHalt } from '../../db/blocks/halts.ts'
import { creditPass } from '../../passes/credit.ts'
import { paymentsPass } from '../../passes/payments.ts'
import { withPasses } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { fields } from '../output.ts'

/** Runs the command: 0 if the pass did its work, 1 if it did not run or something blocks it. */
export async function pass(call: Call): Promise<ExitCode> {
  const { io, out, args } = call
  return await withPasses(io, async (ctx) => {
    const outcome = await (args.pass === 'credit' ? creditPass(ctx) : paymentsPass(ctx))()
    const halt = await readHalt(ctx.pool)
    await out.result({ ...outcome, halted: halt }, () => fields(Object.entries(outcome)))
    if (!outcome.ran) out.say('It did not run: another run of this pass has the lock.')
    if (halt) out.say(`The passes are halted (${halt.reason}, since ${halt.since}): see "node-ledger help resume".`)
    const waits = whatWaits(outcome)
    for (const line of waits) out.say(line)
    const stuck = 'reason' in outcome && ['disabled', 'paused', 'underfunded'].includes(outcome.reason ?? '')
    return outcome.ran && !halt && !stuck && waits.length === 0 ? EXIT.done : EXIT.negative
  })
}

/** Why paid work still waits although the pass ran, each reason with what to do. */
function whatWaits(outcome: object): string[] {
  const { signer, budgetSpent } = outcome as { signer?: string | null; budgetSpent?: string | null }
  const lines: string[] = []
  if (signer === 'notSigned')
    lines.push('Its signer did not sign, so its work still waits: "node-ledger doctor" shows why.')
  if (budgetSpent) {
    lines.push(
      `The minter’s budget of ${budgetSpent} is spent: "node-ledger owner refill-minter --${budgetSpent} <n>" prints what the contract’s owner signs.`,
    )
  }
  return lines
}
