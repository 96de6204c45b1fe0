// Around pages that use a wallet: wagmi, set to this ledger's one chain. Wallets of the browser announce themselves (EIP-6963); a frame asks
// the page around it, as Safe has its apps do.
import type { Deployment } from '@node-ledger/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { defineChain } from 'viem'
import {
  type Config,
  type CreateConnectorFn,
  createConfig,
  createStorage,
  http,
  injected,
  unstable_connector,
  WagmiProvider,
} from 'wagmi'
import { isFramed } from '../frame.ts'
import { kept } from '../kept.ts'
import { useDeployment } from '../ledger.ts'
import { Failed, Waiting } from '../ui/states.tsx'

/** What finds the wallet of a Safe around this frame. Loaded in a frame only. */
const aroundFrame = async (): Promise<CreateConnectorFn[]> => [(await import('./safe.ts')).safeAround()]

/** Gives its children the wallets. */
export function WalletArea({ children }: { children: ReactNode }) {
  const deployment = useDeployment()
  const connectors = useQuery({
    queryKey: ['connectors'],
    queryFn: aroundFrame,
    enabled: isFramed,
    initialData: isFramed ? undefined : 'ethereum' in window ? [injected()] : [],
    staleTime: Number.POSITIVE_INFINITY,
  })
  // What was read once holds, though the service may be gone by now.
  if (deployment.isError && !deployment.data)
    return <Failed error={deployment.error} retry={() => void deployment.refetch()} />
  if (!deployment.data || !connectors.data) return <Waiting lines={6} />
  return <WagmiProvider config={configOnce(deployment.data, connectors.data)}>{children}</WagmiProvider>
}

let config: Config | null = null

/** One for all pages. Of two, as where React gives a render up and makes another, wagmi would find the wallet again for the first alone. */
function configOnce(deployment: Deployment, connectors: CreateConnectorFn[]): Config {
  config ??= configFor(deployment, connectors)
  return config
}

/** The ledger's chain, in the form that adds it to a wallet. */
function configFor({ chainId, chainName, explorerUrl, rpcUrl }: Deployment, connectors: CreateConnectorFn[]) {
  const chain = defineChain({
    id: chainId,
    name: chainName ?? `Chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: rpcUrl ? [rpcUrl] : [] } },
    ...(explorerUrl && { blockExplorers: { default: { name: 'Explorer', url: explorerUrl } } }),
  })
  return createConfig({
    chains: [chain],
    connectors,
    // A frame's wallet is asked again each time.
    storage: isFramed ? null : createStorage({ storage: kept }),
    // Without a public RPC, reads go through the wallet.
    transports: { [chainId]: rpcUrl ? http(rpcUrl) : unstable_connector(injected) },
  })
}
