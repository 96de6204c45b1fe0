// The database and the chain that a start runs on: the operator's where they are configured, the embedded ones in place
// of each that is not. Owns the life of the embedded parts, and of the data directory's lock.
import { addressOfKey } from './chain/wallets.ts'
import type { Config } from './config.ts'
import { type Address, address } from './domain/units.ts'
import { embedAccount } from './embed/accounts.ts'
import { EMBED_CHAIN_ID } from './embed/anvil.ts'
import { EMBED_PARTS, startEmbeddedChain } from './embed/chain.ts'
import { startPostgres } from './embed/postgres.ts'
import type { Log } from './log.ts'

type Hex = `0x${string}`

export interface DatabasePart {
  url: string
  directUrl: string
  readUrl: string
}

export interface ChainPart {
  rpcUrls: readonly string[]
  publicRpcUrl: string | null
  /** Null: whatever the provider says. */
  chainId: number | null
  factory: Address
  startBlock: number
  paymentAddress: Address | null
  minterKey: Hex | null
  distributorKey: Hex | null
  /** The embedded chain's demo token; null on a chain of the operator's. */
  demoToken: Address | null
}

export interface Parts {
  database: DatabasePart
  chain: ChainPart
  /** Calls back when an embedded part ends by itself. */
  onExit(listener: (what: string) => void): void
  /** Stops the embedded parts. */
  stop(): Promise<void>
}

/** Starts what is missing. `onProgress` is told of each step. What was started is stopped again when a later step fails. */
export async function openParts(config: Config, log: Log, onProgress: (step: string) => void): Promise<Parts> {
  const stops: (() => Promise<void>)[] = []
  const exits: ((listener: (what: string) => void) => void)[] = []
  const stop = async () => {
    for (const stopPart of stops.splice(0).reverse()) await stopPart()
  }
  try {
    const chain = config.embedded.chain ? await embeddedChain(config, log, onProgress, stops, exits) : ownChain(config)
    const database = config.embedded.database
      ? await embeddedDatabase(config, log, onProgress, stops, exits)
      : ownDatabase(config)
    return { database, chain, onExit: (listener) => exits.forEach((on) => void on(listener)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Stops = (() => Promise<void>)[]
type Exits = ((listener: (what: string) => void) => void)[]

async function embeddedDatabase(
  config: Config,
  log: Log,
  onProgress: (step: string) => void,
  stops: Stops,
  exits: Exits,
): Promise<DatabasePart> {
  onProgress('starting PostgreSQL')
  const postgres = await startPostgres({ dataDir: config.dataDir, log, onProgress })
  stops.push(postgres.stop)
  exits.push((listener) => postgres.onExit(() => listener('PostgreSQL')))
  return { url: postgres.url, directUrl: postgres.url, readUrl: postgres.url }
}

function ownDatabase({ database }: Config): DatabasePart {
  const { url, directUrl, readUrl } = database
  if (!url || !directUrl || !readUrl) throw new Error('DATABASE_URL is neither set nor embedded')
  return { url, directUrl, readUrl }
}

async function embeddedChain(
  config: Config,
  log: Log,
  onProgress: (step: string) => void,
  stops: Stops,
  exits: Exits,
): Promise<ChainPart> {
  onProgress('starting the chain')
  const port = config.chain.embeddedPort
  const { anvil, ...deployment } = await startEmbeddedChain({ dataDir: config.dataDir, port, log, onProgress })
  stops.push(anvil.stop)
  exits.push((listener) => anvil.onExit(() => listener('The chain')))
  const { minter, distributor, payments } = EMBED_PARTS
  return {
    rpcUrls: [anvil.rpcUrl],
    publicRpcUrl: config.chain.publicRpcUrl ?? anvil.rpcUrl,
    chainId: EMBED_CHAIN_ID,
    factory: address(deployment.factory),
    startBlock: deployment.startBlock,
    paymentAddress: config.payments.address ?? address(embedAccount(payments).address),
    minterKey: config.secrets.minterPrivateKey ?? embedAccount(minter).privateKey,
    distributorKey: config.secrets.distributorPrivateKey ?? embedAccount(distributor).privateKey,
    demoToken: address(deployment.token),
  }
}

function ownChain({ chain, payments, secrets }: Config): ChainPart {
  if (!chain.factoryAddress) throw new Error('FACTORY_ADDRESS is neither set nor embedded')
  return {
    rpcUrls: chain.rpcUrls,
    publicRpcUrl: chain.publicRpcUrl,
    chainId: chain.chainId,
    factory: chain.factoryAddress,
    startBlock: chain.startBlock ?? 0,
    paymentAddress: payments.address,
    minterKey: secrets.minterPrivateKey,
    distributorKey: secrets.distributorPrivateKey,
    demoToken: null,
  }
}

/** The addresses of the keys that send, as far as they are configured. */
export function sendersOf(chain: ChainPart): { minter: Address | null; distributor: Address | null } {
  return {
    minter: chain.minterKey && addressOfKey(chain.minterKey),
    distributor: chain.distributorKey && addressOfKey(chain.distributorKey),
  }
}
