// A wallet for pages under test: it announces itself as browser wallets do (EIP-6963), has their interface (EIP-1193),
// and signs with a real key on a real chain. A test can make it refuse, or put it on another chain.
import type { Page } from 'playwright-core'
import { createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil } from 'viem/chains'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import { HANGING_MS } from './until.ts'

export const WALLET_NAME = 'Test Wallet'
/** EIP-1193: the user declined. */
const REFUSAL = { code: 4001, message: 'User rejected the request.' }
/** Like it, but an error after which the page cannot know whether the wallet has sent. */
export const LOST = { code: -32603, message: 'the wallet has lost it' }

export interface BrowserWallet {
  address: `0x${string}`
  /** Requests to sign or send, in order. */
  asked: string[]
  /** Refuses the next request to sign or send, or fails it with this error. */
  refuseNext(error?: typeof REFUSAL): void
  /** Reports this chain until a page makes it switch. */
  moveTo(chainId: number): Promise<void>
  /** Cuts the wallet's own connection to the chain, or restores it. */
  cutOff(gone: boolean): void
}

/** A request to a wallet (EIP-1193). */
export interface Asked {
  method: string
  params?: unknown[]
}

/** Installs a wallet with an embedded account in every page that `page` loads from now on. */
export async function installWallet(page: Page, account: number, rpcUrl: string): Promise<BrowserWallet> {
  const key = DEVELOPMENT_ACCOUNTS[account]?.privateKey
  if (!key) throw new Error(`there is no account ${account}`)
  const owner = privateKeyToAccount(key)
  const signer = createWalletClient({ account: owner, chain: anvil, transport: http(rpcUrl, { timeout: HANGING_MS }) })
  const asked: string[] = []
  let connected = false
  let next: typeof REFUSAL | null = null
  let chainId = anvil.id as number
  let gone = false

  async function forward(method: string, params: unknown[]): Promise<unknown> {
    if (gone) throw { code: -32603, message: 'the wallet cannot reach its node' }
    return signer.request({ method, params } as never)
  }
  async function answer({ method, params = [] }: Asked): Promise<unknown> {
    if (/^(personal_sign|eth_sendTransaction|wallet_switchEthereumChain)$/.test(method)) {
      asked.push(method)
      const said = next
      next = null
      if (said) throw said
    }
    switch (method) {
      case 'eth_requestAccounts':
        connected = true
        return [owner.address]
      case 'eth_accounts':
        return connected ? [owner.address] : []
      case 'eth_chainId':
        return `0x${chainId.toString(16)}`
      case 'wallet_switchEthereumChain':
        chainId = Number((params[0] as { chainId: string }).chainId)
        await page.evaluate(
          (id) => (globalThis as unknown as Emits).walletEmits('chainChanged', id),
          `0x${chainId.toString(16)}`,
        )
        return null
      case 'personal_sign':
        return owner.signMessage({ message: { raw: params[0] as `0x${string}` } })
      case 'eth_sendTransaction': {
        const { to, value, data } = params[0] as { to: `0x${string}`; value?: string; data?: `0x${string}` }
        if (gone) throw { code: -32603, message: 'the wallet cannot reach its node' }
        return signer.sendTransaction({ to, value: BigInt(value ?? 0), ...(data && { data }) })
      }
      default:
        return forward(method, params)
    }
  }
  await announceWallet(page, answer)
  return {
    address: owner.address,
    asked,
    refuseNext: (error = REFUSAL) => {
      next = error
    },
    moveTo: async (id) => {
      chainId = id
      await page.evaluate(
        (hex) => (globalThis as unknown as Emits).walletEmits('chainChanged', hex),
        `0x${id.toString(16)}`,
      )
    },
    cutOff: (isGone) => {
      gone = isGone
    },
  }
}

/**
 * Installs a wallet with these answers in every page that `page` loads from now on. If `answer` throws, the page gets the error's code and message.
 */
export async function announceWallet(page: Page, answer: (request: Asked) => Promise<unknown>): Promise<void> {
  await page.exposeFunction('walletAnswer', (request: Asked) =>
    answer(request).then(
      (result) => ({ result }),
      (thrown: { code?: number; message?: string; shortMessage?: string }) => ({
        error: { code: thrown.code ?? -32603, message: thrown.shortMessage ?? thrown.message ?? String(thrown) },
      }),
    ),
  )
  await page.addInitScript(announce, WALLET_NAME)
}

interface Emits {
  walletEmits(event: string, data: unknown): void
}

/** Runs in the page. */
function announce(name: string): void {
  // biome-ignore lint/suspicious/noExplicitAny: the page's own globals, which this project has no types of
  const page = globalThis as any
  const listeners = new Map<string, Set<(data: unknown) => void>>()
  const provider = {
    request: async (asked: unknown) => {
      const { result, error } = await page.walletAnswer(asked)
      if (error) throw Object.assign(new Error(error.message), { code: error.code })
      return result
    },
    on: (event: string, listener: (data: unknown) => void) => {
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener))
    },
    removeListener: (event: string, listener: (data: unknown) => void) => listeners.get(event)?.delete(listener),
  }
  page.walletEmits = (event: string, data: unknown) => {
    for (const listener of listeners.get(event) ?? []) listener(data)
  }
  const info = {
    uuid: '350670db-19fa-4704-a166-e52e178b59d2',
    name,
    icon: "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><rect width='8' height='8' rx='2' fill='teal'/></svg>",
    rdns: 'example.test-wallet',
  }
  const say = () =>
    page.dispatchEvent(new page.CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }))
  page.addEventListener('eip6963:requestProvider', say)
  say()
}
