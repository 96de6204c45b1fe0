// The commands `node-ledger nodes …`: nodes without a payment, and the operator's grants for them.
import { grantNode, listUnpaid, revokeGrant } from '../../operator/grants.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { accepted, fieldsOf, showPage } from '../operator.ts'
import { mustAgree, table } from '../output.ts'

/** `nodes unpaid`. */
export async function unpaid(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (deps) => {
    const page = accepted(await listUnpaid(deps, fieldsOf(call)), call)
    await showPage(call, page, (rows) => {
      const columns = Object.keys(rows[0] as object)
      return table(
        columns,
        rows.map((row) => columns.map((name) => (row as Record<string, unknown>)[name])),
      )
    })
    return EXIT.done
  })
}

/** `nodes grant`. */
export async function grant(call: Call): Promise<ExitCode> {
  const { io, out, args } = call
  return await withDatabase(io, async (deps) => {
    const question = `Node ${args['node-id']} came without a payment. Grant it, so that it is credited like any other?`
    await mustAgree(call, question)
    const done = accepted(await grantNode(deps, actorHere(), fieldsOf(call)), call)
    await out.result(done, 'Granted: its cohort is credited again from the next pass on.')
    return EXIT.done
  })
}

/** `nodes revoke`. */
export async function revoke(call: Call): Promise<ExitCode> {
  const { io, out, args } = call
  return await withDatabase(io, async (deps) => {
    const question = `Take back the grant of node ${args['node-id']}, so that its cohort is no longer credited?`
    await mustAgree(call, question)
    const done = accepted(await revokeGrant(deps, actorHere(), fieldsOf(call)), call)
    await out.result(done, 'Taken back: its cohort waits from the next pass on.')
    return EXIT.done
  })
}
