// The factory of a new ledger, for `node-ledger init`: checks whether its accounts have ether, and deploys once. It records a deployment before
// sending it. So after an interruption the next run finds the contract and does not pay for a second one.
import { getContractAddress } from 'viem/utils'
import { migrateWhenUp } from '../../boot/preflight.ts'
import { checksum } from '../../chain/digest.ts'
import { LEAST_INTERVAL_SEC } from '../../chain/factory/deploy.ts'
import { createRpc, type Rpc, splitRpcUrls } from '../../chain/rpc/rpc.ts'
import { bytes, count, quantity } from '../../chain/rpc/wire.ts'
import { currentFees } from '../../chain/send/signer-account.ts'
import { type Address, address } from '../../domain/units.ts'
import { silentLog } from '../../lib/log.ts'
import type { Call } from '../command.ts'
import { RefusedError } from '../errors.ts'
import { inEther } from '../ether.ts'
import { refuseWallet } from './checks.ts'
import { type Deployment, type Folder, type Progress, ROLES, type Role } from './folder.ts'
import type { Answers } from './questions.ts'
import { jsonOf } from './steps.ts'

/** Bounds of the factory that the call may set, named as in `deploy`. */
const BOUNDS = [
  ...(['nodes', 'cohorts', 'min-wei', 'floor-gwei', 'ceiling-gwei'] as const),
  ...(['max-per-wallet', 'least-interval', 'expulsion-period'] as const),
]
const GWEI = 10n ** 9n
/** How long we wait for the database: not long, so that we soon report if it does not answer. */
const DATABASE_WAIT_MS = 2_000
/** The ceiling of a turn's credit, as a multiple of the highest draw, because a tier's rate multiplies the draw. */
const CEILING_FACTOR = 10n

export interface OnChain {
  readonly call: Call
  readonly folder: Folder
  readonly answers: Answers
  readonly rpcUrl: string
  readonly databaseUrl: string
  readonly roles: Readonly<Record<Role, Address>>
}

/** Ensures that there is a factory. If ether is missing or a deployment is pending, throws a RefusedError that says what to do. */
export async function putOnChain(setup: OnChain): Promise<void> {
  const { folder, call, rpcUrl } = setup
  const progress = folder.progress()
  if (progress.factory !== undefined) return
  const rpc = createRpc({ urls: splitRpcUrls(rpcUrl), log: silentLog })
  try {
    const chainId = count(await rpc.request('eth_chainId', []), 'chain id')
    const factory = progress.deployment ? await findFactory(rpc, setup.roles.deployer, progress.deployment) : null
    if (factory) {
      call.out.say(`The factory of an earlier run is at ${factory.address}.`)
      folder.keep({ ...progress, chainId, factory })
      return
    }
    const { FORMER_FACTORIES: former } = call.io.env
    const refusal = await refuseWallet(rpc, setup.answers.payments as Address, { chainId, roles: setup.roles, former })
    if (refusal) throw new RefusedError(refusal)
    await migrateWhenUp(setup.databaseUrl, (line) => call.out.say(`  ${line}`), { waitMs: DATABASE_WAIT_MS })
    await seeEther(rpc, setup)
    await deploy(setup, rpc, { ...progress, chainId })
  } finally {
    await rpc.close()
  }
}

/** The contract of a deployment that an earlier run began; null if that deployment failed. */
async function findFactory(rpc: Rpc, deployer: Address, { expected: factory, nonce, fromBlock }: Deployment) {
  if (bytes(await rpc.request('eth_getCode', [factory, 'latest']), 'code') !== '0x')
    return { address: factory, startBlock: fromBlock }
  if ((await nonceOf(rpc, deployer, 'pending')) > nonce)
    throw new RefusedError('A deployment is pending. Wait for its block, then run the same command again.')
  return null
}

/** Gas of a first deployment, of a mint, and of a round of few cohorts; each with a margin. */
const GAS = { deployment: 6_000_000n, mint: 400_000n, round: 400_000n } as const
/** The required amounts pay for this many mints, and this many rounds of one node. */
const FIRST = { mints: 20n, rounds: 7n } as const

async function seeEther(rpc: Rpc, { roles, answers, call }: OnChain): Promise<void> {
  const { maxFeeWei } = await currentFees(rpc)
  const price = call.flags.has('test-sale') ? BigInt(answers['price-wei']) : 0n
  const needs: Readonly<Record<Role, readonly [wei: bigint, what: string]>> = {
    minter: [FIRST.mints * GAS.mint * maxFeeWei, `gas of ${FIRST.mints} mints`],
    distributor: [
      FIRST.rounds * (GAS.round * maxFeeWei + BigInt(answers['max-wei'])),
      `gas of ${FIRST.rounds} rounds, and what they pay to one node`,
    ],
    deployer: [
      GAS.deployment * maxFeeWei + price,
      `the deployment, once${price > 0n ? ', and the price of the trial purchase' : ''}`,
    ],
  }
  const missing: string[] = []
  for (const role of ROLES) {
    const has = quantity(await rpc.request('eth_getBalance', [roles[role], 'latest']), 'balance')
    const [neededWei, what] = needs[role]
    if (has < neededWei)
      missing.push(`  ${role.padEnd(11)}  ${checksum(roles[role])}  ${inEther(neededWei - has)} ETH: ${what}`)
  }
  if (missing.length > 0)
    throw new RefusedError(`Send ether to these accounts, then run the same command again:\n${missing.join('\n')}`)
}

async function deploy({ call, folder, answers, roles, rpcUrl }: OnChain, rpc: Rpc, progress: Progress): Promise<void> {
  const nonce = await nonceOf(rpc, roles.deployer, 'latest')
  const factory = address(getContractAddress({ from: roles.deployer, nonce: BigInt(nonce) }))
  const fromBlock = count(await rpc.request('eth_blockNumber', []), 'block number')
  const deployment = { expected: factory, nonce, fromBlock }
  folder.keep({ ...progress, deployment })
  const { factoryAddress, startBlock } = await jsonOf<{ factoryAddress: Address; startBlock: number }>(
    call,
    ['deploy', ...deployOptions(call, answers, roles)],
    { RPC_URL: rpcUrl, DEPLOYER_PRIVATE_KEY_FILE: folder.at('secrets', 'deployer_key') },
  )
  folder.keep({ ...progress, deployment, factory: { address: factoryAddress, startBlock } })
}

function deployOptions({ values, flags }: Call, answers: Answers, roles: Readonly<Record<Role, Address>>): string[] {
  const ceiling = (CEILING_FACTOR * BigInt(answers['max-wei']) + GWEI - 1n) / GWEI
  const usual: Readonly<Record<string, string>> = {
    'min-wei': answers['min-wei'],
    'ceiling-gwei': ceiling.toString(),
    ...(Number(answers.interval) < LEAST_INTERVAL_SEC ? { 'least-interval': answers.interval } : {}),
  }
  return [
    ...['--owner', answers.owner, '--minter', roles.minter, '--distributor', roles.distributor],
    ...BOUNDS.flatMap((name) => {
      const value = values[name] ?? usual[name]
      return value === undefined ? [] : [`--${name}`, value]
    }),
    ...(flags.has('yes') ? ['--yes'] : []),
  ]
}

async function nonceOf(rpc: Rpc, account: Address, tag: 'latest' | 'pending'): Promise<number> {
  return count(await rpc.request('eth_getTransactionCount', [account, tag]), 'nonce')
}
