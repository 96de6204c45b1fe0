// The connected wallet, as the client's own functions take it.
import type { OwnWallet } from '@node-ledger/client/viem'
import { createClient, custom, type EIP1193Provider, type Hex } from 'viem'
import { useConnection, useConnectors } from 'wagmi'

export interface ConnectedWallet {
  /** Lower case, as the ledger has addresses. */
  address: Hex
  /** The chain it is on, which need not be the ledger's. */
  chainId: number
  name: string
  open(): Promise<OwnWallet>
}

/** Null while no wallet is connected. */
export function useWallet(): ConnectedWallet | null {
  const { address, chainId, connector } = useConnection()
  const connectors = useConnectors()
  if (!address || !chainId || !connector) return null
  return {
    address: address.toLowerCase() as Hex,
    chainId,
    name: connector.name,
    open: async () => {
      // Just after a page was loaded, wagmi has no more than the connector's name: its provider may take a while to be found again.
      const live = connectors.find(({ id }) => id === connector.id) ?? connector
      const provider = (await live.getProvider()) as EIP1193Provider
      return createClient({ account: address, transport: custom(provider) })
    },
  }
}
