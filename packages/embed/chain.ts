// The embedded chain as the service uses it: anvil with the factory and a demo token deployed, and accounts with tokens
// to play with. Owns DATA_DIR/deployment.json, which it writes only once the chain's state with the deployment is on
// disk.
import { join, resolve } from 'node:path'
import { developmentAccount } from '../../src/domain/development.ts'
import { readIfExists, writeFileAtomic } from '../../src/lib/files.ts'
import type { Log } from '../../src/lib/log.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { saveState, stateFiles } from './chain-state.ts'
import { EmbedError } from './errors.ts'
import { callRpc } from './rpc.ts'

/** Accounts of the embedded chain by role. Accounts 5 to 19 are free to experiment with. */
export const EMBED_PARTS = { owner: 0, minter: 1, distributor: 2, payments: 3, tokenHolder: 4 } as const
/** Accounts that get demo tokens at the first start, and how many (smallest units). */
const TOKEN_RECEIVERS = [5, 6, 7, 8, 9]
const TOKENS_EACH = 10_000n * 10n ** 18n
/** The widest budgets and bounds. There is no owner here to refill them, and rounds run every few seconds. */
const SETUP = {
  nodes: 2 ** 32 - 1,
  cohorts: 2 ** 16 - 1,
  floorGwei: 0n,
  ceilingGwei: 10n ** 9n,
  maxPerWallet: 20,
  leastIntervalSec: 1,
  expulsionPeriodSec: 7 * 86_400,
} as const

type Hex = `0x${string}`

export interface EmbeddedChain {
  anvil: Anvil
  factory: Hex
  token: Hex
  /** The block of the factory's deployment. The follower starts here. */
  startBlock: number
}

/** The contract deployed at the chain's first start. */
export interface Deployment {
  factory: Hex
  token: Hex
  startBlock: number
}

/** Reads the deployment recorded in `dataDir`; null before the first start was complete. */
export function readDeployment(dataDir: string): Deployment | null {
  const stored = readIfExists(recordPath(dataDir))
  if (stored === null) return null
  const { factory, token, startBlock } = JSON.parse(stored) as Deployment
  return { factory, token, startBlock }
}

/**
 * Starts the chain in `dataDir`; deploys factory and token at its first start. Throws an EmbedError with what to do.
 */
export async function startEmbeddedChain(options: {
  dataDir: string
  port: number
  log: Log
  onProgress: (text: string) => void
}): Promise<EmbeddedChain> {
  const anvil = await startAnvil(options)
  try {
    const deployment =
      (await storedDeployment(options.dataDir, anvil)) ?? (await deployAll(options.dataDir, anvil, options.onProgress))
    return { anvil, ...deployment }
  } catch (error) {
    await anvil.stop()
    throw error
  }
}

async function storedDeployment(dataDir: string, anvil: Anvil): Promise<Deployment | null> {
  const deployment = readDeployment(dataDir)
  if (deployment === null) return null
  if ((await callRpc<string>(anvil.rpcUrl, 'eth_getCode', [deployment.factory, 'latest'])) !== '0x') return deployment
  throw new EmbedError(
    `The embedded chain has lost the factory at ${deployment.factory}, which the ledger belongs to. Remove DATA_DIR (${dataDir}) to start over.`,
  )
}

async function deployAll(dataDir: string, anvil: Anvil, onProgress: (text: string) => void): Promise<Deployment> {
  // Loaded only now: it is needed once in a chain's life, and commands load this file to find the running chain.
  const { deployDemoToken, deployFactory, transferToken } = await import('../../src/chain/factory/deploy.ts')
  const key = (part: keyof typeof EMBED_PARTS) => developmentAccount(EMBED_PARTS[part]).privateKey
  const addressOf = (index: number) => developmentAccount(index).address.toLowerCase() as Hex
  onProgress('deploying the factory')
  const factory = await deployFactory({
    rpcUrl: anvil.rpcUrl,
    privateKey: key('owner'),
    owner: addressOf(EMBED_PARTS.owner),
    minter: addressOf(EMBED_PARTS.minter),
    distributor: addressOf(EMBED_PARTS.distributor),
    ...SETUP,
  })
  onProgress('deploying the demo token')
  const holder = { rpcUrl: anvil.rpcUrl, privateKey: key('tokenHolder') }
  const token = await deployDemoToken(holder)
  await transferToken({ ...holder, token: token.address, to: TOKEN_RECEIVERS.map(addressOf), amount: TOKENS_EACH })
  const deployment = { factory: factory.address, token: token.address, startBlock: factory.blockNumber }
  await saveState(anvil.rpcUrl, stateFiles(resolve(dataDir, 'chain')).saved)
  writeFileAtomic(recordPath(dataDir), `${JSON.stringify(deployment, null, 2)}\n`)
  return deployment
}

function recordPath(dataDir: string): string {
  return join(resolve(dataDir), 'deployment.json')
}
