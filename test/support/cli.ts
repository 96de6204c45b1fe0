// The command line in tests: as a separate process, the way an operator runs it, or inside the test's process if the
// test plays a person at a terminal.
import { spawn } from 'node:child_process'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { runCli } from '../../src/cli/run.ts'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import { assertPrinted } from './http-contract.ts'
import { runtimeEnv } from './runtime-env.ts'
import { temporaryDirectory } from './temporary.ts'
import { HANGING_MS } from './until.ts'
import type { World } from './world.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** Commands whose --json output equals the answer of an operator's route. */
const ROUTES: Readonly<Record<string, string>> = {
  'payments list': 'payments',
  'payments show': 'payments/{payment}',
  'wallets list': 'payment-wallets',
  'terms list': 'terms',
  'tiers list': 'tiers',
  'allowlists list': 'allowlists',
  'referrals list': 'referrals',
  'senders list': 'senders',
  'nodes unpaid': 'nodes/unpaid',
  'transactions list': 'transactions',
  'rounds list': 'rounds',
  'audit list': 'audit',
  'webhooks list': 'webhooks',
  'webhooks deliveries': 'webhooks/deliveries',
}

export interface Outcome {
  code: number | null
  out: string
  err: string
}

/** The settings of a service on a world's database and chain. */
export function worldEnv(world: World): Record<string, string> {
  return {
    // Prevents reading an .env file beside the tests.
    NODE_ENV: 'test',
    DATABASE_URL: world.directUrl,
    RPC_URL: world.chain.rpcUrl,
    CHAIN_ID: String(world.chain.chainId),
    FACTORY_ADDRESS: world.factory,
    START_BLOCK: String(world.ctx.rules.startBlock),
    PAYMENT_ADDRESS: world.at(3),
    MINTER_PRIVATE_KEY: DEVELOPMENT_ACCOUNTS[1]?.privateKey ?? '',
    DISTRIBUTOR_PRIVATE_KEY: DEVELOPMENT_ACCOUNTS[2]?.privateKey ?? '',
    DIST_ENABLED: 'true',
    CREDIT_MIN_WEI: '500000000000000',
    CREDIT_MAX_WEI: '1500000000000000',
    CREDIT_INTERVAL_SEC: '600',
    CREDIT_SLOT_SEC: '60',
  }
}

/** Runs `node-ledger` with these words as a separate process, in an empty directory, without a terminal. */
export async function runProcess(
  argv: readonly string[],
  env: Record<string, string> = {},
  options: {
    interruptWhen?: Promise<unknown>
    killWhen?: Promise<unknown>
    closeAfter?: number
    /** A command that runs the words after it, such as `unshare --mount`. */
    within?: readonly string[]
  } = {},
): Promise<Outcome> {
  const [program = '', ...words] = [...(options.within ?? []), process.execPath, MAIN, ...argv]
  const child = spawn(program, words, {
    cwd: temporaryDirectory(),
    env: { ...runtimeEnv(), HOME: temporaryDirectory(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: HANGING_MS,
    killSignal: 'SIGKILL',
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (part) => {
    out += part
    // Closes the pipe early, as `| head` does.
    if (options.closeAfter !== undefined && out.length > options.closeAfter) child.stdout.destroy()
  })
  void options.interruptWhen?.then(() => child.kill('SIGINT'))
  void options.killWhen?.then(() => child.kill('SIGKILL'))
  child.stderr.on('data', (part) => {
    err += part
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return held(argv, { code, out, err })
}

/** Ctrl-D at a terminal. */
export const CTRL_D = '\u0004'

/** Runs it inside this process. `typed` is a person's input at a terminal, closed if it ends in Ctrl-D. Without it there is no terminal. */
export async function runHere(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  typed?: string,
  interrupt?: AbortController,
): Promise<Outcome> {
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== undefined })
  if (typed?.endsWith(CTRL_D)) stdin.end(typed.slice(0, -1))
  else stdin.write(`${typed ?? ''}\n`)
  const [stdout, stderr] = [Object.assign(collector(), { isTTY: stdin.isTTY }), collector()]
  const code = await runCli(argv, { env, stdin, stdout, stderr }, interrupt)
  return held(argv, { code, out: stdout.text(), err: stderr.text() })
}

/** An outcome, after checking its JSON against the operator's document. */
function held(argv: readonly string[], outcome: Outcome): Outcome {
  const route = ROUTES[argv.slice(0, 2).join(' ')]
  if (route && argv.includes('--json') && outcome.code === 0) assertPrinted(route, JSON.parse(outcome.out))
  return outcome
}

function collector() {
  const stream = new PassThrough()
  let text = ''
  stream.on('data', (part) => {
    text += part
  })
  return Object.assign(stream, { text: () => text })
}
