// Asks the connected wallet to list a node among its assets (EIP-747). If the wallet cannot, it refuses, and the button disappears.
import { useMutation } from '@tanstack/react-query'
import { useDeployment } from '../ledger.ts'
import { words } from '../words/wallet.ts'
import type { ConnectedWallet } from './use-wallet.ts'

/** The button. Renders nothing if the wallet has refused or cannot do it. */
export function AddToWallet({ nodeId, wallet }: { nodeId: string; wallet: ConnectedWallet }) {
  const address = useDeployment().data?.factoryAddress
  const add = useMutation({
    mutationFn: async () => {
      const own = await wallet.open()
      const asset = { type: 'ERC721', options: { address, tokenId: nodeId } }
      return own.request({ method: 'wallet_watchAsset', params: asset } as never)
    },
  })
  if (!address || add.isError) return null
  return (
    <button type="button" className="button" disabled={add.isPending || add.isSuccess} onClick={() => add.mutate()}>
      {add.isSuccess ? words.added : words.add}
    </button>
  )
}
