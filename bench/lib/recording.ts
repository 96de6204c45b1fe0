// Chains recorded to files, for bench/servers/recorded.ts to serve from memory: a development chain itself serves blocks more slowly than
// anybody reads them.
import { createWriteStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestChain, TestTransaction } from '../../test/support/anvil.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import type { World } from '../../test/support/world.ts'

/** Transactions in each recorded block. */
export const PER_BLOCK = 50

interface RecordedBlock {
  hash: string
  transactions: { hash: string; to: string | null }[]
}

/** Places of blocks, receipts and logs, as the server takes them. */
export type Recording = [blocks: string, receipts: string, logs: string]

/**
 * Mines so many blocks of a payment and transfers between strangers, some of which `others` replaces by what it gives for each block, counted
 * from 1. Writes all blocks from 0 on, the receipts of what was sent to the payments wallet and the factory, and the factory's logs: one a
 * line.
 */
export async function record(
  { chain, factory, at }: World,
  blocks: number,
  others: (block: number) => TestTransaction[] = () => [],
): Promise<Recording> {
  const senders = Array.from({ length: PER_BLOCK }, (_, index) => `0x${(index + 1).toString(16).padStart(40, 'b')}`)
  for (const sender of senders) {
    await chain.setBalance(sender, 10n ** 24n)
    await chain.impersonate(sender)
  }
  const directory = temporaryDirectory()
  const paths: Recording = [join(directory, 'blocks'), join(directory, 'receipts'), join(directory, 'logs')]
  const [blockLines, receiptLines] = [createWriteStream(paths[0]), createWriteStream(paths[1])]
  const watched = [at(3), factory] as (string | null)[]
  const write = async (number: number) => {
    const block = await chain.rpc<RecordedBlock>('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])
    blockLines.write(`${JSON.stringify(block)}\n`)
    const ofInterest = block.transactions.filter(({ to }) => watched.includes(to))
    const receipts = await Promise.all(ofInterest.map(({ hash }) => chain.rpc('eth_getTransactionReceipt', [hash])))
    for (const receipt of receipts) receiptLines.write(`${JSON.stringify(receipt)}\n`)
  }

  const first = Number((await chain.block()).number)
  for (let number = 0; number <= first; number++) await write(number)
  for (let block = 1; block <= blocks; block++) {
    const given = others(block)
    const sends = senders.slice(0, PER_BLOCK - given.length).map(
      (from, index): TestTransaction => ({
        from,
        to: index === 0 ? at(3) : (senders[0] ?? ''),
        value: '0x1',
        gas: '0x5208',
        // Set here, since all are sent at once.
        nonce: `0x${(block - 1).toString(16)}`,
      }),
    )
    await sendAll(chain, [...sends, ...given])
    await chain.mine()
    await write(first + block)
  }
  const logs = await chain.rpc<object[]>('eth_getLogs', [{ address: factory, fromBlock: '0x0', toBlock: 'latest' }])
  writeFileSync(paths[2], logs.map((log) => JSON.stringify(log)).join('\n'))
  await Promise.all([blockLines, receiptLines].map((stream) => new Promise<void>((done) => stream.end(done))))
  return paths
}

/** Puts the transactions into the pool by one request: a request for each would take most of the recording's time. */
async function sendAll({ rpcUrl }: TestChain, transactions: readonly TestTransaction[]): Promise<void> {
  const calls = transactions.map((transaction, id) => ({
    ...{ jsonrpc: '2.0', id, method: 'eth_sendTransaction' },
    params: [transaction],
  }))
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(calls) })
  const replies = (await answer.json()) as { error?: { message: string } }[]
  const failed = replies.find((reply) => reply.error)
  if (failed) throw new Error(`a transaction was refused: ${failed.error?.message}`)
}
