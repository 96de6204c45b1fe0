// The command `resume`: ends the operator's pause, or lets halted passes continue. The two are different: the operator sets a pause, but the passes
// halt automatically if the chain is not the one they were following.
import { type HaltState, haltInWords, readHalt } from '../../db/blocks/halts.ts'
import { inTransaction } from '../../db/core/sql.ts'
import { dropGuard, readGuard } from '../../db/sends/guard.ts'
import { type LedgerPart, recordAct } from '../../operator/act.ts'
import { clearHaltByHand, resume as resumeCrediting } from '../../operator/acts/pause.ts'
import { resultLine } from '../../operator/define-act.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withLedger } from '../database.ts'
import { RefusedError } from '../errors.ts'
import { accepted, fieldsOf, isPreviewAll } from '../operator.ts'
import { mustAgree } from '../output.ts'

/** Runs `resume`; with --halt clears a halt, with --no-guard gives up the fork guard. */
export async function resume(call: Call): Promise<ExitCode> {
  const { io, out, flags } = call
  return await withLedger(io, async (deps) => {
    const halt = await readHalt(deps.pool)
    if (flags.has('halt')) {
      if (!halt) throw new RefusedError('The passes are not halted.')
      out.say(describe(halt))
      if (await isPreviewAll(clearHaltByHand.operation, deps, fieldsOf(call), call)) return EXIT.done
      await mustAgree(call, 'Clear it?', 'The passes stay halted.')
      const outcome = accepted(await clearHaltByHand(deps, actorHere(), fieldsOf(call)), call)
      await out.result(outcome, resultLine(clearHaltByHand.operation, outcome))
      return EXIT.done
    }
    if (flags.has('no-guard')) return await takeBackGuard(call, deps)
    if (!(await isPreviewAll(resumeCrediting.operation, deps, fieldsOf(call), call))) {
      await mustAgree(call, 'Resume crediting?')
      const outcome = accepted(await resumeCrediting(deps, actorHere(), fieldsOf(call)), call)
      await out.result({ ...outcome, halted: halt }, resultLine(resumeCrediting.operation, outcome))
    }
    if (!halt) return EXIT.done
    out.say(
      `${describe(halt)}\nYou did not set this halt. Find out its cause, then clear it with "node-ledger resume --halt".`,
    )
    return EXIT.negative
  })
}

/** Lets the next start run without the fork guard if the contract then sees other block hashes. */
async function takeBackGuard(call: Call, deps: LedgerPart): Promise<ExitCode> {
  const before = await readGuard(deps.pool)
  if (before !== 'used') throw new RefusedError('The ledger uses no fork guard.')
  call.out.say(
    'From the next start on, mints and rounds carry no fork guard if the contract sees other block hashes than the provider: they then wait for final blocks. Compare the contract’s hashOf with an explorer first.',
  )
  if (call.flags.has('dry-run')) return EXIT.done
  await mustAgree(call, 'Turn the fork guard off?', 'The fork guard stays on.')
  const actor = actorHere()
  await inTransaction(deps.pool, async (sql) => {
    await dropGuard(sql)
    await recordAct(sql, actor, { action: 'guardDropped', before, after: 'dropped' })
  })
  await call.out.result({ guard: 'dropped' }, 'Restart the service: it checks the chain again.')
  return EXIT.done
}

const describe = (halt: HaltState) => `The passes are ${haltInWords(halt)}.`
