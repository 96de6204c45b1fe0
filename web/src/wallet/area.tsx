// Around pages that use a wallet: wagmi, set to this ledger's one chain. Wallets of the browser announce themselves (EIP-6963).
import type { Deployment } from '@node-ledger/client'
import { type ReactNode, useState } from 'react'
import { defineChain } from 'viem'
import { createConfig, http, injected, unstable_connector, WagmiProvider } from 'wagmi'
import { useDeployment } from '../ledger.ts'
import { Failed, Waiting } from '../ui/states.tsx'

export function WalletArea({ children }: { children: ReactNode }) {
  const deployment = useDeployment()
  if (deployment.isError) return <Failed error={deployment.error} retry={() => void deployment.refetch()} />
  if (!deployment.data) return <Waiting lines={6} />
  return <Configured deployment={deployment.data}>{children}</Configured>
}

function Configured({ deployment, children }: { deployment: Deployment; children: ReactNode }) {
  const [config] = useState(() => configFor(deployment))
  return <WagmiProvider config={config}>{children}</WagmiProvider>
}

/** The ledger's chain, in the form that adds it to a wallet. */
function configFor({ chainId, rpcUrl, embedded }: Deployment) {
  const chain = defineChain({
    id: chainId,
    name: embedded ? 'Node Ledger demonstration' : `Chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: rpcUrl ? [rpcUrl] : [] } },
  })
  return createConfig({
    chains: [chain],
    // Without a public RPC, reads go through the wallet.
    transports: { [chainId]: rpcUrl ? http(rpcUrl) : unstable_connector(injected) },
  })
}
