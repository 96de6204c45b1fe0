// The wallets of this browser, for reading only: none of them prompts its owner.
import type { EIP1193Provider } from 'viem'
import { words } from './words/wallet.ts'

interface Announced {
  name: string
  provider: EIP1193Provider
}

/** The wallets of this browser. They announce themselves at once when a page asks (EIP-6963). */
export function announced(): Announced[] {
  const found: Announced[] = []
  const take = (event: Event) => {
    const { info, provider } = (event as CustomEvent<{ info: { name: string }; provider: EIP1193Provider }>).detail
    found.push({ name: info.name, provider })
  }
  window.addEventListener('eip6963:announceProvider', take)
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  window.removeEventListener('eip6963:announceProvider', take)
  // If a wallet does not announce itself, it is in the page's `ethereum`.
  const { ethereum } = window as { ethereum?: EIP1193Provider }
  if (found.length === 0 && ethereum) found.push({ name: words.unnamed, provider: ethereum })
  return found
}
