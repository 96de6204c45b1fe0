// Chains recorded to files, which bench/servers/recorded.ts serves from memory, because a development chain serves
// blocks more slowly than any follower reads them.
import { createWriteStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestChain, TestTransaction } from '../../test/support/anvil.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import type { World } from '../../test/support/world.ts'

/** Transactions in each recorded block. */
export const PER_BLOCK = 50
/** Accounts that send them, because the chain has their keys. One pays; the others send to an unrelated address. */
const SENDERS = [10, 11, 12, 13, 14, 15, 16, 17, 18]
const STRANGER = 19

/** Paths of blocks, receipts and logs, in the order in which the server takes them. */
export type Recording = [blocks: string, receipts: string, logs: string]

/**
 * Mines this many blocks with a payment and unrelated transfers. `others` replaces some of these, by block counted from
 * 1. Writes one JSON text per line: all blocks from 0 on, their receipts, and the factory's logs.
 */
export async function record(
  { chain, factory, at }: World,
  blocks: number,
  others: (block: number) => TestTransaction[] = () => [],
): Promise<Recording> {
  const nonces = new Map<string, number>()
  for (const account of SENDERS) {
    nonces.set(at(account), Number(await chain.rpc('eth_getTransactionCount', [at(account), 'latest'])))
    await chain.setBalance(at(account), 10n ** 24n)
  }
  const directory = temporaryDirectory()
  const paths: Recording = [join(directory, 'blocks'), join(directory, 'receipts'), join(directory, 'logs')]
  const [blockLines, receiptLines] = [createWriteStream(paths[0]), createWriteStream(paths[1])]
  const write = async (number: number) => {
    const tag = `0x${number.toString(16)}`
    blockLines.write(`${JSON.stringify(await chain.rpc('eth_getBlockByNumber', [tag, true]))}\n`)
    const receipts = await chain.rpc<object[]>('eth_getBlockReceipts', [tag])
    for (const receipt of receipts) receiptLines.write(`${JSON.stringify(receipt)}\n`)
  }

  const first = Number((await chain.block()).number)
  for (let number = 0; number <= first; number++) await write(number)
  for (let block = 1; block <= blocks; block++) {
    const given = others(block)
    const sends = Array.from({ length: PER_BLOCK - given.length }, (_, index): TestTransaction => {
      const from = at(SENDERS[index % SENDERS.length] as number)
      const nonce = nonces.get(from) ?? 0
      nonces.set(from, nonce + 1)
      // We set the nonces, because we send all at once.
      return { from, to: at(index === 0 ? 3 : STRANGER), value: '0x1', gas: '0x5208', nonce: `0x${nonce.toString(16)}` }
    })
    await sendAll(chain, [...sends, ...given])
    await chain.mine()
    await write(first + block)
  }
  const logs = await chain.rpc<object[]>('eth_getLogs', [{ address: factory, fromBlock: '0x0', toBlock: 'latest' }])
  writeFileSync(paths[2], logs.map((log) => JSON.stringify(log)).join('\n'))
  await Promise.all([blockLines, receiptLines].map((stream) => new Promise<void>((done) => stream.end(done))))
  return paths
}

/** Puts the transactions into the pool in one request, because one request for each would take most of the recording's time. */
async function sendAll({ rpcUrl }: TestChain, transactions: readonly TestTransaction[]): Promise<void> {
  const calls = transactions.map((transaction, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'eth_sendTransaction',
    params: [transaction],
  }))
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(calls) })
  const replies = (await answer.json()) as { error?: { message: string } }[]
  const failed = replies.find((reply) => reply.error)
  if (failed) throw new Error(`a transaction was refused: ${failed.error?.message}`)
}
