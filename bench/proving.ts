// Proves a header, and a block of 200 transactions with their receipts and one sender, with the service's own modules.
// For comparison, hashes as many bytes. The blocks are published ones (test/chain/prove/blocks).
import { proveReceipts, proveTransactions } from '../src/chain/prove/body.ts'
import { proveHeader } from '../src/chain/prove/header.ts'
import { type Fields, hashOf } from '../src/chain/prove/items.ts'
import { proveSender } from '../src/chain/prove/transaction.ts'
import { headers, type Published, read } from '../test/chain/prove/published.ts'
import type { Bench } from './lib/bench.ts'
import { besideNothing } from './lib/day-of-dust.ts'
import { median, ms } from './lib/numbers.ts'
import type { Row } from './lib/report.ts'

/** How many transactions a full block on mainnet has. */
const TRANSACTIONS = 200
const HEADER_MS_MAX = 0.2
const BLOCK_MS_MAX = 20

export const proving: Bench = {
  name: 'proving',
  about:
    'What it costs to prove a block: its header alone, then all of its transactions, as for each block, with all receipts and one sender, as for a block with something of ours. Then what blocks cost the follower that hold dust, or a payment.',
  isTimed: true,
  run: async (options) => {
    const { quick } = options
    const times = quick ? 3 : 100
    const cancun = headers().find(({ fork }) => fork === 'Cancun')?.block as Fields
    const header = await timed(times * 10, async () => proveHeader(cancun))
    const { block, receipts } = firstOf(read<Published>('polygon-50000000.json.br'))
    const body = await timed(times, async () => {
      await proveTransactions(block, async () => null)
      await proveReceipts(block, receipts)
      await proveSender((block.transactions as Fields[])[0])
    })
    const text = JSON.stringify([block.transactions, receipts])
    const plain = new Uint8Array(Buffer.from(text.slice(0, text.length / 2), 'latin1'))
    const hashed = await timed(times, async () => hashOf(plain))
    const raw = JSON.stringify(cancun)
    const parsed = await timed(times * 10, async () => JSON.parse(raw))
    return [
      row('a header', header, `parsing it: ${ms(parsed)}`, parsed, HEADER_MS_MAX),
      row(
        `${TRANSACTIONS} transactions and receipts`,
        body,
        `hashing as many bytes: ${ms(hashed)}`,
        hashed,
        BLOCK_MS_MAX,
      ),
      ...(await besideNothing(options)),
    ]
  },
}

function row(what: string, ours: number, peer: string, theirs: number, most: number): Row {
  return { what, ours: ms(ours), peer, ratio: ours / theirs, goal: `at most ${most} ms`, met: ours <= most }
}

/** The first transactions and receipts of a larger block. Their root differs, but takes as long to compute. */
const firstOf = ({ block, receipts }: Published): { block: Fields; receipts: Fields[] } => ({
  block: { ...block, transactions: block.transactions?.slice(0, TRANSACTIONS) },
  receipts: receipts?.slice(0, TRANSACTIONS) ?? [],
})

/** The median processor time of this many runs, in milliseconds, after as many warm-up runs. */
async function timed(times: number, run: () => Promise<unknown>): Promise<number> {
  const took: number[] = []
  for (let i = 0; i < 2 * times; i++) {
    const began = process.cpuUsage()
    await run()
    took.push(process.cpuUsage(began).user / 1000)
  }
  return median(took.slice(times))
}
