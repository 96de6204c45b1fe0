// The command `node-ledger deploy`: puts the factory on a chain of the operator's own and prints the settings that go with
// it. Owns its arguments and its output: what is for copying goes to stdout, everything else to stderr. The key comes from
// the environment or a file, never from an argument, which other users of the machine could see; it is never printed.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import { formatEther } from 'viem'
import { type DeployedContract, deployFactory } from '../chain/deploy.ts'
import { ChainFault } from '../chain/faults.ts'
import { addressOfKey } from '../chain/wallets.ts'
import { parseAddress, parsePrivateKey, parseUrl } from '../config/values.ts'
import { type Address, ZERO_ADDRESS } from '../domain/units.ts'
import { type DeployPlan, planDeployment, type Roles } from './deploy-plan.ts'

export interface DeployIo {
  readonly stdin: Readable & { isTTY?: boolean }
  readonly stdout: Writable
  readonly stderr: Writable
}

/** What is wrong with how the command was called; each line says what to do. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

const USAGE = `Usage: node-ledger deploy --owner <address> --minter <address> --distributor <address>

Puts the node factory on a chain and prints the settings for it.

  --rpc-url <url>        the chain's JSON-RPC; RPC_URL where it is left out
  --owner <address>      may pause, set the two roles below, and sweep what is owed to nobody; best a cold wallet
  --minter <address>     the account of MINTER_PRIVATE_KEY
  --distributor <address>  the account of DISTRIBUTOR_PRIVATE_KEY
  --max-per-wallet <n>   nodes one wallet may hold, 1 to 256; 20 where it is left out
  --yes                  do not ask
  --json                 print one JSON object instead of settings

The deployer pays for it and gets no role. Its key is read from DEPLOYER_PRIVATE_KEY, or from the file that
DEPLOYER_PRIVATE_KEY_FILE names.`

interface Request extends Roles {
  readonly rpcUrl: string
  readonly privateKey: `0x${string}`
  readonly yes: boolean
  readonly json: boolean
}

/** Runs the command. Resolves with the exit code: 0 deployed, 1 not deployed, 2 called wrongly. */
export async function runDeploy(argv: readonly string[], env: NodeJS.ProcessEnv, io: DeployIo): Promise<number> {
  const say = (text: string) => void io.stderr.write(`${text}\n`)
  try {
    if (argv.includes('--help')) {
      io.stdout.write(`${USAGE}\n`)
      return 0
    }
    const request = readRequest(argv, env)
    const deployer = addressOfKey(request.privateKey)
    const plan = await planDeployment(request.rpcUrl, deployer, request)
    say(preview(plan, deployer, request))
    if (plan.refusals.length > 0) {
      say(`\nNot deployed.\n${plan.refusals.join('\n')}`)
      return 1
    }
    if (!request.yes && !(await agrees(io))) {
      say('Not deployed.')
      return 1
    }
    const deployed = await deployFactory({ ...request, onProgress: (step) => say(`  ${step}`) })
    io.stdout.write(`${request.json ? asJson(plan, deployed) : asSettings(plan, deployed, request.rpcUrl)}\n`)
    if (!request.json) say(AFTER)
    return 0
  } catch (error) {
    if (error instanceof UsageError) {
      say(`${error.message}\n\n${USAGE}`)
      return 2
    }
    if (!(error instanceof ChainFault)) throw error
    say(`Not deployed, or not known to be: ${error.message}.`)
    return 1
  }
}

const AFTER = `
Copy these into the environment of the service, and add DATABASE_URL, PAYMENT_ADDRESS, MINTER_PRIVATE_KEY,
DISTRIBUTOR_PRIVATE_KEY and SESSION_SECRET. .env.example documents every setting.`

function readRequest(argv: readonly string[], env: NodeJS.ProcessEnv): Request {
  const { values } = parse(argv)
  const mistakes: string[] = []
  const { RPC_URL } = env
  const rpcUrl = values['rpc-url'] ?? RPC_URL ?? ''
  if (rpcUrl === '' || !rpcUrl.split(',').every((url) => parseUrl(url.trim(), ['http:', 'https:']))) {
    mistakes.push("--rpc-url: name the chain's JSON-RPC, as http://… or https://…")
  }
  const role = (name: 'owner' | 'minter' | 'distributor'): Address => {
    const text = values[name]
    const found = text === undefined ? null : parseAddress(text)
    if (text === undefined) mistakes.push(`--${name}: is missing`)
    else if (found === null) mistakes.push(`--${name}: ${text.slice(0, 60)} is no address, or its checksum is wrong`)
    else if (found === ZERO_ADDRESS) mistakes.push(`--${name}: the zero address belongs to nobody`)
    return found ?? ZERO_ADDRESS
  }
  const roles = { owner: role('owner'), minter: role('minter'), distributor: role('distributor') }
  if (roles.minter === roles.distributor && roles.minter !== ZERO_ADDRESS) {
    mistakes.push('--distributor: is the minter, too. Both send on their own, so use two accounts')
  }
  const maxPerWallet = /^[1-9][0-9]{0,2}$/.test(values['max-per-wallet']) ? Number(values['max-per-wallet']) : 0
  if (maxPerWallet < 1 || maxPerWallet > 256) mistakes.push('--max-per-wallet: a whole number from 1 to 256 is wanted')
  const privateKey = readDeployerKey(env, mistakes)
  if (mistakes.length > 0) throw new UsageError(mistakes.join('\n'))
  return { rpcUrl, ...roles, maxPerWallet, privateKey, yes: values.yes, json: values.json }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        'rpc-url': { type: 'string' },
        owner: { type: 'string' },
        minter: { type: 'string' },
        distributor: { type: 'string' },
        'max-per-wallet': { type: 'string', default: '20' },
        yes: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function readDeployerKey(env: NodeJS.ProcessEnv, mistakes: string[]): `0x${string}` {
  const { DEPLOYER_PRIVATE_KEY: given, DEPLOYER_PRIVATE_KEY_FILE: path } = env
  let text = given
  if (given && path) mistakes.push('DEPLOYER_PRIVATE_KEY and DEPLOYER_PRIVATE_KEY_FILE are both set: keep one of them')
  else if (path) {
    try {
      text = readFileSync(path, 'utf8')
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      mistakes.push(`DEPLOYER_PRIVATE_KEY_FILE: ${path} cannot be read (${code})`)
      return '0x'
    }
  }
  const key = text ? parsePrivateKey(text.trim()) : null
  if (!text) mistakes.push('DEPLOYER_PRIVATE_KEY: set it to the key of the account that pays for the deployment')
  else if (key === null) mistakes.push('DEPLOYER_PRIVATE_KEY: is no private key; 0x and 64 hex digits are wanted')
  return key ?? '0x'
}

function preview({ chainId, balanceWei, costMaxWei }: DeployPlan, deployer: Address, roles: Roles): string {
  return [
    'Deploying the node factory',
    `  chain            ${chainId}`,
    `  deployer         ${deployer}, has ${formatEther(balanceWei)} ether`,
    `  costs at most    ${formatEther(costMaxWei)} ether`,
    `  owner            ${roles.owner}`,
    `  minter           ${roles.minter}`,
    `  distributor      ${roles.distributor}`,
    `  nodes per wallet ${roles.maxPerWallet} at most, for ever`,
  ].join('\n')
}

async function agrees({ stdin, stderr }: DeployIo): Promise<boolean> {
  if (!stdin.isTTY) throw new UsageError('There is nobody to ask: add --yes to deploy all the same.')
  const dialogue = createInterface({ input: stdin, output: stderr })
  try {
    return /^y(es)?$/i.test((await dialogue.question('Deploy? [y/N] ')).trim())
  } finally {
    dialogue.close()
  }
}

function asSettings({ chainId }: DeployPlan, { address, blockNumber }: DeployedContract, rpcUrl: string): string {
  return `CHAIN_ID=${chainId}\nFACTORY_ADDRESS=${address}\nSTART_BLOCK=${blockNumber}\nRPC_URL=${rpcUrl}`
}

function asJson({ chainId }: DeployPlan, { address, blockNumber, txHash }: DeployedContract): string {
  return JSON.stringify({ chainId, factoryAddress: address, startBlock: blockNumber, txHash })
}
