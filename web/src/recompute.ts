// Recomputing a round in the browser. Loaded when first asked for, since it brings what it needs of viem along.
import type { Deployment, Distribution } from '@node-ledger/client'
import { type VerifiedRound, verifyRound } from '@node-ledger/client/viem'
import { createClient, http } from 'viem'
import { ledger } from './ledger.ts'

/** Checks the arithmetic, and, where the operator offers a public RPC, seeds and credited amounts against the chain. */
export function recompute(round: Distribution, deployment: Deployment | null): Promise<VerifiedRound> {
  const url = deployment?.rpcUrl
  return verifyRound(ledger, round, url ? createClient({ transport: http(url) }) : undefined)
}
