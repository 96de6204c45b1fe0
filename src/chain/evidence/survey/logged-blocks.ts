// The factory's logs over long ranges, which show the blocks that concern us. As many providers as must agree have to return the same logs.
import { accountsNamed } from '../../../domain/observed.ts'
import type { Address, Hash } from '../../../domain/units.ts'
import type { LoggedBlock } from '../../../ports/chain.ts'
import { ChainFault, orNull } from '../../../ports/faults.ts'
import { toEvent } from '../../factory/events.ts'
import type { RpcReads } from '../../rpc/rpc.ts'
import type { WireLog } from '../../rpc/wire.ts'
import { byPlace, ledgerLogs, RangeRefused, rangeLogs } from '../logs/block-logs.ts'

/** For how many blocks one request asks for logs: many providers allow that many. If a provider allows fewer, we adapt. */
const LOG_SPAN = 10_000
/** After a rejection, the span grows again by a sixteenth with each answer, because the provider may just have been slow. */
const LOG_SPAN_GROWTH = 16

/** The blocks with logs; null if not enough providers return the same logs. */
export async function agreedLogs(
  sources: readonly LogSource[],
  voices: number,
  { from, to }: { from: number; to: number },
): Promise<LoggedBlock[] | null> {
  const answers = new Map<string, number>()
  for (const source of sources) {
    const logs = await orNull(source(from, to))
    if (logs === null) continue
    const text = logs.map(textOf).join('\n')
    const times = (answers.get(text) ?? 0) + 1
    if (times === voices) return loggedBlocksOf(logs)
    answers.set(text, times)
  }
  return null
}

const textOf = (entry: WireLog) =>
  [entry.blockNumber, entry.blockHash, entry.txHash, entry.logIndex, ...entry.topics, entry.data.toLowerCase()].join(
    ' ',
  )

function loggedBlocksOf(logs: readonly WireLog[]): LoggedBlock[] {
  return [...Map.groupBy(logs, ({ blockNumber }) => blockNumber)].map(([number, entries]) => {
    const mentions = entries.map(mentionsOf)
    return {
      number,
      refs: mentions.flatMap(({ refs }) => refs),
      accounts: mentions.flatMap(({ accounts }) => accounts),
      logs: entries,
    }
  })
}

/** The refs in a log, and the accounts to which the log gives a role. */
function mentionsOf(entry: WireLog): { refs: Hash[]; accounts: Address[] } {
  const { blockHash, blockNumber, txHash, txIndex } = entry
  const event = toEvent(entry, { blockHash, blockNumber, txHash, txIndex, blockTime: 0 })
  const refs = 'ref' in event ? [event.ref] : []
  return { refs, accounts: event.kind === 'ownerAct' ? accountsNamed(event.name, event.detail) : [] }
}

export type LogSource = (from: number, to: number) => Promise<WireLog[]>

/** Creates a function that reads the logs of long ranges in chain order, in pieces as long as the provider accepts. */
export function createLogSource(rpc: RpcReads, factory: Address): LogSource {
  let span = LOG_SPAN
  return async (from, to) => {
    const logs: WireLog[] = []
    let next = from
    // Ends, because each round moves on or halves the span.
    while (next <= to) {
      const last = Math.min(to, next + span - 1)
      try {
        logs.push(...(await rangeLogs(rpc, ledgerLogs(factory), next, last)))
      } catch (error) {
        const size = last - next + 1
        if (!(error instanceof RangeRefused) || size === 1) throw error
        span = Math.ceil(size / 2)
        continue
      }
      span = Math.min(LOG_SPAN, span + Math.ceil(span / LOG_SPAN_GROWTH))
      next = last + 1
    }
    const strange = logs.find(
      ({ blockNumber, address }) => blockNumber < from || blockNumber > to || address !== factory,
    )
    if (strange)
      throw new ChainFault(`the provider returned a log of block ${strange.blockNumber}, which we did not request`)
    return logs.sort(byPlace)
  }
}
