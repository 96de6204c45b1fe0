// The commands `node-ledger senders …`: wallets whose payments the operator wants to see before a node comes of them.
import { addToDenyList, listDenyList, removeFromDenyList } from '../../operator/deny-list.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { accepted, fieldsOf, showPage } from '../operator.ts'
import { mustAgree, tableOf } from '../output.ts'

/** Said to a person who declines. */
const UNCHANGED = 'The list stays as it was.'

/** `senders list`. */
export async function list(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (deps) => {
    const found = await listDenyList(deps)
    await showPage(call, { ...found }, (rows) => tableOf(rows, ['address', 'label', 'reason', 'addedBy', 'addedAt']))
    return EXIT.done
  })
}

/** `senders deny`. */
export async function deny(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (deps) => {
    await mustAgree(call, `Hold all payments of ${call.args.address} from now on?`, UNCHANGED)
    const done = accepted(await addToDenyList(deps, actorHere(), fieldsOf(call)), call)
    await call.out.result(done, 'Payments of this wallet are held from now on.')
    return EXIT.done
  })
}

/** `senders allow`. */
export async function allow(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (deps) => {
    await mustAgree(call, `Take ${call.args.address} off the list?`, UNCHANGED)
    const done = accepted(await removeFromDenyList(deps, actorHere(), fieldsOf(call)), call)
    await call.out.result(done, 'Taken off the list. What was held for it stays held until you decide.')
    return EXIT.done
  })
}
