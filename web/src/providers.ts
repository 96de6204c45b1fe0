// The wallets of this browser, for reading only: none of them prompts its owner.
import type { EIP1193Provider } from 'viem'
import { type Announced, pageEthereum } from './announcements.ts'
import { directory } from './ledger.ts'
import { words } from './words/wallet.ts'

interface Reader {
  name: string
  provider: EIP1193Provider
}

/** A wallet that has not reported within this time which chain it is on is passed over, in milliseconds. */
const ANSWER_MS = 3_000

/** The wallets of this browser. They announce themselves immediately when a page asks (EIP-6963). */
function collectReaders(): Reader[] {
  const names = new Map<EIP1193Provider, string>()
  const take = (event: Event) => {
    const { info, provider } = (event as CustomEvent<Announced>).detail
    names.set(provider, info.name)
  }
  window.addEventListener('eip6963:announceProvider', take)
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  window.removeEventListener('eip6963:announceProvider', take)
  const ethereum = names.size === 0 ? pageEthereum() : undefined
  if (ethereum) names.set(ethereum, words.unnamed)
  return [...names].map(([provider, name]) => ({ name, provider }))
}

/** The first wallet of this browser that is on a chain; null if none reports it. */
export async function readerOn(chainId: number): Promise<Reader | null> {
  for (const reader of collectReaders()) if (Number(await chainOf(reader)) === chainId) return reader
  return null
}

/** What a wallet answers, in whatever way it fails. */
async function chainOf({ provider }: Reader): Promise<unknown> {
  const late = new Promise<null>((resolve) => setTimeout(resolve, ANSWER_MS, null))
  const request = async () => provider.request({ method: 'eth_chainId' })
  return Promise.race([request().catch(() => null), late])
}

/** Asks the chain through a wallet of this browser, else through the public RPC; null if there is neither. */
export async function queryChain(method: string, params: readonly unknown[]): Promise<unknown> {
  const { chainId, rpcUrl } = await directory.getWellKnown()
  const own = await readerOn(chainId)
  if (own) return own.provider.request({ method, params } as never)
  if (rpcUrl === null) return null
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await answer.json()) as { result?: unknown }).result ?? null
}
