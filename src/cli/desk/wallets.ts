// The commands `node-ledger wallets …`: the wallets that buyers pay to. A change is shown as it would be made before anybody is asked.
import {
  changeWallet,
  closeBooks,
  listWallets,
  previewWallet,
  takeBackWallet,
  type WalletProposal,
} from '../../operator/payment-wallets.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { accepted, fieldsOf } from '../operator.ts'
import { mustAgree, table } from '../output.ts'

/** `wallets list`. */
export async function list({ io, out }: Call): Promise<ExitCode> {
  return await withDatabase(io, async (deps) => {
    const found = await listWallets(deps)
    await out.result(found, () => {
      if (found.wallets.length === 0)
        return 'None: nothing can be bought. "node-ledger wallets set <address>" enters one.'
      const rows = found.wallets.map((row) => [
        row.wallet,
        row.state,
        row.fromBlock === 0
          ? 'the beginning'
          : `block ${row.fromBlock}, ${new Date(row.fromTime * 1000).toISOString()}`,
        row.closedBlock ?? '',
        row.enteredBy,
      ])
      return table(['wallet', 'state', 'from', 'closed with block', 'entered by'], rows)
    })
    return EXIT.done
  })
}

/** `wallets set`. */
export async function set(call: Call): Promise<ExitCode> {
  const { io, out } = call
  return await withOperator(io, async (deps) => {
    const actor = actorHere()
    const input = fieldsOf(call)
    out.say(inWords(accepted(await previewWallet(deps, actor, input), call)))
    await mustAgree(call, 'Have buyers pay there?')
    // Blocks go on meanwhile, and with them the time from which it holds: the entry is printed once more.
    const done = accepted(await changeWallet(deps, actor, input), call)
    await out.result(done, () => `Entered. ${inWords(done)}`)
    return EXIT.done
  })
}

/** `wallets take-back`. */
export async function takeBack(call: Call): Promise<ExitCode> {
  const { io, out } = call
  return await withOperator(io, async (deps) => {
    await mustAgree(call, 'Take this change back?')
    const done = accepted(await takeBackWallet(deps, actorHere(), fieldsOf(call)), call)
    await out.result(done, `Taken back. Buyers go on paying to ${done.inForce}.`)
    return EXIT.done
  })
}

/** `wallets close`. */
export async function close(call: Call): Promise<ExitCode> {
  const { io, out } = call
  return await withOperator(io, async (deps) => {
    await mustAgree(call, 'Close its books? What comes there later is not seen.')
    const done = accepted(await closeBooks(deps, actorHere(), fieldsOf(call)), call)
    await out.result(done, `Closed with block ${done.closedBlock}.`)
    return EXIT.done
  })
}

function inWords({ wallet, before, fromBlock, fromTime, graceUntil, stolen }: WalletProposal): string {
  if (before === null) return `Buyers pay to ${wallet} from now on.`
  const time = (at: number) => new Date(at * 1000).toISOString()
  const grace =
    stolen || graceUntil === null
      ? `No later payment to ${before} is a sale.`
      : `A payment to ${before} is a sale until ${time(graceUntil)}, and held after.`
  return `Buyers pay to ${wallet} from block ${fromBlock} on, not before ${time(fromTime)}. ${grace} It is watched until "wallets close".`
}
