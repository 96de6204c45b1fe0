// Finds the embedded parts that a running service started on a data directory, for a command that needs them. Only
// reads, because it must never start a second database or chain on the same files.
import { join, resolve } from 'node:path'
import { readIfExists } from '../../src/lib/files.ts'
import { EMBED_CHAIN_ID } from './anvil.ts'
import { type Deployment, readDeployment } from './chain.ts'
import { LOOPBACK } from './port.ts'
import { runningPostgresUrl } from './postgres.ts'
import { parseRecord, stillRuns } from './process.ts'

export interface RunningParts {
  /** The service's pid. */
  readonly pid: number
  /** The service's address; null while it is starting. */
  readonly url: string | null
  /** The embedded database; null if the service uses the operator's database, or is still starting. */
  readonly databaseUrl: string | null
  readonly chain: ({ readonly rpcUrl: string; readonly chainId: number } & Deployment) | null
}

/** The parts of the service that runs on this data directory; null if none runs. */
export function findRunning(dataDir: string): RunningParts | null {
  const directory = resolve(dataDir)
  const holder = parseRecord(readIfExists(join(directory, 'service.lock')))
  if (holder === null || !stillRuns(holder)) return null
  const url = readIfExists(join(directory, 'url'))
  return { pid: holder.pid, url, databaseUrl: runningPostgresUrl(directory), chain: runningChain(directory) }
}

/** True if a chain runs on this data directory, even one left by a killed service. */
export function isChainLeft(dataDir: string): boolean {
  const record = parseRecord(readIfExists(join(resolve(dataDir), 'chain', 'process.json')))
  return record !== null && stillRuns(record)
}

function runningChain(directory: string): RunningParts['chain'] {
  const port = Number(readIfExists(join(directory, 'chain', 'port')) ?? 0)
  const deployment = readDeployment(directory)
  if (!isChainLeft(directory) || !(port > 0) || deployment === null) return null
  return { rpcUrl: `http://${LOOPBACK}:${port}`, chainId: EMBED_CHAIN_ID, ...deployment }
}
