// The database and the chain of a start: the operator's if configured, otherwise embedded ones. Starts and stops the embedded parts, and holds the
// lock of the data directory.

import { createChainReader } from '../chain/evidence/reader.ts'
import type { Rpc } from '../chain/rpc/rpc.ts'
import { localSigner, type Signer } from '../chain/send/signer.ts'
import type { Config } from '../config/load.ts'
import { developmentAccount } from '../domain/development.ts'
import { type Address, address, type Hash } from '../domain/units.ts'
import type { Log } from '../lib/log.ts'
import type { ChainReader } from '../ports/chain.ts'
import { type DatabasePart, ownDatabase } from './database.ts'
import { type Embedded, loadEmbedded } from './embedded.ts'
import { type Keys, openKeys } from './keys.ts'

export interface ChainPart {
  rpcUrls: readonly string[]
  publicRpcUrl: string | null
  /** Null if we take the chain id from the ledger or the provider. */
  chainId: number | null
  factory: Address
  /** The code hash of a factory of another version, if the settings trust it. */
  factoryCodeHash: Hash | null
  /** The sale's previous factories; empty if there were none, null if the setting is missing. */
  formerFactories: readonly Address[] | null
  startBlock: number
  paymentAddress: Address | null
  /** Null if no key is configured. */
  minter: Signer | null
  distributor: Signer | null
  /** The embedded chain's demo token; null on the operator's own chain. */
  demoToken: Address | null
}

/** A chain with an open client, and the chain id that this ledger uses. */
export interface OpenedChain {
  readonly part: ChainPart
  readonly rpc: Rpc
  readonly reader: ChainReader
  readonly chainId: number
}

export interface Parts {
  database: DatabasePart
  chain: ChainPart
  /** Calls `listener` when an embedded part exits unexpectedly. */
  onExit(listener: (what: string) => void): void
  stop(): Promise<void>
}

/** The process of an embedded part. */
interface Running {
  name: string
  stop(): Promise<void>
  onExit(listener: () => void): void
}
/** What is deployed on the embedded chain, and the URL of that chain. */
type ReachableDeployment = Omit<Awaited<ReturnType<Embedded['startEmbeddedChain']>>, 'anvil'> & { rpcUrl: string }

interface StartedPart<Part> {
  part: Part
  /** The process of the part; null if the part is the operator's own. */
  running: Running | null
}

/** Opens the database and the chain; starts the embedded ones. Reports each step to `onProgress`. If one part fails, stops the other again. */
export async function openParts(config: Config, log: Log, onProgress: (step: string) => void): Promise<Parts> {
  // In parallel, because each takes seconds at its first start.
  const starting = [
    config.embedded.chain
      ? embeddedChain(config, log, onProgress)
      : ownChain(config, openKeys).then((part) => ({ part, running: null })),
    config.embedded.database ? embeddedDatabase(config, log, onProgress) : { part: ownDatabase(config), running: null },
  ] as const
  const outcomes = await Promise.allSettled(starting)
  const running = outcomes.flatMap((result) => (result.status === 'fulfilled' && result.value.running) || [])
  const stop = async () => {
    for (const part of running) await part.stop()
  }
  try {
    const [chain, database] = await Promise.all(starting)
    const onExit = (listener: (what: string) => void) => {
      for (const part of running) part.onExit(() => listener(part.name))
    }
    return { chain: chain.part, database: database.part, onExit, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function embeddedDatabase(
  { DATA_DIR: dataDir }: Config,
  log: Log,
  onProgress: (step: string) => void,
): Promise<StartedPart<DatabasePart>> {
  onProgress('starting PostgreSQL')
  const { startPostgres } = await loadEmbedded()
  const { url, stop, onExit } = await startPostgres({ dataDir, log, onProgress })
  return { part: { url, directUrl: url, readUrl: url }, running: { name: 'PostgreSQL', stop, onExit } }
}

async function embeddedChain(
  config: Config,
  log: Log,
  onProgress: (step: string) => void,
): Promise<StartedPart<ChainPart>> {
  onProgress('starting the chain')
  const port = config.CHAIN_PORT
  const programs = await loadEmbedded()
  const { anvil, ...deployment } = await programs.startEmbeddedChain({
    dataDir: config.DATA_DIR,
    port,
    log,
    onProgress,
  })
  const part = embeddedChainPart(programs, config, { rpcUrl: anvil.rpcUrl, ...deployment }, await openKeys(config))
  return { part, running: { name: 'The chain', stop: anvil.stop, onExit: anvil.onExit } }
}

function embeddedChainPart(
  { EMBED_CHAIN_ID, EMBED_PARTS }: Embedded,
  config: Config,
  deployment: ReachableDeployment,
  keys: Keys,
): ChainPart {
  const { minter, distributor, payments } = EMBED_PARTS
  const { rpcUrl } = deployment
  return {
    rpcUrls: [rpcUrl],
    publicRpcUrl: config.PUBLIC_RPC_URL ?? rpcUrl,
    chainId: EMBED_CHAIN_ID,
    factory: address(deployment.factory),
    factoryCodeHash: config.FACTORY_CODE_HASH,
    formerFactories: config.FORMER_FACTORIES,
    startBlock: deployment.startBlock,
    paymentAddress: config.PAYMENT_ADDRESS ?? address(developmentAccount(payments).address),
    minter: keys.minter ?? localSigner(developmentAccount(minter).privateKey),
    distributor: keys.distributor ?? localSigner(developmentAccount(distributor).privateKey),
    demoToken: address(deployment.token),
  }
}

/**
 * Finds the chain without starting one: the operator's, or the one of a service that runs on the same data directory. Null if there is neither.
 * `open` opens the keys.
 */
export async function attachChain(
  config: Config,
  open: (config: Config) => Promise<Keys> = openKeys,
): Promise<ChainPart | null> {
  if (!config.embedded.chain) return await ownChain(config, open)
  const programs = await loadEmbedded()
  const running = programs.findRunning(config.DATA_DIR)?.chain
  return running ? embeddedChainPart(programs, config, running, await open(config)) : null
}

async function ownChain(config: Config, open: (config: Config) => Promise<Keys>): Promise<ChainPart> {
  if (!config.RPC_URL) throw new Error('RPC_URL is invalid, or neither set nor embedded')
  if (!config.FACTORY_ADDRESS) throw new Error('FACTORY_ADDRESS is neither set nor embedded')
  return {
    rpcUrls: config.RPC_URL,
    publicRpcUrl: config.PUBLIC_RPC_URL,
    chainId: config.CHAIN_ID,
    factory: config.FACTORY_ADDRESS,
    factoryCodeHash: config.FACTORY_CODE_HASH,
    formerFactories: config.FORMER_FACTORIES,
    startBlock: config.START_BLOCK ?? 0,
    paymentAddress: config.PAYMENT_ADDRESS,
    ...(await open(config)),
    demoToken: null,
  }
}

/** Creates a reader of the chain for this factory and these accounts. Each read of a range names the ledger's payments wallets. */
export function readerOf(
  { factory }: ChainPart,
  rpc: Rpc,
  { minter, distributor }: ReturnType<typeof signersOf>,
): ChainReader {
  const signers = [minter, distributor].filter((sender) => sender !== null)
  return createChainReader(rpc, { factory, wallets: [], signers })
}

/** The addresses of the configured signer accounts. */
export function signersOf({ minter, distributor }: Record<keyof Keys, { readonly address: Address } | null>) {
  return { minter: minter?.address ?? null, distributor: distributor?.address ?? null }
}
