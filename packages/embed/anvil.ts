// The embedded chain: starts anvil on the state of its last run, keeps that state on disk, stops it. Owns
// DATA_DIR/chain; knows nothing about the contracts on the chain.
import { mkdirSync, realpathSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { within } from '../../src/lib/deadline.ts'
import { PRIVATE_DIR_MODE, readIfExists, syncFile, writeFileAtomic } from '../../src/lib/files.ts'
import type { Log } from '../../src/lib/log.ts'
import { adopt, isLost, loadable, type Saver, setAside, startSaver, stateFiles } from './chain-state.ts'
import { type Child, type Exit, type Guard, startChild } from './child.ts'
import { EmbedError } from './errors.ts'
import { isPortFree, LOOPBACK } from './port.ts'
import { endProcess, parseRecord, recordOf, stillRuns } from './process.ts'
import { findAnvil } from './programs.ts'
import { callRpc } from './rpc.ts'

/** The chain ID of every development chain of this kind. */
export const EMBED_CHAIN_ID = 31337
/** Number of funded accounts. Their keys are in accounts.ts. */
const ACCOUNTS = 20
/**
 * How many old states anvil may write to its cache directory: 100 of them are 88 MB. It keeps those of at least this many
 * blocks; in its first half hour, of 1,500. More would cost much memory, because each state holds the hashes of all
 * blocks: 1,500 states took 0.7 GB at block 2,500 and 1.7 GB at block 6,500.
 */
const PERSISTED_STATES_MAX = 100
/** How long anvil may take until it listens. It first reads the whole state: half a second per day of blocks. */
const LISTEN_WAIT_MS = 120_000
/** The signals that stop anvil. It writes its state when it gets SIGTERM, so SIGKILL comes only after that. */
const STOP_STEPS = [
  { signal: 'SIGTERM', waitMs: 30_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const
/** If the chain does not stop mining within this time, we stop it anyway. */
const PAUSE_TIMEOUT_MS = 2_000

export interface AnvilOptions {
  readonly dataDir: string
  /** CHAIN_PORT; 0 takes any free port. */
  readonly port: number
  /** Seconds between blocks, by default 1; 0 mines only on request. */
  readonly blockTimeSec?: number
  /** False keeps nothing on disk. For tests. */
  readonly persist?: boolean
  /** A block is final once two epochs of this many blocks are on top of it; anvil's default is 32. */
  readonly slotsInEpoch?: number
  readonly log: Log
  /** Called with a few words if a step takes long. */
  readonly onProgress?: (text: string) => void
  /** For tests: how to tie the chain to this process. */
  readonly guard?: Guard
}

export interface Anvil {
  readonly rpcUrl: string
  readonly port: number
  readonly pid: number
  /** True if an earlier run's state was loaded. */
  readonly resumed: boolean
  /**
   * The lowest block whose hash the BLOCKHASH instruction returns correctly. After a restart that is the first block
   * mined since then, because contracts see wrong hashes for earlier blocks.
   */
  readonly firstTrustedBlock: number
  /** Writes the state and stops the chain. Safe to call again. */
  stop(): Promise<void>
  /** Calls back once if the chain ends without a call of `stop`. */
  onExit(listener: (exit: Exit) => void): void
  /** Lets this process exit while the chain runs. */
  unref(): void
}

/**
 * Starts the chain kept in `dataDir`, or a new one. First stops a chain that a killed service left over, which makes it
 * write its state. Throws an EmbedError if the port is taken, anvil is not installed, or the state cannot be read.
 */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const made = resolve(options.dataDir, 'chain')
  const files = stateFiles(made)
  const directory = realpathSync(made)
  const recordFile = join(directory, 'process.json')
  await stopLeftover(recordFile, options.log)
  await refuseTakenPort(options.port)
  const cache = join(directory, 'cache')
  // Only the run that wrote these files could use them, and it was killed.
  rmSync(cache, { recursive: true, force: true })
  mkdirSync(cache, { mode: PRIVATE_DIR_MODE })

  const persist = options.persist !== false
  const epoch = options.slotsInEpoch === undefined ? [] : ['--slots-in-an-epoch', String(options.slotsInEpoch)]
  const base = [...(persist ? ['--dump-state', files.final] : []), '--cache-path', cache, ...epoch]
  const candidates = persist ? loadable(files) : []
  if (candidates.length > 0) options.onProgress?.('loading the chain')
  const launched = persist && isLost(files) ? null : await launchFromFirstReadable(candidates, base, options)
  if (launched === null) {
    // A new chain would not be the chain that the ledger beside it has followed.
    throw new EmbedError(
      `The saved state of the embedded chain in ${directory} cannot be read; it was set aside there. Remove DATA_DIR (${options.dataDir}) to start over with an empty chain and ledger.`,
    )
  }
  const { chain, loaded } = launched
  if (loaded !== null) adopt(files, loaded)
  writeFileAtomic(recordFile, JSON.stringify(recordOf(chain.child.pid)))
  // Commands that look for the running chain read this file (running.ts), because CHAIN_PORT may be 0.
  writeFileAtomic(join(directory, 'port'), String(chain.port))
  const rpcUrl = `http://${LOOPBACK}:${chain.port}`
  const firstTrustedBlock = await begin(rpcUrl, loaded !== null, options.blockTimeSec ?? 1)
  const saver = persist
    ? startSaver(rpcUrl, files.saved, firstTrustedBlock, (error) => options.log.warn({ err: error }, 'chain not saved'))
    : undefined
  const stop = once(() =>
    stopChain({ child: chain.child, rpcUrl, saver, finalFile: persist ? files.final : null }, options.log),
  )
  return {
    rpcUrl,
    port: chain.port,
    pid: chain.child.pid,
    resumed: loaded !== null,
    firstTrustedBlock,
    stop,
    onExit: (listener) => {
      chain.child.exited.then(async (exit) => {
        if (stop.called()) return
        await saver?.stop()
        listener(exit)
      })
    },
    unref: chain.child.unref,
  }
}

interface Listening {
  readonly child: Child
  readonly port: number
}

/** Loads the first readable state. Resolves with its file; null if there is no state to load. */
async function launchFromFirstReadable(
  candidates: readonly string[],
  base: readonly string[],
  options: AnvilOptions,
): Promise<{ chain: Listening; loaded: string | null } | null> {
  if (candidates.length === 0) return { chain: await launch(base, options), loaded: null }
  for (const path of candidates) {
    try {
      return { chain: await launch([...base, '--load-state', path], options), loaded: path }
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes('--load-state')) throw error
      options.log.warn({ path, err: error }, 'the chain cannot read this saved state; trying an older one')
      setAside(path)
    }
  }
  return null
}

/** Starts anvil without mining. Resolves once it listens, with its port. */
async function launch(args: readonly string[], options: AnvilOptions): Promise<Listening> {
  let found: ((port: number) => void) | undefined
  const listening = new Promise<number>((resolve) => {
    found = resolve
  })
  const child = await startChild({
    command: findAnvil(),
    args: [
      ...['--host', LOOPBACK, '--port', String(options.port), '--chain-id', String(EMBED_CHAIN_ID)],
      ...['--accounts', String(ACCOUNTS), '--no-mining', '--max-persisted-states', String(PERSISTED_STATES_MAX)],
      ...args,
    ],
    deathSignal: 'SIGTERM',
    onLine: (line) => {
      // We trust only the child's own output, because an answer on the port could come from another chain.
      const port = /^Listening on [\d.]+:(\d+)/.exec(line)?.[1]
      if (port !== undefined) found?.(Number(port))
    },
    ...(options.guard === undefined ? {} : { guard: options.guard }),
  })
  const outcome = await within(LISTEN_WAIT_MS, Promise.race([listening, child.exited]), () => 'late' as const)
  if (typeof outcome === 'number') return { child, port: outcome }
  if (outcome === 'late') await child.end(STOP_STEPS)
  if (child.tail().includes('Address already in use')) throw portTaken(options.port)
  throw new Error(`The embedded chain did not start:\n${child.tail()}`)
}

/** Starts mining; returns the first block whose hash contracts see correctly. */
async function begin(rpcUrl: string, resumed: boolean, blockTimeSec: number): Promise<number> {
  // If logging is on, anvil prints a line for each call, which nothing reads.
  await callRpc(rpcUrl, 'anvil_setLoggingEnabled', [false])
  if (resumed) {
    // If the chain's time was moved forward, the chain would restart from the clock, behind its own last block.
    const { timestamp } = await callRpc<{ timestamp: string }>(rpcUrl, 'eth_getBlockByNumber', ['latest', false])
    const aheadSec = Number(timestamp) + 1 - Math.floor(Date.now() / 1000)
    if (aheadSec > 0) await callRpc(rpcUrl, 'evm_increaseTime', [aheadSec])
    await callRpc(rpcUrl, 'anvil_mine', ['0x1'])
  }
  const head = Number(await callRpc<string>(rpcUrl, 'eth_blockNumber'))
  // After a second block, contracts see the right hash of the block before the head. The service checks that.
  if (resumed) await callRpc(rpcUrl, 'anvil_mine', ['0x1'])
  if (blockTimeSec > 0) await callRpc(rpcUrl, 'evm_setIntervalMining', [blockTimeSec])
  return head
}

/** A running chain and its saver; `finalFile` is null if we keep nothing. */
interface RunningChain {
  child: Child
  rpcUrl: string
  saver: Saver | undefined
  finalFile: string | null
}

async function stopChain({ child, rpcUrl, saver, finalFile }: RunningChain, log: Log): Promise<void> {
  await saver?.stop()
  if (child.running()) {
    // A block mined after the state is written would be lost, though a follower may have seen it.
    await callRpc(rpcUrl, 'evm_setIntervalMining', [0], PAUSE_TIMEOUT_MS).catch(() => {
      log.warn('the embedded chain does not answer; stopping it all the same')
    })
  }
  const exit = await child.end(STOP_STEPS)
  if (finalFile !== null && exit.code === 0) await syncFile(finalFile)
  log.debug({ exit }, 'embedded chain stopped')
}

/** Ends the chain that a killed service left behind. The signal makes it write its state. */
async function stopLeftover(recordFile: string, log: Log): Promise<void> {
  const record = parseRecord(readIfExists(recordFile))
  if (record === null || !stillRuns(record)) return
  log.warn({ pid: record.pid }, 'stopping the chain that an earlier run left behind')
  if (!(await endProcess(record.pid, STOP_STEPS))) {
    throw new EmbedError(`The chain (process ${record.pid}) of an earlier run cannot be stopped.`)
  }
}

async function refuseTakenPort(port: number): Promise<void> {
  if (port !== 0 && !(await isPortFree(port))) throw portTaken(port)
}

function portTaken(port: number): EmbedError {
  return new EmbedError(
    `Port ${port} on ${LOOPBACK} is taken by another program. Set CHAIN_PORT to a free port for the embedded chain.`,
  )
}

function once(run: () => Promise<void>): { (): Promise<void>; called(): boolean } {
  let result: Promise<void> | undefined
  const call = () => {
    result ??= run()
    return result
  }
  return Object.assign(call, { called: () => result !== undefined })
}
