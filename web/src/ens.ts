// Resolves an ENS name to its address through the visitor's own provider: a wallet in this browser on the ledger's
// chain, else the public RPC. Never asks the service. Loads when the visitor first looks up a name.
import { createClient, custom, http } from 'viem'
import { getEnsAddress } from 'viem/actions'
import { mainnet, sepolia } from 'viem/chains'
import { normalize } from 'viem/ens'
import { directory } from './ledger.ts'
import { readerOn } from './providers.ts'

/** The chains with ENS names, according to viem. */
const NAMED = [mainnet, sepolia]

/**
 * The result for a name: its address; `nobody` if it has no owner; `noNames` if the chain has no names; `notAsked` if
 * we had no provider, or it did not answer.
 */
export type Found = { address: string } | 'nobody' | 'noNames' | 'notAsked'

/** Looks a name up. */
export async function findName(name: string): Promise<Found> {
  const { chainId, rpcUrl } = await directory.getWellKnown()
  const chain = NAMED.find(({ id }) => id === chainId)
  if (!chain) return 'noNames'
  const own = await readerOn(chainId)
  if (own === null && rpcUrl === null) return 'notAsked'
  const client = createClient({ chain, transport: own ? custom(own.provider) : http(rpcUrl ?? undefined) })
  try {
    const address = await getEnsAddress(client, { name: normalize(name) })
    return address === null ? 'nobody' : { address: address.toLowerCase() }
  } catch {
    return 'notAsked'
  }
}
