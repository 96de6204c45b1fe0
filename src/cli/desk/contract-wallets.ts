// The commands `node-ledger contract-wallets …`: who may buy by an internal call, as a Safe and other contract wallets pay.
import {
  allowContractWallet,
  disallowContractWallet,
  listContractWallets,
  setContractWallets,
} from '../../operator/contract-wallets.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { accepted, fieldsOf } from '../operator.ts'
import { mustAgree, table, tableOf } from '../output.ts'

/** `contract-wallets list`. */
export async function list({ io, out }: Call): Promise<ExitCode> {
  return await withDatabase(io, async (deps) => {
    const found = await listContractWallets(deps)
    await out.result(found, () => {
      const modes = found.modes.map(({ mode, fromBlock, enteredAt, enteredBy }) => [
        mode,
        fromBlock,
        enteredAt,
        enteredBy,
      ])
      return [
        `Mode: ${found.mode}. List of known wallets: version ${found.knownWallets}.`,
        modes.length === 0 ? 'No mode was entered.' : table(['mode', 'from block', 'entered', 'by'], modes),
        found.allowed.length === 0
          ? 'No contract is allowed by itself.'
          : tableOf(found.allowed, ['address', 'label', 'reason', 'addedBy', 'addedAt']),
      ].join('\n\n')
    })
    return EXIT.done
  })
}

/** `contract-wallets mode`. */
export async function mode(call: Call): Promise<ExitCode> {
  const { io, out } = call
  return await withOperator(io, async (deps) => {
    const input = fieldsOf(call)
    await mustAgree(call, `Have contract wallets judged by the mode ${input.mode}?`)
    const done = accepted(await setContractWallets(deps, actorHere(), input), call)
    await out.result(
      done,
      done.changed ? `Entered: ${done.mode} from block ${done.fromBlock} on.` : `It is ${done.mode} already.`,
    )
    return EXIT.done
  })
}

/** `contract-wallets allow`. */
export async function allow(call: Call): Promise<ExitCode> {
  const { io, out } = call
  return await withDatabase(io, async (deps) => {
    await mustAgree(call, 'Have this contract buy in the mode proven?')
    const done = accepted(await allowContractWallet(deps, actorHere(), fieldsOf(call)), call)
    await out.result(done, 'Allowed. What it has waiting is judged again by the next payments pass.')
    return EXIT.done
  })
}

/** `contract-wallets disallow`. */
export async function disallow(call: Call): Promise<ExitCode> {
  const { io, out } = call
  return await withDatabase(io, async (deps) => {
    await mustAgree(call, 'Allow this contract no more?')
    const done = accepted(await disallowContractWallet(deps, actorHere(), fieldsOf(call)), call)
    await out.result(done, 'Allowed no more. What it has bought stays bought.')
    return EXIT.done
  })
}
