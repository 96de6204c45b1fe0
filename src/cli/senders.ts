// The commands `node-ledger senders …`: wallets whose payments the operator wants to see before a node comes of them.
import { addSender, listSenders, removeSender } from '../operator/senders.ts'
import { type Call, EXIT, type ExitCode } from './command.ts'
import { actorHere, withOperator } from './ledger.ts'
import { accepted, fieldsOf } from './operator.ts'
import { table } from './output.ts'

/** `senders list`. */
export async function list({ io, out }: Call): Promise<ExitCode> {
  return await withOperator(io, async (deps) => {
    const found = (await listSenders(deps)) as { senders: Record<string, unknown>[] }
    const columns = ['address', 'label', 'reason', 'addedBy', 'addedAt']
    await out.result(found, () =>
      found.senders.length === 0
        ? 'None.'
        : table(
            columns,
            found.senders.map((sender) => columns.map((name) => sender[name])),
          ),
    )
    return EXIT.done
  })
}

/** `senders deny`. */
export async function deny(call: Call): Promise<ExitCode> {
  return await withOperator(call.io, async (deps) => {
    const done = accepted(await addSender(deps, actorHere(), fieldsOf(call)), call)
    await call.out.result(done, 'Payments of this wallet are held from now on.')
    return EXIT.done
  })
}

/** `senders allow`. */
export async function allow(call: Call): Promise<ExitCode> {
  return await withOperator(call.io, async (deps) => {
    const done = accepted(await removeSender(deps, actorHere(), fieldsOf(call)), call)
    await call.out.result(done, 'Taken off the list. What was held for it stays held until you decide.')
    return EXIT.done
  })
}
