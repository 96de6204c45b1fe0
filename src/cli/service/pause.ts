// The command `resume`: ends the operator's pause, or lets halted passes continue. The two are different: the operator sets a pause, but the passes
// halt automatically if the chain is not the one they were following.
import { haltInWords, readHalt } from '../../db/blocks/halts.ts'
import { clearHaltByHand, dropForkGuard, resume as resumeCrediting } from '../../operator/acts/pause.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { withDatabase } from '../database.ts'
import { RefusedError } from '../errors.ts'
import { LINE, runAs } from '../operator.ts'

/** Runs `resume`; with --halt clears a halt, with --no-guard gives up the fork guard. */
export async function resume(call: Call): Promise<ExitCode> {
  const { io, out, flags } = call
  if (flags.has('no-guard')) return await runAs(dropForkGuard.operation, LINE, call)
  const halt = await withDatabase(io, ({ pool }) => readHalt(pool))
  const text = halt && `The passes are ${haltInWords(halt)}.`
  if (flags.has('halt')) {
    if (!text) throw new RefusedError('The passes are not halted.')
    out.say(text)
    const texts = { asks: 'Clear it?', otherwise: 'The passes stay halted.' }
    return await runAs(clearHaltByHand.operation, { ...LINE, ...texts }, call)
  }
  const code = await runAs(resumeCrediting.operation, { ...LINE, asks: 'Resume crediting?' }, call)
  if (!text) return code
  out.say(`${text}\nYou did not set this halt. Find out its cause, then clear it with "node-ledger resume --halt".`)
  return EXIT.negative
}
