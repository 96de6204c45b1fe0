// Reads the EIP-7702 authorizations in blocks. Each valid authorization uses up a nonce of its signer, whichever account sends the transaction
// (EIP-7702, "Behavior"). It does not decide whether an authorization is valid, because that depends on the signer's nonce. It must never hold up the
// event loop: strangers decide how many there are.
import type { Hex } from 'viem'
import { recoverAuthorizationAddress } from 'viem/utils'
import type { Authorization, Position, Watching } from '../../domain/observed.ts'
import type { Address } from '../../domain/units.ts'
import { breath } from '../prove/breath.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { count, fields, type WireTransaction } from '../rpc/wire.ts'
import { RangeRefused } from './logs/block-logs.ts'

/** The type of transactions that carry authorizations. */
const CARRIER_TYPE = /^0x0*4$/

/** A transaction that carries authorizations: its position, and the authorizations as the provider gave them. */
export interface Carrier {
  readonly at: Position
  readonly raw: readonly unknown[]
}

/** The raw authorizations of a raw transaction. Usually there are none, and then this costs little. */
export function authorizationsOf(transaction: unknown): readonly unknown[] {
  const { type, authorizationList } = fields<'type' | 'authorizationList'>(transaction, 'transaction')
  return Array.isArray(authorizationList) && CARRIER_TYPE.test(String(type)) ? authorizationList : []
}

/** More nonces than an account of ours can use in the blocks that we read ahead of the ledger. */
const AHEAD = 10_000
/** The most signers that we recover for a range, in about five seconds. One block has room for about as many. */
const RECOVERED_MAX = 2_000

/**
 * The authorizations for this chain that accounts of ours signed, in chain order. Blocks may have many authorizations by other accounts, and it takes
 * about two milliseconds to recover a signer. So we first rule out nearly all of them by nonce, then by chain id. `transactions` are those of the same
 * blocks. Throws a ChainFault if the provider does not return its chain id, and a RangeRefused if a shorter range would take less time.
 */
export async function readAuthorizations(
  rpc: RpcReads,
  { signers, nonces = {} }: Pick<Watching, 'signers' | 'nonces'>,
  { carriers, transactions }: { carriers: readonly Carrier[]; transactions: readonly WireTransaction[] },
): Promise<Authorization[]> {
  // If the ledger knows nothing of an account, an authorization is valid only after a transaction of the account in the same blocks.
  const firstSent = (signer: Address) =>
    Math.min(...transactions.filter(({ from }) => from === signer).map(({ nonce }) => nonce))
  const next = signers.map((signer) => (nonces[signer] === null ? firstSent(signer) : nonces[signer]))
  const mayBeOurs = (nonce: number) =>
    next.some((ours) => ours === undefined || (nonce >= ours && nonce < ours + AHEAD))
  const candidates = carriers.flatMap(({ at, raw }) =>
    raw.flatMap((entry) => {
      const terms = termsIn(entry)
      return terms && mayBeOurs(terms.nonce) ? [{ at, terms, entry }] : []
    }),
  )
  if (candidates.length === 0) return []
  const here = count(await rpc.request('eth_chainId', []), 'chain id')
  const mine = candidates.filter(({ terms }) => terms.chainId === 0 || terms.chainId === here)
  if (mine.length > RECOVERED_MAX && mine[0]?.at.blockNumber !== mine.at(-1)?.at.blockNumber)
    throw new RangeRefused(`${mine.length} authorizations`)
  const authorizations: Authorization[] = []
  const pause = breath()
  for (const { at, terms, entry } of mine) {
    await pause()
    const sender = await recover(entry, terms)
    if (sender && signers.includes(sender)) authorizations.push({ ...at, sender, nonce: terms.nonce })
  }
  return authorizations
}

/** An authorization's nonce, and its chain id (0 for any chain). */
type AuthorizationTerms = { chainId: number; nonce: number }

/** Null if the authorization is malformed. It is then valid for no account, but its transaction is still valid. */
function termsIn(entry: unknown): AuthorizationTerms | null {
  try {
    const { chainId, nonce } = fields<'chainId' | 'nonce'>(entry, 'authorization')
    return { chainId: count(chainId, 'chain id'), nonce: count(nonce, 'nonce') }
  } catch {
    return null
  }
}

/** The account that signed it; null if we cannot recover the signer. */
async function recover(entry: unknown, terms: AuthorizationTerms): Promise<Address | null> {
  try {
    const raw = fields<'address' | 'r' | 's' | 'yParity' | 'v'>(entry, 'authorization')
    const { address, r, s } = raw as Record<'address' | 'r' | 's', Hex>
    const authorization = { ...terms, address, r, s, yParity: count(raw.yParity ?? raw.v, 'parity') }
    return (await recoverAuthorizationAddress({ authorization })).toLowerCase() as Address
  } catch {
    return null
  }
}
