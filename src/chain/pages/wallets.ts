// Addresses of keys, and the signers of messages. All of it is computed here, with one exception: a contract wallet's signature is checked on chain,
// and only if SMART_WALLET_LOGIN allows that.
import { privateKeyToAccount } from 'viem/accounts'
import { decodeAbiParameters, encodeDeployData, hashMessage, recoverMessageAddress } from 'viem/utils'
import { type Address, address } from '../../domain/units.ts'
import { ChainFault } from '../../ports/faults.ts'
import { agreedAnswer } from '../evidence/state/agreement.ts'
import { isRevert } from '../rpc/provider.ts'
import { ofEach, type Rpc, type RpcReads } from '../rpc/rpc.ts'
import { bytes } from '../rpc/wire.ts'

/** The gas that a wallet may use to check a signature: enough for multi-signature wallets, too little for an attacker's loop. */
const CHECK_GAS = '0x4c4b40'
/** The most bytes of a signature. One that includes the wallet's deployment (ERC-6492) has a few kilobytes. */
const SIGNATURE_BYTES_MAX = 8 * 1024
/** The bytes with which an ERC-6492 signature ends. */
const ERC6492_SUFFIX = '6492'.repeat(16)

/** The account that signed `message` as a personal message (EIP-191); null if the signature yields no address. */
export async function recoverSigner(message: string, signature: `0x${string}`): Promise<Address | null> {
  try {
    return address(await recoverMessageAddress({ message, signature }))
  } catch {
    return null
  }
}

/** The address of a private key. */
export function addressOfKey(privateKey: `0x${string}`): Address {
  return address(privateKeyToAccount(privateKey).address)
}

/**
 * Creates the check of a contract wallet's signature. True if `wallet` accepts the signature (ERC-1271), or will accept it once it is deployed
 * (ERC-6492). It takes one eth_call of the ERC-6492 validator. False if the wallet rejects the signature; null if the chain does not answer.
 */
export function createWalletVerifier(
  rpc: RpcReads,
): (wallet: Address, message: string, signature: `0x${string}`) => Promise<boolean | null> {
  return async (wallet, message, signature) => {
    if (signature.length % 2 !== 0 || signature.length > 2 + SIGNATURE_BYTES_MAX * 2) return false
    // biome-ignore lint/style/noRestrictedImports: viem/utils has no such thing, and few services ever come here.
    const { erc6492SignatureValidatorAbi, erc6492SignatureValidatorByteCode } = await import('viem')
    const data = encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      bytecode: erc6492SignatureValidatorByteCode,
      args: [wallet, hashMessage(message), signature],
    })
    try {
      // The validator also accepts signatures of plain keys, and is more lenient than sign-in. Sign-in checks those itself, so they must not pass
      // here.
      const isContract = bytes(await rpc.request('eth_getCode', [wallet, 'latest']), 'code') !== '0x'
      if (!isContract && !signature.toLowerCase().endsWith(ERC6492_SUFFIX)) return false
      const reply = await rpc.call('eth_call', [{ data, gas: CHECK_GAS }, 'latest'])
      if (reply.ok) return typeof reply.result === 'string' && /^0x0*1$/.test(reply.result)
      return isRevert(reply.error) ? false : null
    } catch (error) {
      if (error instanceof ChainFault) return null
      throw error
    }
  }
}

/** The proof that someone controls a contract wallet, and whether there was code at its address at that time. */
export interface WalletProof {
  deployed: boolean
}

/**
 * Creates the proof that someone controls a contract wallet that has signed in. Two providers, or the only one, must report that the wallet accepts
 * the signature. If the wallet is deployed, it must accept the signature as it is, without the call that ERC-6492 would make first. Null if there is
 * no proof.
 */
export function createWalletProver(
  rpc: Rpc,
): (wallet: Address, message: string, signature: `0x${string}`) => Promise<WalletProof | null> {
  async function proveThrough(provider: RpcReads, ...[wallet, message, signature]: Parameters<Prover>) {
    const isDeployed = bytes(await provider.request('eth_getCode', [wallet, 'latest']), 'code') !== '0x'
    const own = isDeployed ? unwrap(signature) : signature
    return (await createWalletVerifier(provider)(wallet, message, own)) === true ? { deployed: isDeployed } : null
  }
  return async (...args) => {
    return agreedAnswer(await ofEach(rpc, (provider) => proveThrough(provider, ...args)), (proof) => proof.deployed)
  }
}
type Prover = ReturnType<typeof createWalletProver>

/** The wallet's own signature, without the deployment in which ERC-6492 wraps it. */
function unwrap(signature: `0x${string}`): `0x${string}` {
  if (!signature.toLowerCase().endsWith(ERC6492_SUFFIX)) return signature
  const envelope = signature.slice(0, -ERC6492_SUFFIX.length) as `0x${string}`
  try {
    const [, , own] = decodeAbiParameters([{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }], envelope)
    return own
  } catch {
    return '0x'
  }
}
