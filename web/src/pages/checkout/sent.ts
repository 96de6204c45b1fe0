// Finds the transfer that a wallet sent without telling this page, because the page was reloaded meanwhile. The chain has it before the service does,
// whose timer may be a minute away. Its hash lets the payment's page claim it.
import { useQuery } from '@tanstack/react-query'
import { queryChain } from '../../providers.ts'
import type { Intent } from '../payment/intent.ts'

const EVERY_MS = 4_000
/** How many blocks we read back from the newest one. An older transfer is on record with the service by then. */
const BLOCKS_MAX = 20

interface Block {
  number: string
  transactions: readonly { hash: string; from: string; nonce: string; value: string }[]
}

/** The hash of the transfer of an open intent; undefined while no block has it, or if no provider of this browser answers. */
export function useSentTransfer(intent: Intent): string | undefined {
  const { payer, at, nonce, priceWei, asks } = intent
  const { data } = useQuery({
    queryKey: ['sent transfer', payer, at],
    queryFn: () => findTransfer(payer, nonce ?? 0, BigInt(priceWei)),
    enabled: typeof nonce === 'number' && asks === 1,
    refetchInterval: EVERY_MS,
    retry: false,
  })
  return data ?? undefined
}

async function findTransfer(payer: string, nonce: number, valueWei: bigint): Promise<string | null> {
  const next = await queryChain('eth_getTransactionCount', [payer, 'latest'])
  if (!(Number(next ?? 0) > nonce)) return null
  let number = 'latest'
  for (let count = 0; count < BLOCKS_MAX; count++) {
    const block = (await queryChain('eth_getBlockByNumber', [number, true])) as Block | null
    if (block === null) return null
    const own = block.transactions.find((tx) => tx.from.toLowerCase() === payer && Number(tx.nonce) === nonce)
    // A transaction of another value is no payment of this purchase.
    if (own) return BigInt(own.value) === valueWei ? own.hash : null
    number = `0x${(Number(block.number) - 1).toString(16)}`
  }
  return null
}
