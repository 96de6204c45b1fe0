// Reads EIP-7702 authorizations out of blocks: each valid one uses up a nonce of its signer, in the transaction of any account. Source:
// EIP-7702, "Behavior". It never judges validity, which needs the signer's nonce.
import type { Hex } from 'viem'
import { recoverAuthorizationAddress } from 'viem/utils'
import type { Authorization, Position } from '../../domain/observed.ts'
import type { Address } from '../../domain/units.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { count, fields, list } from '../rpc/wire.ts'

/** The type of transactions that carry authorizations. */
const CARRIER_TYPE = '0x4'

/** A transaction that carries authorizations: its position, and the authorizations as the provider gave them. */
export interface Carrier {
  readonly at: Position
  readonly raw: readonly unknown[]
}

/** One for a chain; 0: for any. */
type SignedAuthorization = Authorization & { chainId: number }

/** The raw authorizations of a raw transaction; none where it carries none, which is cheap and the usual case. */
export function authorizationsOf(transaction: unknown): readonly unknown[] {
  const { type, authorizationList } = fields<'type' | 'authorizationList'>(transaction, 'transaction')
  return type === CARRIER_TYPE && authorizationList != null ? list(authorizationList, 'authorization list') : []
}

/**
 * The authorizations for this chain that one of `senders` signed, in chain order. Each one carried costs about a millisecond. The chain's
 * id is asked for only where one is of a signer account. Throws ChainFault where the provider does not answer that.
 */
export async function readAuthorizations(
  rpc: RpcReads,
  signers: readonly Address[],
  carriers: readonly Carrier[],
): Promise<Authorization[]> {
  const found: SignedAuthorization[] = []
  for (const { at, raw } of carriers) {
    for (const entry of raw) {
      const signed = await recover(entry)
      if (signed && signers.includes(signed.sender)) found.push({ ...at, ...signed })
    }
  }
  if (found.length === 0) return []
  const here = Number(await rpc.request('eth_chainId', []))
  return found.filter(({ chainId }) => chainId === 0 || chainId === here).map(({ chainId: _, ...one }) => one)
}

/** Null where it cannot be read or recovered: then it is valid for no account, and the transaction is valid all the same. */
async function recover(entry: unknown): Promise<Omit<SignedAuthorization, keyof Position> | null> {
  try {
    const raw = fields<'chainId' | 'address' | 'nonce' | 'r' | 's' | 'yParity'>(entry, 'authorization')
    const named = { chainId: count(raw.chainId, 'chain id'), nonce: count(raw.nonce, 'nonce') }
    const { address, r, s } = raw as Record<'address' | 'r' | 's', Hex>
    const authorization = { ...named, address, r, s, yParity: count(raw.yParity, 'parity') }
    const signer = await recoverAuthorizationAddress({ authorization })
    return { ...named, sender: signer.toLowerCase() as Address }
  } catch {
    return null
  }
}
