// The wallets' side: plain transfers, and calls to the factory that only a node's owner can make. The service has no
// part in them; its own ABI could not even encode a withdrawal.
import {
  type Account,
  type Client,
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeAbiParameters,
  type Hash,
  http,
  keccak256,
  parseAbi,
  parseEther,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { getTransactionReceipt } from 'viem/actions'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import type { Turn, WellKnown } from './api.ts'
import { Trouble, until } from './trouble.ts'

const ABI = parseAbi([
  'function nodesOf(address wallet) view returns (uint256[] ids)',
  'function nodeInfo(uint256 id) view returns (address owner, uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohort)',
  'function nodeOfRef(bytes32 ref) view returns (uint256 id)',
  'function maxPerWallet() view returns (uint256)',
  'function withdraw(uint256 id, address to, uint256 amount)',
])
/** The first account to play with, because accounts 0 to 4 have roles in the embedded deployment. */
const FIRST_PLAYING_ACCOUNT = 5
/** Ether for gas: more than any wallet of the demo spends. */
export const GAS_MONEY_WEI = parseEther('0.05')
const RECEIPT_WAIT_MS = 60_000
/**
 * How often a request is retried. The chain stops and starts with the service. With doubling pauses, these are half a
 * minute of retries, which is longer than a restart.
 */
const RETRIES = { retryCount: 6, retryDelay: 500 }
/** Time between two polls for a receipt; blocks come every second. */
const POLL_MS = 300

export interface OnChain {
  owner: string
  balanceWei: bigint
  creditedWei: bigint
  withdrawnWei: bigint
  cohort: bigint
}

export type DemoChain = ReturnType<typeof openChain>

/** Accounts 5 to 19 of the embedded chain, shuffled each time, so that concurrent runs rarely pick the same account. */
export function playingAccounts(): Account[] {
  return DEVELOPMENT_ACCOUNTS.slice(FIRST_PLAYING_ACCOUNT)
    .map(({ privateKey }) => ({ order: Math.random(), account: privateKeyToAccount(privateKey) }))
    .sort((a, b) => a.order - b.order)
    .map(({ account }) => account)
}

export function freshAccount(): Account {
  return privateKeyToAccount(generatePrivateKey())
}

function openChain({ chainId, rpcUrl, factory }: { chainId: number; rpcUrl: string; factory: `0x${string}` }) {
  const chain = defineChain({
    id: chainId,
    name: 'embedded',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  const transport = http(rpcUrl, { batch: true, ...RETRIES })
  const client = createPublicClient({ chain, transport, cacheTime: 0 })
  const wallet = (account: Account) => createWalletClient({ account, chain, transport })
  const mined = async (hash: Hash, what: string): Promise<TransactionReceipt> => {
    const receipt = await receiptOf(client, hash)
    if (receipt.status !== 'success') throw new Trouble(`${what} reverted: ${hash}`)
    return receipt
  }
  return {
    ...{ client, wallet, mined },
    /** A plain transfer, as any buyer makes with any wallet. */
    async pay(account: Account, to: `0x${string}`, valueWei: bigint): Promise<TransactionReceipt> {
      return await mined(await wallet(account).sendTransaction({ account, to, value: valueWei }), 'The payment')
    },
    /** Sends the same amount to each of several wallets. */
    async fund(from: Account, wallets: readonly Account[], valueWei: bigint): Promise<void> {
      let nonce = await client.getTransactionCount({ address: from.address, blockTag: 'pending' })
      const hashes: Hash[] = []
      for (const { address: to } of wallets) {
        hashes.push(await wallet(from).sendTransaction({ account: from, to, value: valueWei, nonce: nonce++ }))
      }
      for (const hash of hashes) await mined(hash, 'The funding')
    },
    async withdraw(account: Account, nodeId: bigint, amountWei: bigint): Promise<TransactionReceipt> {
      const hash = await wallet(account).writeContract({
        account,
        address: factory,
        abi: ABI,
        functionName: 'withdraw',
        args: [nodeId, account.address, amountWei],
      })
      return await mined(hash, 'The withdrawal')
    },
    async nodesOf(owner: `0x${string}`): Promise<readonly bigint[]> {
      return await client.readContract({ address: factory, abi: ABI, functionName: 'nodesOf', args: [owner] })
    },
    async nodeInfo(nodeId: bigint, atBlock?: number): Promise<OnChain> {
      const at = atBlock === undefined ? {} : { blockNumber: BigInt(atBlock) }
      const [owner, balanceWei, creditedWei, withdrawnWei, cohort] = await client.readContract({
        address: factory,
        abi: ABI,
        functionName: 'nodeInfo',
        args: [nodeId],
        ...at,
      })
      return { owner: owner.toLowerCase(), balanceWei, creditedWei, withdrawnWei, cohort }
    },
    /** The node minted for a payment; 0 if there is none. */
    async nodeOfRef(ref: Hash): Promise<bigint> {
      return await client.readContract({ address: factory, abi: ABI, functionName: 'nodeOfRef', args: [ref] })
    },
    async maxPerWallet(): Promise<number> {
      return Number(await client.readContract({ address: factory, abi: ABI, functionName: 'maxPerWallet' }))
    },
    async balance(of: `0x${string}`): Promise<bigint> {
      return await client.getBalance({ address: of })
    },
  }
}

/** Waits for the receipt. Throws a Trouble if it does not come. */
function receiptOf(client: Client, hash: Hash): Promise<TransactionReceipt> {
  const look = () =>
    getTransactionReceipt(client, { hash }).catch((error: unknown) => {
      if (error instanceof TransactionReceiptNotFoundError) return null
      throw error
    })
  const late = `No block has ${hash} after ${RECEIPT_WAIT_MS / 1000} s.`
  return until(look, { everyMs: POLL_MS, withinMs: RECEIPT_WAIT_MS, late })
}

/** The chain that the service names; throws a Trouble if the demo cannot play on it. */
export function chainOf({ chainId, rpcUrl, factoryAddress, embedded }: WellKnown): DemoChain {
  if (!embedded || rpcUrl === null || factoryAddress === null) {
    throw new Trouble(
      'This service runs on a chain of its own, where ether is real. The demo plays on the embedded chain only: start a service with RPC_URL not set.',
    )
  }
  return openChain({ chainId, rpcUrl, factory: factoryAddress })
}

/** Computes what a turn pays to each node from the seed and the terms that its round publishes. */
export function recompute({ cohort, dueSec, seed, minWei, maxWei, payoutBps }: Turn): bigint | null {
  if (seed === null || minWei === null || maxWei === null || payoutBps === null) return null
  const encoded = encodeAbiParameters(
    [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'uint256' }],
    [seed, BigInt(cohort), BigInt(dueSec)],
  )
  const [min, max] = [BigInt(minWei), BigInt(maxWei)]
  const draw = min + (BigInt(keccak256(encoded)) % (max - min + 1n))
  return (draw * BigInt(payoutBps)) / 10_000n
}
