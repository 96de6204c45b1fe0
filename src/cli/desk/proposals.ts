// The commands `node-ledger second-person …` and `node-ledger proposals …`.
import type { Act } from '../../operator/act.ts'
import { confirmProposal, listProposals, refuseProposal } from '../../operator/second-person/proposals.ts'
import { setSecondPerson, showSecondPerson } from '../../operator/second-person/rule.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { inEther } from '../ether.ts'
import { accepted, fieldsOf, showPage } from '../operator.ts'
import { mustAgree, tableOf } from '../output.ts'

const COLUMNS = ['id', 'state', 'act', 'input', 'proposedBy', 'proposedAt', 'expiresAt', 'settledBy', 'refusal']

/** `second-person show`. */
export async function show(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async ({ pool }) => {
    const rule = await showSecondPerson({ pool })
    await call.out.result(rule, inWords(rule.aboveWei))
    return EXIT.done
  })
}

const inWords = (aboveWei: bigint | null) =>
  aboveWei === null
    ? 'Off: nothing needs a second person.'
    : `Above ${inEther(aboveWei)} ether a release or a refund needs a second person; terms and the payments wallet always do.`

/** `second-person set`. */
export async function set(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async ({ pool }) => {
    await mustAgree(call, 'Change who has to agree?')
    const done = accepted(await setSecondPerson({ pool }, actorHere(), fieldsOf(call)), call)
    await call.out.result(done, inWords((done as { aboveWei: bigint | null }).aboveWei))
    return EXIT.done
  })
}

/** `proposals list`. */
export async function list(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async ({ pool }) => {
    await showPage(call, { ...(await listProposals({ pool })) }, (rows) => tableOf(rows, COLUMNS))
    return EXIT.done
  })
}

/** `proposals confirm`. */
export const confirm = (call: Call) =>
  settle(call, confirmProposal, 'Confirm it, so that it is done now?', 'Confirmed, and done.')

/** `proposals refuse`. */
export const refuse = (call: Call) => settle(call, refuseProposal, 'Refuse it?', 'Refused.')

async function settle(call: Call, act: Act, question: string, says: string): Promise<ExitCode> {
  return await withOperator(call.io, async (deps) => {
    await mustAgree(call, question)
    await call.out.result(accepted(await act(deps, actorHere(), fieldsOf(call)), call), says)
    return EXIT.done
  })
}
