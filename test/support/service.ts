// The service as its operator runs it: the command line in a separate process, on embedded parts and free ports. For
// tests that observe it from outside, kill it, and start it again.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { createPublicClient, createWalletClient, type Hash, http, parseAbi, zeroHash } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil } from 'viem/chains'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import { FOREVER } from './factory.ts'
import { createDatabase } from './postgres.ts'
import { runtimeEnv } from './runtime-env.ts'
import { temporaryDirectory } from './temporary.ts'
import { HANGING_MS, until, untilMined } from './until.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const STARTS_MAX = 3
const STOP_MS = 40_000

const walletAbi = parseAbi([
  'function nodeInfo(uint256 id) view returns (address owner, uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohort)',
  'function nodesOf(address wallet) view returns (uint256[])',
  'function withdraw(uint256 id, address to, uint256 amount)',
  'function declinesGifts(address wallet) view returns (bool)',
  'function transferFrom(address from, address to, uint256 id)',
  'function mint((address to, uint256 cohort, bytes32 ref)[] orders, uint256 guardBlock, bytes32 guardHash, uint256 validUntil)',
])

export interface Service {
  url: string
  pid: number
  /** All its output so far. */
  output(): string
  get<T>(path: string): Promise<T>
  post(path: string, body: object): Promise<Response>
  /** Resolves with how it ended, once all its output has been read. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  kill(signal: NodeJS.Signals): void
  /** Asks it to stop, and waits until it has. */
  stop(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/**
 * Starts the service itself, without a launcher, so that a kill hits it. Waits for its banner; if there is none, throws
 * with its output. `onOutput` gets all output so far whenever there is more, even before the banner. A `launcher` must
 * become the service, as prlimit does. `main` is the file to run, if it is not this tree's.
 */
export async function startService(
  dataDir: string,
  env: Record<string, string> = {},
  onOutput: (output: string) => void = () => {},
  launcher: readonly string[] = [],
  main = MAIN,
): Promise<Service> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(dataDir, env, onOutput, [...launcher, process.execPath, main, 'start'])
    } catch (error) {
      // Another test may have taken the port since we found it free.
      if (attempt === STARTS_MAX || !/Port \d+ is taken/.test(String(error))) throw error
    }
  }
}

/**
 * Starts one on the test run's database. For tests that do not care which database has the ledger, because creating and
 * starting a database server takes longer than the rest of a start.
 */
export async function startServiceHere(
  env: Record<string, string> = {},
  dataDir = temporaryDirectory(),
): Promise<Service & { databaseUrl: string }> {
  const database = await createDatabase()
  const service = await startService(dataDir, { ...env, DATABASE_URL: database.url })
  const stopAndDrop = async () => {
    const exit = await service.stop()
    await database.drop()
    return exit
  }
  return { ...service, stop: stopAndDrop, databaseUrl: database.url }
}

async function startOnce(
  dataDir: string,
  env: Record<string, string>,
  onOutput: (output: string) => void,
  [program = '', ...args]: readonly string[],
): Promise<Service> {
  const child = spawn(program, args, {
    env: {
      ...runtimeEnv(),
      HOME: dataDir,
      DATA_DIR: dataDir,
      PORT: '0',
      CHAIN_PORT: '0',
      METRICS_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  const url = await new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no banner in ${HANGING_MS} ms:\n${output}`)), HANGING_MS)
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      onOutput(output)
      const found = /answers at (http:\S+)/.exec(output)?.[1]
      if (found) {
        clearTimeout(late)
        resolve(found)
      }
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    exited.then(() => {
      clearTimeout(late)
      reject(new Error(`it ended:\n${output}`))
    })
  })
  const killIt = () => child.kill('SIGKILL')
  process.once('exit', killIt)
  exited.then(() => process.off('exit', killIt))
  return {
    url,
    pid: child.pid ?? 0,
    output: () => output,
    async get<T>(path: string) {
      const response = await fetch(url + path)
      if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
      return (await response.json()) as T
    },
    post: (path, body) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    exited,
    kill: (signal) => void child.kill(signal),
    stop: () => stop(child, exited),
  }
}

async function stop(child: ChildProcess, exited: Service['exited']) {
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  const exit = await exited
  clearTimeout(late)
  return exit
}

export interface WellKnown {
  chainId: number
  rpcUrl: string
  factoryAddress: `0x${string}`
  paymentAddress: `0x${string}`
  apiBase: string
  embedded: boolean
}

/** A wallet of the embedded chain, the way its owner uses it. */
export function wallet(index: number, { rpcUrl, factoryAddress }: WellKnown) {
  const key = DEVELOPMENT_ACCOUNTS[index]?.privateKey
  if (!key) throw new Error(`there is no account ${index}`)
  const account = privateKeyToAccount(key)
  const transport = http(rpcUrl, { retryCount: 5, timeout: HANGING_MS })
  const sender = createWalletClient({ account, chain: anvil, transport })
  const reader = createPublicClient({ chain: anvil, transport, cacheTime: 0 })
  const factory = { address: factoryAddress, abi: walletAbi } as const
  const mined = async (hash: Hash) => {
    const receipt = await untilMined(reader, hash)
    if (receipt.status !== 'success') throw new Error(`${hash} failed`)
    return hash
  }
  return {
    address: account.address.toLowerCase() as `0x${string}`,
    pay: async (to: `0x${string}`, value: bigint) => mined(await sender.sendTransaction({ to, value })),
    /** Sends without waiting for a block; with a nonce, at a higher fee, in place of the transaction that has it. */
    send: (to: `0x${string}`, value: bigint, nonce?: number) =>
      sender.sendTransaction({
        to,
        value,
        ...(nonce !== undefined && { nonce, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 10n }),
      }),
    withdraw: async (id: bigint, to: `0x${string}`, amount: bigint) =>
      mined(await sender.writeContract({ ...factory, functionName: 'withdraw', args: [id, to, amount] })),
    transfer: async (to: `0x${string}`, id: bigint) =>
      mined(await sender.writeContract({ ...factory, functionName: 'transferFrom', args: [account.address, to, id] })),
    /** Mints a node without a payment into another node's group. Only the minter's account can do so, or a thief of its key. */
    mintUnpaid: async (to: `0x${string}`, beside: bigint) => {
      const nodes = () => reader.readContract({ ...factory, functionName: 'nodesOf', args: [to] })
      const before = await nodes()
      return until('an unpaid node', async () => {
        const [, , , , cohort] = await reader.readContract({ ...factory, functionName: 'nodeInfo', args: [beside] })
        const order = { to, cohort, ref: `0x${randomBytes(32).toString('hex')}` as const }
        const args = [[order], 0n, zeroHash, BigInt(FOREVER)] as const
        await mined(await sender.writeContract({ ...factory, functionName: 'mint', args }))
        // If the group's turn was due, it accepted none.
        return (await nodes()).find((id) => !before.includes(id)) ?? null
      })
    },
    declinesGifts: () => reader.readContract({ ...factory, functionName: 'declinesGifts', args: [account.address] }),
    nodesOf: () => reader.readContract({ ...factory, functionName: 'nodesOf', args: [account.address] }),
    nodeInfo: async (id: bigint) => {
      const [owner, balance, credited, withdrawn] = await reader.readContract({
        ...factory,
        functionName: 'nodeInfo',
        args: [id],
      })
      return {
        owner: owner.toLowerCase(),
        balanceWei: `${balance}`,
        creditedWei: `${credited}`,
        withdrawnWei: `${withdrawn}`,
      }
    },
  }
}
