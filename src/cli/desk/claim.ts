// The command `node-ledger payments claim`, which does the same as a buyer's claim. It runs a pass, so it loads everything that passes need.
import { readPaymentsIn } from '../../db/reads/public-payments.ts'
import type { Hash } from '../../domain/units.ts'
import { paymentsPass } from '../../passes/payments.ts'
import { claimer } from '../../requests/claim.ts'
import { withPasses } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { RefusedError, UnavailableError, UsageError } from '../errors.ts'
import { fields } from '../output.ts'

/** Runs the command. */
export async function claim(call: Call): Promise<ExitCode> {
  const { io, out, args } = call
  const txHash = readHash(args.hash ?? '')
  return await withPasses(io, async (ctx) => {
    const outcome = await claimer(ctx, paymentsPass(ctx))(txHash)
    if (outcome.kind === 'notFound' || outcome.kind === 'pending')
      throw new UnavailableError(
        outcome.kind === 'pending'
          ? 'The transaction is in no block yet: ask again shortly.'
          : 'The provider knows no such transaction (yet).',
      )
    if (outcome.kind === 'notASale') throw new RefusedError(`Not a sale: ${outcome.why}.`)
    const found = await readPaymentsIn(ctx.pool, txHash)
    if (!found) throw new UnavailableError('The ledger has not followed to its block yet: ask again shortly.')
    const payment = JSON.parse(found.json) as { payments: object[] }
    await out.result(payment, () => payment.payments.map((one) => fields(Object.entries(one))).join('\n\n'))
    return EXIT.done
  })
}

function readHash(text: string): Hash {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text))
    throw new UsageError('<hash>: must be a transaction hash, 0x and 64 hex digits')
  return text.toLowerCase() as Hash
}
