// Transfers of several wallets at once, and the transfers of a block as the chain has them.
import type { Account, Hash, TransactionReceipt } from 'viem'
import type { DemoChain } from './chain.ts'

/** A transfer, with its place on the chain. */
export interface Transfer {
  hash: Hash
  from: `0x${string}`
  blockNumber: number
  index: number
}

/** Transfers that are handed over at once, so that one block takes them, if it has room. */
export async function payTogether(
  { client, wallet, mined }: DemoChain,
  from: readonly Account[],
  { to, value }: { to: `0x${string}`; value: bigint },
): Promise<Transfer[]> {
  const { maxFeePerGas, maxPriorityFeePerGas } = await client.estimateFeesPerGas()
  const fees = { maxFeePerGas, maxPriorityFeePerGas, gas: 21_000n, nonce: 0, type: 'eip1559' as const }
  const sign = (account: Account) => wallet(account).signTransaction({ account, to, value, ...fees })
  const signed = await Promise.all(from.map(sign))
  const send = (serializedTransaction: `0x${string}`) => client.sendRawTransaction({ serializedTransaction })
  const hashes = await Promise.all(signed.map(send))
  return (await Promise.all(hashes.map((hash) => mined(hash, 'The payment')))).map(transferOf)
}

const transferOf = ({ transactionHash: hash, from, blockNumber, transactionIndex: index }: TransactionReceipt) => ({
  hash,
  from,
  blockNumber: Number(blockNumber),
  index,
})

/** The plain transfers of exactly this amount in some blocks. */
export async function transfersTo(
  { client }: DemoChain,
  { to, value }: { to: `0x${string}`; value: bigint },
  blocks: readonly number[],
): Promise<Transfer[]> {
  const read = blocks.map((number) => client.getBlock({ blockNumber: BigInt(number), includeTransactions: true }))
  return (await Promise.all(read)).flatMap(({ transactions }) =>
    transactions
      .filter((tx) => tx.to?.toLowerCase() === to.toLowerCase() && tx.value === value)
      .map(({ hash, from, blockNumber, transactionIndex: index }) => ({
        hash,
        from,
        blockNumber: Number(blockNumber),
        index: Number(index),
      })),
  )
}
