// EIP-7702 authorizations, signed with a test account's key and included in another account's transaction.
import { type SignedAuthorization, zeroAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { World } from './world.ts'

/** Far above any base fee of a test. */
const FEES = { maxFeePerGas: 2_000n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n }

/** Signs an authorization that removes the account's code, or sets it to the code at `to`; for the world's chain by default. */
export function authorize(
  { chain }: Pick<World, 'chain'>,
  account: number,
  { nonce, chainId = chain.chainId, to = zeroAddress }: { nonce: number; chainId?: number; to?: `0x${string}` },
): Promise<SignedAuthorization> {
  return signerOf(chain, account).signAuthorization({ contractAddress: to, chainId, nonce })
}

/** Sends a transaction from `account` that only includes the authorizations, and mines it. */
export async function carry(
  { chain }: Pick<World, 'chain'>,
  account: number,
  authorizationList: readonly SignedAuthorization[],
): Promise<void> {
  const signer = signerOf(chain, account)
  const nonce = Number(await chain.rpc<string>('eth_getTransactionCount', [signer.address, 'latest']))
  const fields = { chainId: chain.chainId, nonce, to: signer.address, gas: 300_000n, ...FEES }
  const raw = await signer.signTransaction({ type: 'eip7702', ...fields, authorizationList })
  await chain.rpc('eth_sendRawTransaction', [raw])
  await chain.mine()
}

function signerOf(chain: World['chain'], account: number) {
  const key = chain.accounts[account]?.privateKey
  if (!key) throw new Error(`there is no account ${account}`)
  return privateKeyToAccount(key)
}
