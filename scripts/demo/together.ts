// Sends transfers of several wallets at once, and reads the transfers of a block from the chain.
import type { Account, Hash, TransactionReceipt } from 'viem'
import type { DemoChain } from './chain.ts'

/** A transfer to be made. */
export interface Payment {
  account: Account
  to: `0x${string}`
  value: bigint
  data?: `0x${string}`
}

/** A transfer with its position on the chain. */
export interface Transfer {
  hash: Hash
  from: `0x${string}`
  value: bigint
  blockNumber: number
  index: number
}

/** The gas limit: enough for a transfer with a hundred bytes of calldata to an account without code. */
const GAS = 30_000n

/** Submits transfers at once, so that one block takes them all if it has room. */
export async function payTogether(
  { client, wallet, mined }: DemoChain,
  payments: readonly Payment[],
): Promise<Pick<TransactionReceipt, 'blockNumber'>[]> {
  const { maxFeePerGas, maxPriorityFeePerGas } = await client.estimateFeesPerGas()
  const fees = { maxFeePerGas, maxPriorityFeePerGas, gas: GAS, nonce: 0, type: 'eip1559' as const }
  const signed = await Promise.all(payments.map((one) => wallet(one.account).signTransaction({ ...one, ...fees })))
  const send = (serializedTransaction: `0x${string}`) => client.sendRawTransaction({ serializedTransaction })
  const hashes = await Promise.all(signed.map(send))
  return await Promise.all(hashes.map((hash) => mined(hash, 'The payment')))
}

/** All transfers in some blocks to one address. */
export async function transfersTo(
  { client }: DemoChain,
  to: `0x${string}`,
  blocks: readonly bigint[],
): Promise<Transfer[]> {
  const read = blocks.map((blockNumber) => client.getBlock({ blockNumber, includeTransactions: true }))
  return (await Promise.all(read)).flatMap(({ transactions }) =>
    transactions
      .filter((tx) => tx.to?.toLowerCase() === to.toLowerCase())
      .map(({ hash, from, value, blockNumber, transactionIndex: index }) => ({
        hash,
        from,
        value,
        blockNumber: Number(blockNumber),
        index: Number(index),
      })),
  )
}
