// The command `node-ledger rescan`: reads blocks again and compares them with the ledger. By default it only reports. On request it also rewinds the
// ledger, so that the next pass follows those blocks again.
import { toJson } from '../../lib/json.ts'
import { type RescanResult, rescan } from '../../operator/acts/rescan.ts'
import { resultLine } from '../../operator/define-act.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere } from '../database.ts'
import { accepted, fieldsOf, type View } from '../operator.ts'
import { mustAgree } from '../output.ts'

export const VIEWS: Readonly<Record<string, View>> = { rescan: { run: rescanBlocks } }

/** Runs the command: 0 if nothing differs, or if the ledger was rewound so that the next pass follows those blocks again. */
async function rescanBlocks(call: Call): Promise<ExitCode> {
  const { io, out, signal } = call
  return await withOperator(io, async (deps) => {
    let input: Record<string, unknown> = fieldsOf(call)
    const scan = async (dryRun: boolean) => accepted(await rescan(deps, actorHere(), { ...input, dryRun }), call)
    let result: RescanResult = await scan(true)
    // A single request ends after a while and reports how far it got.
    while (!differs(result) && result.toBlock < result.followedTo) {
      signal.throwIfAborted()
      out.say(`  blocks up to ${result.toBlock} agree`)
      input = { ...input, fromBlock: result.toBlock + 1 }
      result = await scan(true)
    }
    if (!differs(result)) {
      await out.result(result, resultLine(rescan.operation, result))
      return EXIT.done
    }
    for (const { side, entries } of [
      { side: 'on chain, but not in the ledger', entries: result.missing },
      { side: 'in the ledger, but not on chain', entries: result.surplus },
    ]) {
      for (const entry of entries) out.say(`  ${side}: ${toJson(entry)}`)
    }
    if (call.flags.has('dry-run')) {
      await out.result(result, resultLine(rescan.operation, result))
      return EXIT.negative
    }
    await mustAgree(call, String(rescan.operation.asks))
    const outcome = await scan(false)
    await out.result(outcome, resultLine(rescan.operation, outcome))
    return EXIT.done
  })
}

const differs = ({ missing, surplus }: RescanResult) => missing.length + surplus.length > 0
