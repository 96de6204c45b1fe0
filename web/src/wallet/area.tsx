// Wraps pages that use a wallet in wagmi, configured for this ledger's one chain. The browser's wallets announce
// themselves (EIP-6963). In a frame we ask the page around it, as Safe's apps do.
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
import { pageEthereum } from '../announcements.ts'
import { isFramed } from '../frame.ts'
import { kept } from '../kept.ts'
import { useDeployment } from '../ledger.ts'
import { Failed, Waiting } from '../ui/states.tsx'

/** Finds the wallet of a Safe around this frame. Loaded only in a frame. */
const aroundFrame = async (): Promise<CreateConnectorFn[]> => [(await import('./safe.ts')).safeAround()]

/** The wallet of the page's `ethereum`, if there is one. */
const pageWallet = (): CreateConnectorFn[] =>
  pageEthereum() ? [injected({ target: { id: 'injected', name: 'Injected', provider: pageEthereum } })] : []

/** Makes the wallets available to its children. */
export function WalletArea({ children }: { children: ReactNode }) {
  const deployment = useDeployment()
  const connectors = useQuery({
    queryKey: ['connectors'],
    queryFn: aroundFrame,
    enabled: isFramed,
    initialData: isFramed ? undefined : pageWallet(),
    staleTime: Number.POSITIVE_INFINITY,
  })
  // An earlier answer stays valid, even if the service is down now.
  if (deployment.isError && !deployment.data)
    return <Failed error={deployment.error} retry={() => void deployment.refetch()} />
  if (!deployment.data || !connectors.data) return <Waiting lines={6} />
  return <WagmiProvider config={configOnce(deployment.data, connectors.data)}>{children}</WagmiProvider>
}

let config: Config | null = null

/**
 * One config for all pages. If React discarded a render and repeated it, there would be two configs, and wagmi would
 * reconnect the wallet only for the first.
 */
function configOnce(deployment: Deployment, connectors: CreateConnectorFn[]): Config {
  config ??= configFor(deployment, connectors)
  return config
}

/** wagmi's config with the ledger's chain, in the form with which a wallet can add the chain. */
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
    // In a frame we look for the wallet each time.
    storage: isFramed ? null : createStorage({ storage: kept }),
    // Without a public RPC, reads go through the wallet.
    transports: { [chainId]: rpcUrl ? http(rpcUrl) : unstable_connector(injected) },
  })
}
