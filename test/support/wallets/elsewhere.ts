// A wallet on another device: WalletConnect's real client on a wallet's side, over a relay of the tests. It signs with an account of the test's chain.
import { SignClient } from '@walletconnect/sign-client'
import { createWalletClient, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil } from 'viem/chains'
import { DEVELOPMENT_ACCOUNTS } from '../../../src/domain/development.ts'

export interface WalletElsewhere {
  address: string
  /** What its owner was asked to agree to, in order. */
  asked: string[]
  /** What the last offer asked for. */
  offered(): { chains: string[]; methods: string[]; name: string }
  /** Reads an offer, as a camera reads its code. */
  scan(uri: string): Promise<void>
  /** Refuses the next offer or request. */
  refuseNext(): void
  /** Has its owner look away: what comes stays unanswered, until it is called with false. */
  lookAway(isAway: boolean): void
  /** Ends its sessions, as in the wallet's own list. */
  endAll(): Promise<void>
  sessions(): number
  stop(): Promise<void>
}

const REFUSED = { code: 5000, message: 'User rejected.' }

/** `account`: of the test's chain. `chain`: which it offers; by default that one. */
export async function walletElsewhere(
  relayUrl: string,
  rpcUrl: string,
  account: number,
  chain = `eip155:${anvil.id}`,
): Promise<WalletElsewhere> {
  const { owner, answer } = signerOf(account, rpcUrl)
  const metadata = { name: 'A phone', description: 'A phone', url: 'https://wallet.example', icons: [] }
  const client = await SignClient.init({
    ...{ relayUrl, metadata, projectId: '0'.repeat(32), telemetryEnabled: false, logger: 'silent' },
    // One process holds several: they share nothing.
    customStoragePrefix: `wallet-${account}-${Date.now()}`,
  })
  const asked: string[] = []
  let refuses = false
  let isAway = false
  let offered = { chains: [] as string[], methods: [] as string[], name: '' }
  const decide = () => {
    const decision = refuses ? 'refuse' : 'agree'
    refuses = false
    return decision
  }
  client.on('session_proposal', async ({ id, params: { optionalNamespaces, proposer } }) => {
    const { chains = [], methods = [], events = [] } = optionalNamespaces.eip155 ?? {}
    offered = { chains, methods, name: proposer.metadata.name }
    if (isAway) return
    if (decide() === 'refuse') return client.reject({ id, reason: REFUSED })
    const plain = methods.filter((method) => ['eth_sendTransaction', 'personal_sign'].includes(method))
    const namespace = { chains: [chain], accounts: [`${chain}:${owner.address}`], methods: plain, events }
    await client.approve({ id, namespaces: { eip155: namespace } })
  })
  client.on('session_request', async ({ id, topic, params: { request } }) => {
    asked.push(request.method)
    if (isAway) return
    const response =
      decide() === 'refuse'
        ? { id, jsonrpc: '2.0', error: REFUSED }
        : { id, jsonrpc: '2.0', result: await answer(request.method, request.params) }
    await client.respond({ topic, response })
  })
  return {
    address: owner.address,
    asked,
    offered: () => offered,
    scan: async (uri) => void (await client.pair({ uri })),
    refuseNext: () => {
      refuses = true
    },
    lookAway: (away) => {
      isAway = away
    },
    endAll: async () => {
      for (const { topic } of client.session.getAll()) await client.disconnect({ topic, reason: REFUSED })
    },
    sessions: () => client.session.length,
    stop: () => client.core.relayer.transportClose(),
  }
}

/** What an account of the chain answers, once its owner agrees. */
function signerOf(account: number, rpcUrl: string) {
  const key = DEVELOPMENT_ACCOUNTS[account]?.privateKey
  if (!key) throw new Error(`there is no account ${account}`)
  const owner = privateKeyToAccount(key)
  const signer = createWalletClient({ account: owner, chain: anvil, transport: http(rpcUrl) })
  const answer = (method: string, [first]: unknown[]): Promise<Hex> => {
    if (method === 'personal_sign') return owner.signMessage({ message: { raw: first as Hex } })
    const { to, value, data } = first as { to: Hex; value?: string; data?: Hex }
    return signer.sendTransaction({ to, value: BigInt(value ?? 0), ...(data && { data }) })
  }
  return { owner, answer }
}
