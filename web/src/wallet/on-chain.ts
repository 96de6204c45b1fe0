// A wallet's nodes as the contract has them, read through the wallet's own provider: for an owner whose service does not answer.
import { factoryAbi, type OwnWallet } from '@node-ledger/client/viem'
import type { Hex } from 'viem'
import { readContract } from 'viem/actions'

/** A node and what may be withdrawn from it. */
export interface Funded {
  nodeId: string
  balanceWei: bigint
}

/** Requests that are under way at once. */
const AT_ONCE = 10

/** The nodes of the wallet itself. Throws what its provider throws. */
export async function nodesOnChain(wallet: OwnWallet, factory: Hex): Promise<Funded[]> {
  const contract = { address: factory, abi: factoryAbi } as const
  const ids = await readContract(wallet, { ...contract, functionName: 'nodesOf', args: [wallet.account.address] })
  const nodes: Funded[] = []
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const read = ids.slice(from, from + AT_ONCE).map(async (id) => {
      const [, balanceWei] = await readContract(wallet, { ...contract, functionName: 'nodeInfo', args: [id] })
      return { nodeId: String(id), balanceWei }
    })
    nodes.push(...(await Promise.all(read)))
  }
  return nodes
}
