// The command `node-ledger deploy`: deploys the factory on the operator's own chain and prints the settings that go with it. Owns its arguments and
// its output: text to copy goes to stdout, everything else to stderr. The key comes from the environment or a file, never from an argument, which
// other users of the machine could see. It must never print the key.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { formatEther } from 'viem/utils'
import { parseAddress } from '../../chain/digest.ts'
import {
  type DeployedContract,
  deployFactory,
  EXPULSION_PERIOD_SEC_MAX,
  type FactorySetup,
  factoryConstructorArguments,
  LEAST_INTERVAL_SEC,
} from '../../chain/factory/deploy.ts'
import { addressOfKey } from '../../chain/pages/wallets.ts'
import { parsePrivateKey, parseUrl } from '../../config/values.ts'
import { floorFor } from '../../domain/rounds/terms.ts'
import { type Address, BPS_BASE, ZERO_ADDRESS } from '../../domain/units.ts'
import { ChainFault } from '../../ports/faults.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { RefusedError, UnavailableError, UsageError } from '../errors.ts'
import { readAmount } from '../ether.ts'
import { mustAgree } from '../output.ts'
import { type DeployPlan, planDeployment } from './deploy-plan.ts'

/** The default ceiling. It is wide, because a setting of the service already limits the draw. */
const CEILING_GWEI = '1000000000'
/** Figures of the deployment by option: the default, the smallest and the largest value. */
const FIGURES = {
  'max-per-wallet': { usual: '20', min: 1n, max: 256n },
  nodes: { usual: '1000', min: 0n, max: 2n ** 32n - 1n },
  cohorts: { usual: '1000', min: 0n, max: 2n ** 16n - 1n },
  'floor-gwei': { usual: null, min: 0n, max: 2n ** 48n - 1n },
  'ceiling-gwei': { usual: CEILING_GWEI, min: 0n, max: 2n ** 48n - 1n },
  'least-interval': { usual: String(LEAST_INTERVAL_SEC), min: 1n, max: 2n ** 32n - 1n },
  'expulsion-period': { usual: String(EXPULSION_PERIOD_SEC_MAX), min: 0n, max: BigInt(EXPULSION_PERIOD_SEC_MAX) },
} as const

interface Request extends FactorySetup {
  readonly rpcUrl: string
  readonly privateKey: `0x${string}`
}

/** Runs the command: deploys, unless the plan refuses or the operator does not agree. */
export async function deploy(call: Call): Promise<ExitCode> {
  const { out } = call
  const request = readRequest(call)
  const deployer = addressOfKey(request.privateKey)
  try {
    const plan = await planDeployment(request.rpcUrl, deployer, request)
    out.say(preview(plan, deployer, request))
    if (plan.refusals.length > 0) throw new RefusedError(`\nNot deployed.\n${plan.refusals.join('\n')}`)
    await mustAgree(call, 'Deploy?', 'Not deployed.')
    const deployment = await deployFactory({ ...request, onProgress: (step) => out.say(`  ${step}`) })
    const verify = verifyCommands(plan.chainId, deployment, request)
    const { address: factoryAddress, blockNumber: startBlock, txHash, codeHash } = deployment
    await out.result(
      { chainId: plan.chainId, factoryAddress, startBlock, txHash, codeHash, verify },
      `CHAIN_ID=${plan.chainId}\nFACTORY_ADDRESS=${factoryAddress}\nSTART_BLOCK=${startBlock}\nRPC_URL=${request.rpcUrl}`,
    )
    if (!out.json) out.say(`${AFTER}\n\n${VERIFY}\n\n${verify.etherscan}\n\n${verify.sourcify}`)
    return EXIT.done
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error
    throw new UnavailableError(`Not deployed, or the outcome is unknown: ${error.message}.`)
  }
}

const AFTER = `
Copy these into the environment of the service, and add DATABASE_URL, PAYMENT_ADDRESS, MINTER_PRIVATE_KEY,
DISTRIBUTOR_PRIVATE_KEY and SESSION_SECRET. docs/SETTINGS.md documents every setting.`

const VERIFY =
  'To have the source verified, run one of these. ETHERSCAN_API_KEY is your key there; Sourcify needs none.'
/** The compiler's input in Sourcify's form. A test compiles it to the deployed bytecode. */
const INPUT = fileURLToPath(new URL('../../chain/factory/verification.json', import.meta.url))

/** Commands that submit the source to explorers for verification. They send files of this program. They have not been tried with either explorer. */
function verifyCommands(chainId: number, { address }: DeployedContract, setup: FactorySetup) {
  const { compilerVersion, contractIdentifier } = JSON.parse(readFileSync(INPUT, 'utf8'))
  return {
    etherscan: [
      `node -p 'JSON.stringify(JSON.parse(fs.readFileSync(process.argv[1])).stdJsonInput)' '${INPUT}' | curl \\`,
      `  'https://api.etherscan.io/v2/api?chainid=${chainId}&module=contract&action=verifysourcecode&apikey='"$ETHERSCAN_API_KEY" \\`,
      `  -d codeformat=solidity-standard-json-input --data-urlencode sourceCode@- -d contractaddress=${address} \\`,
      `  -d contractname=${contractIdentifier} --data-urlencode compilerversion=v${compilerVersion} \\`,
      `  -d constructorArguments=${factoryConstructorArguments(setup)}`,
    ].join('\n'),
    sourcify: [
      `curl https://sourcify.dev/server/v2/verify/${chainId}/${address} \\`,
      `  -H 'content-type: application/json' --data-binary '@${INPUT}'`,
    ].join('\n'),
  }
}

function readRequest({ values, io: { env } }: Call): Request {
  const mistakes: string[] = []
  const { RPC_URL } = env
  const rpcUrl = values['rpc-url'] ?? RPC_URL ?? ''
  if (rpcUrl === '' || !rpcUrl.split(',').every((url) => parseUrl(url.trim(), ['http:', 'https:']))) {
    mistakes.push("--rpc-url: give the chain's JSON-RPC, as http://… or https://…")
  }
  const role = (name: 'owner' | 'minter' | 'distributor'): Address => {
    const text = values[name]
    const account = text === undefined ? null : parseAddress(text)
    if (text === undefined) mistakes.push(`--${name}: is missing`)
    else if (account === null)
      mistakes.push(`--${name}: ${text.slice(0, 60)} is not an address, or its checksum is wrong`)
    else if (account === ZERO_ADDRESS) mistakes.push(`--${name}: is the zero address, which has no owner`)
    return account ?? ZERO_ADDRESS
  }
  const roles = { owner: role('owner'), minter: role('minter'), distributor: role('distributor') }
  if (roles.minter === roles.distributor && roles.minter !== ZERO_ADDRESS) {
    mistakes.push('--distributor: is the minter, too. Each role needs its own account: use two accounts')
  }
  const figure = (name: keyof typeof FIGURES): bigint => {
    const { usual, min, max } = FIGURES[name]
    const input = values[name] ?? usual ?? usualFloor(values, env, mistakes)
    // We parse amounts here and not with the other arguments, so that their mistakes are reported together with the others.
    const text = name.endsWith('-gwei') ? (readAmount(input, 'gwei') ?? input) : input
    const value = /^(0|[1-9][0-9]{0,19})$/.test(text) ? BigInt(text) : -1n
    if (value < min || value > max) mistakes.push(`--${name}: must be a whole number from ${min} to ${max}`)
    return value
  }
  const setup = {
    ...roles,
    nodes: Number(figure('nodes')),
    cohorts: Number(figure('cohorts')),
    floorGwei: figure('floor-gwei'),
    ceilingGwei: figure('ceiling-gwei'),
    maxPerWallet: Number(figure('max-per-wallet')),
    leastIntervalSec: Number(figure('least-interval')),
    expulsionPeriodSec: Number(figure('expulsion-period')),
  }
  if (setup.floorGwei > setup.ceilingGwei) mistakes.push('--ceiling-gwei: is less than the floor')
  const privateKey = readDeployerKey(env, mistakes)
  if (mistakes.length > 0) throw new UsageError(mistakes.join('\n'))
  return { rpcUrl, ...setup, privateKey }
}

/** The floor, in gwei, that the smallest amount of a turn requires. Adds a mistake if that amount is unknown. */
function usualFloor(values: Call['values'], { CREDIT_MIN_WEI }: NodeJS.ProcessEnv, mistakes: string[]): string {
  const leastText = values['min-wei'] ?? CREDIT_MIN_WEI
  if (leastText === undefined) {
    mistakes.push('--min-wei: give the least that a node gets for a turn, or give --floor-gwei')
    return '0'
  }
  const rate = values['lowest-bps'] ?? String(BPS_BASE)
  const [least, text] = [readAmount(leastText, 'wei') ?? leastText, /^[1-9][0-9]{0,5}$/.test(rate) ? rate : '']
  if (!/^(0|[1-9][0-9]{0,77})$/.test(least)) mistakes.push('--min-wei: must be an amount of wei')
  else if (text === '') mistakes.push('--lowest-bps: must be a whole number from 1 to 999999')
  else return floorFor(BigInt(least), BigInt(text)).toString()
  return '0'
}

function readDeployerKey(env: NodeJS.ProcessEnv, mistakes: string[]): `0x${string}` {
  const { DEPLOYER_PRIVATE_KEY: inlineKey, DEPLOYER_PRIVATE_KEY_FILE: path } = env
  let text = inlineKey
  if (inlineKey && path)
    mistakes.push('DEPLOYER_PRIVATE_KEY and DEPLOYER_PRIVATE_KEY_FILE are both set: keep one of them')
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
  else if (key === null) mistakes.push('DEPLOYER_PRIVATE_KEY: is not a private key: set it to 0x and 64 hex digits')
  return key ?? '0x'
}

function preview({ chainId, balanceWei, costMaxWei }: DeployPlan, deployer: Address, setup: FactorySetup): string {
  return [
    'Deploying the node factory',
    `  chain            ${chainId}`,
    `  deployer         ${deployer}, has ${formatEther(balanceWei)} ETH`,
    `  costs at most    ${formatEther(costMaxWei)} ETH`,
    `  owner            ${setup.owner}`,
    `  minter           ${setup.minter}, may mint ${setup.nodes} nodes and open ${setup.cohorts} cohorts until the owner refills that`,
    `  distributor      ${setup.distributor}, may credit a node ${setup.floorGwei} to ${setup.ceilingGwei} gwei for a turn`,
    `  nodes per wallet ${setup.maxPerWallet} at most, permanently`,
    `  least interval   ${setup.leastIntervalSec} s between turns, permanently`,
    `  expulsion        of a credited node within ${setup.expulsionPeriodSec} s of its mint, permanently, and two intervals, which the owner may lengthen`,
    ...(setup.floorGwei === 0n ? [NO_FLOOR] : []),
  ].join('\n')
}

const NO_FLOOR =
  '  no floor: a stolen distributor key could use up due turns without paying for them. --min-wei derives a floor.'
