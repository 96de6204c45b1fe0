// Wallets of a browser, found as they announce themselves (EIP-6963) and asked by plain requests (EIP-1193).
import { isContractCode, WalletError } from '../purchase.ts'
import type { Deployment, Hex, Quote } from '../types.ts'

/** A wallet's way to be asked. */
export interface Provider {
  request(asked: { method: string; params?: readonly unknown[] }): Promise<unknown>
}

/** A wallet as it announces itself. */
export interface FoundWallet {
  info: { uuid: string; name: string; icon: string }
  provider: Provider
}

/** Tells the wallets of the page, each time one more is known. @returns what ends it. */
export function findWallets(tell: (wallets: readonly FoundWallet[]) => void): () => void {
  const found = new Map<string, FoundWallet>()
  const take = (event: Event) => {
    const { detail } = event as CustomEvent<FoundWallet>
    if (!detail?.info?.uuid || found.has(detail.info.uuid)) return
    found.set(detail.info.uuid, detail)
    tell([...found.values()])
  }
  addEventListener('eip6963:announceProvider', take)
  dispatchEvent(new Event('eip6963:requestProvider'))
  return () => removeEventListener('eip6963:announceProvider', take)
}

const REJECTED = 4001
const UNKNOWN_CHAIN = 4902
const NOT_OFFERED = new Set([4100, 4200, -32601, -32004])
const codeOf = (error: unknown) => (error as { code?: unknown } | null)?.code

/** Asks a wallet. Throws its owner's no as a WalletError, everything else as it came. */
async function ask<T>(provider: Provider, method: string, params: readonly unknown[] = []): Promise<T> {
  try {
    return (await provider.request({ method, params })) as T
  } catch (cause) {
    if (codeOf(cause) === REJECTED)
      throw new WalletError('rejected', 'You refused in the wallet. Nothing was sent.', { cause })
    throw cause
  }
}

/** Has the wallet name its account. */
export async function connect(provider: Provider): Promise<Hex> {
  const [account] = await ask<Hex[]>(provider, 'eth_requestAccounts')
  if (!account) throw new WalletError('notOffered', 'The wallet names no account. Nothing was sent.')
  return account.toLowerCase() as Hex
}

/** Has the wallet on the ledger's chain. Throws a WalletError where it stays on another one. */
export async function moveTo(
  provider: Provider,
  { chainId, chainName, rpcUrl, explorerUrl }: Deployment,
): Promise<void> {
  const id = `0x${chainId.toString(16)}`
  const isThere = async () => Number(await ask<string>(provider, 'eth_chainId')) === chainId
  if (await isThere()) return
  try {
    await ask(provider, 'wallet_switchEthereumChain', [{ chainId: id }])
  } catch (error) {
    if (codeOf(error) !== UNKNOWN_CHAIN || rpcUrl === null) throw error
    const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
    const explorers = explorerUrl === null ? {} : { blockExplorerUrls: [explorerUrl] }
    const chain = {
      chainId: id,
      chainName: chainName ?? `Chain ${chainId}`,
      rpcUrls: [rpcUrl],
      nativeCurrency,
      ...explorers,
    }
    await ask(provider, 'wallet_addEthereumChain', [chain])
  }
  if (!(await isThere()))
    throw new WalletError('wrongChain', `The wallet is on another network than chain ${chainId}. Nothing was sent.`)
}

/** True for an account that is a contract; what cannot be read counts as none. */
export async function isContractAccount(provider: Provider, account: Hex): Promise<boolean> {
  const code = await ask<string>(provider, 'eth_getCode', [account, 'latest']).catch(() => undefined)
  return isContractCode(code)
}

/** Has the wallet send a quote's transfer. @returns the hash. */
export async function sendTransfer(
  provider: Provider,
  from: Hex,
  { priceWei, paymentAddress, chainId }: Quote,
): Promise<Hex> {
  const value = `0x${priceWei.toString(16)}`
  try {
    return await ask<Hex>(provider, 'eth_sendTransaction', [{ from, to: paymentAddress, value }])
  } catch (cause) {
    if (!NOT_OFFERED.has(codeOf(cause) as number)) throw cause
    const call = { chainId, to: paymentAddress, valueWei: priceWei }
    throw new WalletError('notOffered', 'The wallet sends nothing for this page.', { call, cause })
  }
}
