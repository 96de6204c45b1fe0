// The command `node-ledger recheck`: holds every payment without a node, up to a block, for the operator to review. Needed after a restore that the
// service could not notice itself.

import { readCursor } from '../../db/blocks/blocks.ts'
import { inTransaction } from '../../db/core/sql.ts'
import { countUnminted, raiseRecheck, readRecheck } from '../../db/payments/recheck.ts'
import { counted } from '../../domain/units.ts'
import { recordAct } from '../../operator/act.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere } from '../database.ts'
import { RefusedError, UsageError } from '../errors.ts'
import { inEther } from '../ether.ts'
import { mustAgree } from '../output.ts'

export async function recheck(call: Call): Promise<ExitCode> {
  const { io, out, values } = call
  const target = readBlockNumber(values['up-to'] ?? '')
  return await withOperator(io, async ({ pool, chain }) => {
    const head = await chain.head()
    const block = target === 'head' ? head.number : target
    // Otherwise future payments would be held too: one digit too many must not stop the sale.
    if (block > head.number)
      throw new RefusedError(`The chain's head is block ${head.number}: give that block or an earlier one.`)
    const before = await readRecheck(pool)
    if (before !== null && before >= block)
      throw new RefusedError(`It is already at block ${before}, and can only rise.`)
    const [waiting, cursor] = [await countUnminted(pool, block), await readCursor(pool)]
    out.say(
      `${counted(waiting.payments, 'payment')} up to block ${block}, ${inEther(waiting.wei)} ETH, without a node or a decision of yours: the service will hold each as "recheck", and those in blocks still to be followed (the ledger is at ${cursor?.number ?? 'no block'}) too.`,
    )
    if (call.flags.has('dry-run')) return EXIT.done
    await mustAgree(call, 'Hold them?')
    const actor = actorHere()
    const isRaised = await inTransaction(pool, async (sql) => {
      const isHigher = await raiseRecheck(sql, block)
      if (isHigher) await recordAct(sql, actor, { action: 'recheckRaised', before, after: block })
      return isHigher
    })
    if (!isRaised) throw new RefusedError('Someone else has raised it: run the command again.')
    await out.result({ recheckUpTo: block, before, payments: waiting.payments }, 'The next payments pass holds them.')
    return EXIT.done
  })
}

function readBlockNumber(text: string): number | 'head' {
  if (text === 'head') return text
  const block = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(block)) throw new UsageError('--up-to: must be a block number, or head')
  return block
}
