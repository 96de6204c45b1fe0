// The connected wallet, in the form that the client's functions take.
import type { OwnWallet } from '@node-ledger/client/viem'
import { useMutation } from '@tanstack/react-query'
import { createClient, custom, type EIP1193Provider, type Hex } from 'viem'
import { getTransactionCount } from 'viem/actions'
import { type Config, useConfig, useConnection, useConnectors } from 'wagmi'
import { disconnect, switchChain } from 'wagmi/actions'

export interface ConnectedWallet {
  /** The address in lower case, as in the ledger. */
  address: Hex
  /** The wallet's current chain, which need not be the ledger's. */
  chainId: number
  name: string
  open(): Promise<OwnWallet>
}

/** The connected wallet; null while none is connected. */
export function useWallet(): ConnectedWallet | null {
  const { address, chainId, connector } = useConnection()
  const connectors = useConnectors()
  if (!address || !chainId || !connector) return null
  return {
    address: address.toLowerCase() as Hex,
    chainId,
    name: connector.name,
    open: async () => {
      // Just after a page load, wagmi has only the connector's name, because finding the provider again may take a while.
      const live = connectors.find(({ id }) => id === connector.id) ?? connector
      const provider = (await live.getProvider()) as EIP1193Provider
      return createClient({ account: address, transport: custom(provider) })
    },
  }
}

/** The next nonce of a wallet's account, including its pending transactions. */
export async function nonceOf(wallet: OwnWallet): Promise<number> {
  const { address } = wallet.account
  const of = (blockTag: 'latest' | 'pending') => getTransactionCount(wallet, { address, blockTag })
  return Math.max(...(await Promise.all([of('latest'), of('pending')])))
}

/** Disconnects the wallet. */
export function useDisconnect() {
  const config = useConfig()
  return useMutation({ mutationFn: () => foundAgain(config).then(() => disconnect(config)) })
}

/** Asks the connected wallet to switch to a chain, by its ID. */
export function useSwitchChain() {
  const config = useConfig()
  return useMutation({
    mutationFn: (chainId: number) => foundAgain(config).then(() => switchChain(config, { chainId })),
  })
}

/** Waits until wagmi has looked for the wallet of an earlier page. Otherwise it would reconnect a wallet that was just disconnected. */
function foundAgain(config: Config): Promise<void> {
  const isOver = ({ status }: Config['state']) => status === 'connected' || status === 'disconnected'
  if (isOver(config.state)) return Promise.resolve()
  return new Promise((resolve) => {
    const stop = config.subscribe(isOver, () => {
      stop()
      resolve()
    })
  })
}
