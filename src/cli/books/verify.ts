// The command `node-ledger verify`: compares the ledger with the contract at the ledger's block, and prints the differences. Changes nothing on
// either side.
import { isOperatorRefusal } from '../../operator/act.ts'
import { verifyLedger } from '../../operator/acts/books/verify.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { UnavailableError } from '../errors.ts'
import { outline } from '../output.ts'

/** How many differences we list; we count all. */
const SHOWN_MAX = 50

/** Runs the command: 0 if both are equal and the balance covers the debt, 1 on drift or too little cover, 3 if we could not compare. */
export async function verify({ io, out, signal }: Call): Promise<ExitCode> {
  return await withOperator(io, async (deps) => {
    const result = await verifyLedger(deps, { signal, say: (progress) => out.say(`  ${progress}`) })
    if (isOperatorRefusal(result)) throw new UnavailableError(result.message)
    const { drifts, cover } = result
    const comparison = drifts.length === 0 ? 'are equal' : `differ in ${drifts.length} places`
    await out.result({ ...result, equal: drifts.length === 0 }, () =>
      [
        outline({ ...result, drifts: drifts.slice(0, SHOWN_MAX) }),
        `Ledger and contract ${comparison}.`,
        ...(cover.isSolvent ? [] : ['The contract holds less than it owes.']),
      ].join('\n'),
    )
    return drifts.length === 0 && cover.isSolvent ? EXIT.done : EXIT.negative
  })
}
