// The address behind a name (ENS), read by the visitor's own provider: a wallet of this browser that is on the ledger's chain, else the public RPC. The
// service is not asked. Loaded with the first name that is looked for.
import { createClient, custom, http } from 'viem'
import { getEnsAddress } from 'viem/actions'
import { mainnet, sepolia } from 'viem/chains'
import { normalize } from 'viem/ens'
import { directory } from './ledger.ts'
import { announced } from './providers.ts'

/** The chains that have names, by viem's own list. */
const NAMED = [mainnet, sepolia]

/** What came of a name: its address; nobody has it; the chain has no names; or there was no provider to ask, or it did not answer. */
export type Found = { address: string } | 'nobody' | 'noNames' | 'notAsked'

/** Looks a name up. */
export async function findName(name: string): Promise<Found> {
  const { chainId, rpcUrl } = await directory.getWellKnown()
  const chain = NAMED.find(({ id }) => id === chainId)
  if (!chain) return 'noNames'
  const provider = await ownProvider(chainId)
  if (provider === null && rpcUrl === null) return 'notAsked'
  const client = createClient({ chain, transport: provider ? custom(provider) : http(rpcUrl ?? undefined) })
  try {
    const address = await getEnsAddress(client, { name: normalize(name) })
    return address === null ? 'nobody' : { address: address.toLowerCase() }
  } catch {
    return 'notAsked'
  }
}

async function ownProvider(chainId: number) {
  for (const { provider } of announced()) {
    const at = await provider.request({ method: 'eth_chainId' }).catch(() => null)
    if (Number(at) === chainId) return provider
  }
  return null
}
