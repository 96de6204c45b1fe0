// Recomputes rounds and reads nodes in the browser. Loads on first use, because it needs parts of viem.
import type { Deployment, Distribution } from '@node-ledger/client'
import { type VerifiedRound, verifyNode, verifyRound } from '@node-ledger/client/viem'
import { createClient, custom, http } from 'viem'
import { directory, ledger } from './ledger.ts'
import { readerOn } from './providers.ts'
import { words } from './words/ledger.ts'
import { fill } from './words/message.ts'

/**
 * Checks the arithmetic. If the operator offers a public RPC, also checks seeds and credited amounts against the chain.
 */
export function recompute(round: Distribution, deployment: Deployment | null): Promise<VerifiedRound> {
  const url = deployment?.rpcUrl
  return verifyRound(ledger, round, url ? createClient({ transport: http(url) }) : undefined)
}

/** Compares the service's record of a node with a provider of the visitor's choice. */
export async function checkNode(id: string): Promise<{ by: string; verdict: Awaited<ReturnType<typeof verifyNode>> }> {
  const { chainId, rpcUrl } = await directory.getWellKnown()
  const own = await readerOn(chainId)
  if (own)
    return { by: own.name, verdict: await verifyNode(ledger, createClient({ transport: custom(own.provider) }), id) }
  if (rpcUrl === null) throw new Error(words.provider.noProvider)
  const verdict = await verifyNode(ledger, createClient({ transport: http(rpcUrl) }), id)
  return { by: fill(words.provider.publicRpc, { host: new URL(rpcUrl).host }), verdict }
}
