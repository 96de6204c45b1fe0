// The contract and the block that a verifier reads. The service reports both, so both are compared with the caller's own values and their provider's.
import type { Block, Chain, Client, Transport } from 'viem'
import { getBlock, getChainId } from 'viem/actions'
import type { LedgerClient } from '../client.ts'
import type { Hex } from '../types.ts'
import { WalletError } from './errors.ts'

/** Any viem client with a transport, such as a public client. */
export type ChainClient = Client<Transport, Chain | undefined>

export interface VerifyOptions {
  /** The contract, from a source that you trust. Default: the one that the service reports. */
  factoryAddress?: Hex | string
  /** The chain's id. Throws if your provider is on another chain. Default: neither is compared. */
  chainId?: number
  /**
   * How old the service's reading may be. Its block is too old once it lies further behind your provider's head than
   * both. The time that it gives may be later than the next block by these seconds, and earlier than its block by the
   * skew of clocks. Default: 64 blocks and 900 seconds.
   */
  maxAge?: { blocks?: number; sec?: number }
}

/** Clock skew to expect between the service's machine and the chain, in seconds. */
const CLOCKS_SEC = 120

const bound = ({ maxAge: { blocks = 64, sec = 900 } = {} }: VerifyOptions) => ({ blocks, sec })

/** The contract to read, and the fields in which the service differs about it. */
export async function placeOf(
  ledger: LedgerClient,
  chain: ChainClient,
  options: VerifyOptions,
): Promise<{ factory: Hex; differences: string[] }> {
  const wellKnown = await ledger.getWellKnown()
  const factory = (options.factoryAddress?.toLowerCase() ?? wellKnown.factoryAddress) as Hex | null
  if (factory === null) throw new WalletError('notDeployed', 'The service has no contract.')
  const { chainId = null } = options
  if (chainId !== null && (await getChainId(chain)) !== chainId)
    throw new WalletError('wrongChain', `Your provider is not on chain ${chainId}.`)
  const differences = [
    ...(wellKnown.factoryAddress === factory ? [] : ['factoryAddress']),
    ...(chainId === null || wellKnown.chainId === chainId ? [] : ['chainId']),
  ]
  return { factory, differences }
}

export interface Reading<T> {
  value: T
  blockNumber: bigint
  /** True if the service's block is too old. */
  isOld: boolean
  /** False if the service cannot have read its block at the time that it reports. */
  isInTime: boolean
}

/**
 * Reads at the service's block. Reads at the newest block if the service reports none, or if the provider does not have that state. `checkedAt`: when the
 * service reports to have read.
 */
export async function readAt<T>(
  chain: ChainClient,
  reading: { blockNumber: number | null; checkedAt?: Date | null },
  read: (at: { blockNumber: bigint }) => Promise<T>,
  options: VerifyOptions,
): Promise<Reading<T>> {
  const head = await getBlock(chain)
  const at = reading.blockNumber === null ? null : BigInt(reading.blockNumber)
  // A provider may be some blocks behind the service's.
  const block = at === null || at > head.number ? null : await getBlock(chain, { blockNumber: at })
  const { blocks, sec } = bound(options)
  const ages = {
    isOld: block !== null && head.number - block.number > blocks && head.timestamp - block.timestamp > sec,
    isInTime:
      !block || !reading.checkedAt || (await wasNewest(chain, block, head, reading.checkedAt.getTime() / 1000, sec)),
  }
  const readBy = async ({ number: blockNumber }: { number: bigint }) => {
    return { value: await read({ blockNumber }), blockNumber, ...ages }
  }
  // Full nodes keep the states of the last 128 blocks or so.
  return block ? readBy(block).catch(() => readBy(head)) : readBy(head)
}

/** A block that is mined. */
type Mined = Block<bigint, boolean, 'latest'>

/** True if a block existed at a time, and the next one had not for too long. */
async function wasNewest(chain: ChainClient, block: Mined, head: Mined, atSec: number, sec: number): Promise<boolean> {
  if (atSec < Number(block.timestamp) - CLOCKS_SEC) return false
  if (block.number === head.number) return true
  const next = await getBlock(chain, { blockNumber: block.number + 1n })
  return atSec <= Number(next.timestamp) + sec
}
