// The commands `node-ledger terms …`: what is paid for a turn, whether turns are owed, and the schedule that new nodes join. An entry is shown
// as it would be made, with what the contract's owner has to do for it, before anybody is asked.
import type { OwnerTransaction } from '../../chain/factory/owner-calls.ts'
import { enterTerms, listTerms, previewTerms, type TermsProposal, takeBackTerms } from '../../operator/terms.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere } from '../database.ts'
import { inEther } from '../ether.ts'
import { accepted, fieldsOf } from '../operator.ts'
import { mustAgree, table } from '../output.ts'

/** `terms list`. */
export async function list({ io, out }: Call): Promise<ExitCode> {
  return await withOperator(io, async (deps) => {
    const found = await listTerms(deps)
    await out.result(found, () => {
      if (found.terms.length === 0)
        return 'None: nothing is judged, minted or paid. "node-ledger terms set" enters some.'
      const rows = found.terms.map((row) => [...cells(row), row.state, row.enteredBy])
      return `${table([...HEADS, 'state', 'entered by'], rows)}${forTheOwner(found.ownersTransaction)}`
    })
    return EXIT.done
  })
}

/** `terms set`. */
export async function set(call: Call): Promise<ExitCode> {
  const { io, out } = call
  return await withOperator(io, async (deps) => {
    const actor = actorHere()
    const input = fieldsOf(call)
    const proposal = accepted(await previewTerms(deps, actor, input), call)
    if (!proposal.changed) {
      await out.result(proposal, 'The latest terms say so already.')
      return EXIT.done
    }
    out.say(inWords(proposal))
    await mustAgree(call, 'Enter these terms?')
    // Blocks go on meanwhile, and with them the earliest time: the entry is printed once more.
    const done = accepted(await enterTerms(deps, actor, input), call)
    await out.result(
      done,
      () => `Entered.\n${table(HEADS, done.entries.map(cells))}${forTheOwner(done.ownersTransaction)}`,
    )
    return EXIT.done
  })
}

/** `terms take-back`. */
export async function takeBack(call: Call): Promise<ExitCode> {
  const { io, out } = call
  return await withOperator(io, async (deps) => {
    const { terms } = await listTerms(deps)
    const last = terms.at(-1)
    if (last) out.say(table(HEADS, [cells(last)]))
    await mustAgree(call, 'Take this entry back?')
    const input = { ...fieldsOf(call), fromTime: last?.fromTime ?? 0 }
    const done = accepted(await takeBackTerms(deps, actorHere(), input), call)
    await out.result(done, 'Taken back. What was in force before it goes on.')
    return EXIT.done
  })
}

const HEADS = ['from', 'turns', 'ether, from', 'to', 'every s', 'slots of s']

const cells = (entry: TermsProposal['entries'][number]) => [
  entry.fromTime === 0 ? 'the beginning' : `${entry.fromTime} (${new Date(entry.fromTime * 1000).toISOString()})`,
  entry.payouts ? 'owed' : 'not owed',
  inEther(entry.minWei),
  inEther(entry.maxWei),
  entry.intervalSec,
  entry.slotSec,
]

function inWords({ before, entries, ownersTransaction }: TermsProposal): string {
  const rows = [...(before ? [cells(before)] : []), ...entries.map(cells)]
  return [
    table(HEADS, rows),
    `${before ? 'The first line is what holds until then. ' : ''}A turn due exactly at the time goes by the new terms. Cohorts that are open keep their interval until the contract's owner sets it.`,
    forTheOwner(ownersTransaction),
  ].join('\n')
}

function forTheOwner(transaction: OwnerTransaction | null): string {
  if (transaction === null) return ''
  const { to, call, data } = transaction
  return `\nThe contract's owner has to send, or turns that are not to be owed are owed and wait:\n  ${call}\n  to ${to}\n  data ${data}`
}
