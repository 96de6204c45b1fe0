// The act that holds every payment without a node, up to a block, for the operator to review. Needed after a restore that the service could not notice
// itself.
import { readCursor } from '../../db/blocks/blocks.ts'
import { countUnminted, raiseRecheck as raise, readRecheck } from '../../db/payments/recheck.ts'
import { counted, inEther } from '../../domain/units.ts'
import type { ChainRead, LedgerDb } from '../../ports/contexts.ts'
import { refuseAct } from '../act.ts'
import { defineAct } from '../define-act.ts'
import * as field from '../input.ts'

const BLOCK = field.whole('', 0, Number.MAX_SAFE_INTEGER)

export const raiseRecheck = defineAct({
  path: null,
  scope: 'operate',
  command: 'recheck',
  summary: 'hold every payment without a node up to a block, after a restore from a backup',
  details: `The service notices a restore if it finds a mint or round of its own that the ledger does not know. If it minted and credited
nothing since the backup, it cannot notice: then run this before the first start. The block’s number can only rise.`,
  examples: ['recheck --up-to head --yes'],
  fields: {
    upTo: field.ofForm<number | 'head'>('the number of the block, or head', {
      schema: { type: 'string' },
      value: 'block',
      otherwise: 'head',
      form: 'a block number, or head',
      parse: (input) => (input === 'head' ? input : BLOCK.parse(input)),
    }),
  },
  onChain: true,
  asks: 'Hold them?',
  change: async ({ sql, record }, { upTo }, { chain }: LedgerDb & ChainRead) => {
    const head = await chain.head()
    const block = upTo === 'head' ? head.number : upTo
    // Otherwise future payments would be held too: one digit too many must not stop the sale.
    if (block > head.number)
      return refuseAct('conflict', `The chain's head is block ${head.number}: give that block or an earlier one.`)
    const before = await readRecheck(sql)
    if (!(await raise(sql, block)))
      return refuseAct('conflict', `It is already at block ${await readRecheck(sql)}, and can only rise.`)
    record({ action: 'recheckRaised', before, after: block })
    return { recheckUpTo: block, before, payments: (await countUnminted(sql, block)).payments }
  },
  preview: async ({ recheckUpTo }, _request, sql) => {
    const [waiting, cursor] = [await countUnminted(sql, recheckUpTo), await readCursor(sql)]
    return `${counted(waiting.payments, 'payment')} up to block ${recheckUpTo}, ${inEther(waiting.wei)} ETH, without a node or a decision of yours: the service will hold each as "recheck", and those in blocks still to be followed (the ledger is at ${cursor?.number ?? 'no block'}) too.`
  },
  says: 'The next payments pass holds them.',
})
