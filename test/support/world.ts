// A complete ledger on real parts for tests of the passes: a database, a chain that mines on demand, the factory, the
// demo token, three tiers, and the passes' context. Time does not pass unless a test moves it.
import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem'
import { seedTiers } from '../../src/boot/seed.ts'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { factoryAbi } from '../../src/chain/factory/abi.ts'
import { demoTokenBytecode } from '../../src/chain/factory/bytecode.ts'
import { createContractReader } from '../../src/chain/factory/contract.ts'
import { factoryDeployData } from '../../src/chain/factory/deploy.ts'
import { createNodeHistory } from '../../src/chain/factory/history.ts'
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.ts'
import { localSigner, type Signer } from '../../src/chain/send/signer.ts'
import { createSignerAccount } from '../../src/chain/send/signer-account.ts'
import { advisoryLock } from '../../src/db/core/locks.ts'
import { connect, inTransaction, type Pool } from '../../src/db/core/sql.ts'
import { insertFirstWallet } from '../../src/db/sale/payment-wallets.ts'
import { insertTerms } from '../../src/db/sale/terms.ts'
import { insertTierVersion, type TierInput } from '../../src/db/sale/tiers.ts'
import { type Address, address, type Hash, wei } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { creditPass } from '../../src/passes/credit.ts'
import { paymentsPass } from '../../src/passes/payments.ts'
import type { ChainFacts } from '../../src/ports/chain.ts'
import { type PassContext, REQUEST_POLL_POLICY, type Rules } from '../../src/ports/contexts.ts'
import type { CreditOutcome, PaymentsOutcome } from '../../src/ports/outcomes.ts'
import { startTestChain, type TestChain, type TestChainOptions } from './anvil.ts'
import { namingPresent, ROOMY_SETUP } from './factory.ts'
import { createDatabase, keptLocks } from './postgres.ts'
import { HANGING_MS } from './until.ts'

export const ETHER = 10n ** 18n
export const INTERVAL_SEC = 600
export const SLOT_SEC = 60

/**
 * Moves to the beginning of the next slot, and settles: for a minute no turn falls due, and no other cohort is chosen.
 * For tests about one cohort, because blocks have the clock's time.
 */
export async function beginSlot(world: World): Promise<void> {
  const time = Number((await world.chain.block()).timestamp)
  await world.chain.setNextTime((Math.floor(time / SLOT_SEC) + 1) * SLOT_SEC + 1)
  await world.chain.mine()
  await world.rest()
}
/** Withdrawals and transfers are up to owners' wallets. The service's own ABI cannot even encode them. */
export const ownerAbi = parseAbi([
  'function withdraw(uint256 id, address to, uint256 amount)',
  'function withdrawAll(uint256[] ids, address to)',
  'function transferFrom(address from, address to, uint256 id)',
  'function pause()',
  'function unpause()',
  'function setSwapsAllowance(address distributor, uint256 allowance, uint256 former)',
  'function setInterval(uint256 cohort, uint256 interval)',
  'function expel(bytes32[] refs)',
  'function capTier(uint256 tier, uint256 most)',
  'function sweep(address to, uint256 amount)',
  'function setMinter(address newMinter, address former, uint256 nodes, uint256 cohorts)',
  'function refillMinter(address minter, uint256 nodes, uint256 nodesMost, uint256 cohorts, uint256 cohortsMost)',
  'function setDistributor(address newDistributor, address former, uint256 floorGwei, uint256 ceilingGwei)',
  'function setBounds(address distributor, uint256 floorGwei, uint256 ceilingGwei)',
  'function addNotOwed(uint256 window, uint256 from, uint256 until)',
])
const tokenAbi = parseAbi(['function transfer(address to, uint256 amount) returns (bool)'])

export type OwnerAct = (typeof ownerAbi)[number]['name']

/** The parts that an instance has for itself; it shares the rest with the world. */
export type InstanceParts = Partial<Omit<PassContext, 'rules'>> & {
  rules?: Partial<Rules>
  /** The database whose locks its runs take. */
  directUrl?: string
  /** What it has found out about the chain. */
  facts?: ChainFacts
}

export interface Instance {
  ctx: PassContext
  payments(): Promise<PaymentsOutcome>
  credit(): Promise<CreditOutcome>
}

export interface World {
  chain: TestChain
  rpc: Rpc
  pool: Pool
  /** The database's URL. */
  directUrl: string
  ctx: PassContext
  factory: Address
  token: Address
  /** Embedded accounts by role: 0 owner, 1 minter, 2 distributor, 3 payments wallet, 4 token holder, 5.. buyers. */
  at(account: number): Address
  payments(): Promise<PaymentsOutcome>
  credit(): Promise<CreditOutcome>
  /** Sends ether to the payments wallet; mined with the next block. */
  pay(from: number, valueWei: bigint, to?: Address): Promise<Hash>
  /** Calls a contract from an account, and mines the call. */
  call(from: number, to: Address, data: `0x${string}`, valueWei?: bigint): Promise<Hash>
  /** A mined call by a node's owner or the contract's owner, which may revert. The old key or value may be left out. */
  act(from: number, name: OwnerAct, args?: readonly unknown[]): Promise<Hash>
  /** Gives an account demo tokens, in a mined transaction. */
  giveTokens(to: Address, amount: bigint): Promise<void>
  /** The signed bytes of a transaction, to put it into another block. */
  raw(txHash: Hash): Promise<`0x${string}`>
  /** True if a mined transaction succeeded; null while no block has it. */
  succeeded(txHash: Hash): Promise<boolean | null>
  /** Another instance of the service on the same database and chain, with some of its parts replaced. */
  instance(parts?: InstanceParts): Instance
  /** Reads the factory. */
  read<T>(functionName: string, args?: readonly unknown[]): Promise<T>
  /** Alternates blocks and payments passes until no payment and no mint is pending. */
  settle(): Promise<void>
  /** Alternates blocks and both passes until nothing is pending and every due turn is paid. */
  rest(): Promise<void>
  close(): Promise<void>
}

/** A part between the service's JSON-RPC and the chain. Closed with the world. */
export interface Between {
  /** URLs that the service gets instead of the chain's, in order of preference. */
  urls: readonly string[]
  close(): Promise<void>
}

export interface WorldOptions extends TestChainOptions {
  maxPerWallet?: bigint
  /** Puts something between the service and the chain. The test's own calls on `chain` do not go through it. */
  between?: (chainUrl: string, databaseUrl: string) => Promise<Between>
  /** The service's timeout for a reply. */
  rpcTimeoutMs?: number
  /** What the service has found out about the chain. */
  facts?: ChainFacts
  /** Interval between two turns of a node, and between those of a tier's cohorts. */
  turns?: { intervalSec: number; slotSec: number }
}

/** Starts a world, which takes about a third of a second. */
export async function startWorld(
  rules: Partial<Rules> = {},
  { maxPerWallet = 20n, between, rpcTimeoutMs, facts, turns, ...chainOptions }: WorldOptions = {},
): Promise<World> {
  const [database, chain] = await Promise.all([createDatabase(), startTestChain(chainOptions)])
  const path = await between?.(chain.rpcUrl, database.url)
  const urls = path?.urls ?? [chain.rpcUrl]
  const rpc = createRpc({ urls, log: silentLog, ...(rpcTimeoutMs === undefined ? {} : { timeoutMs: rpcTimeoutMs }) })
  const pool = connect(database.url, { max: 5, prepare: true, applicationName: 'test' })

  const contracts = await deployContracts(chain, maxPerWallet)
  const directUrl = database.url
  const locks = keptLocks(directUrl)
  const ctx = { ...contextOf({ chain, rpc, pool, directUrl, ...contracts }, rules, facts), lock: locks.take }
  await enterTerms(pool, chain, contracts.token, turns)
  return worldOn({
    ...{ chain, rpc, pool, directUrl, ctx, ...contracts },
    async close() {
      await locks.close()
      await pool.end({ timeout: 1 })
      await rpc.close()
      await path?.close()
      await chain.stop()
      await database.drop()
    },
  })
}

/** Deploys the factory and the demo token. Account 0 is the factory's owner, 1 its minter, 2 its distributor. */
export async function deployContracts(
  chain: TestChain,
  maxPerWallet: bigint,
): Promise<{ factory: Address; token: Address }> {
  const at = accountOf(chain)
  const data = factoryDeployData({
    ...{ owner: at(0), minter: at(1), distributor: at(2), maxPerWallet: Number(maxPerWallet) },
    ...ROOMY_SETUP,
  })
  return { factory: await deploy(chain, at(0), data), token: await deploy(chain, at(4), demoTokenBytecode) }
}

/** Enters three tiers, the credit terms and the payments wallet, from the chain's head on. */
export async function enterTerms(
  pool: Pool,
  chain: TestChain,
  token: Address,
  { intervalSec = INTERVAL_SEC, slotSec = SLOT_SEC } = {},
): Promise<void> {
  const head = await chain.block()
  const fromTime = Number(head.timestamp)
  await seedTiers(
    pool,
    token,
    { block: Number(head.number), time: fromTime },
    { priceGraceSec: 900, holdingRetrySec: 3600 },
  )
  const range = { minWei: wei(ETHER / 2000n), maxWei: wei((ETHER * 3n) / 2000n) }
  await insertTerms(pool, { fromTime: 0, payouts: true, ...range, intervalSec, slotSec }, 'start')
  await inTransaction(pool, (sql) => insertFirstWallet(sql, accountOf(chain)(3), 0, 'start'))
}

/** The passes' context: the keys of accounts 1 and 2, and the usual rules with some of them replaced. */
export function contextOf(
  parts: { chain: TestChain; rpc: Rpc; pool: Pool; directUrl: string; factory: Address },
  rules: Partial<Rules> = {},
  facts: ChainFacts = { guardUsable: true },
): PassContext {
  const { chain, rpc, pool, directUrl, factory } = parts
  const at = accountOf(chain)
  const signerOf = (index: number) => signerWith((chain.accounts[index] ?? fail('no such account')).privateKey)
  return {
    pool,
    lock: advisoryLock(directUrl),
    preflight: async () => facts,
    pollPolicy: { ...REQUEST_POLL_POLICY, readMs: HANGING_MS, waitMs: HANGING_MS, looksMax: 8 },
    chain: createChainReader(rpc, {
      factory,
      wallets: [{ wallet: at(3), watchedFrom: 0, closedBlock: null }],
      signers: [at(1), at(2)],
    }),
    contract: createContractReader(rpc, factory),
    history: createNodeHistory(rpc, factory),
    minter: createSignerAccount({ rpc, signer: signerOf(1), chainId: chain.chainId, factory }),
    distributor: createSignerAccount({ rpc, signer: signerOf(2), chainId: chain.chainId, factory }),
    rules: {
      startBlock: 1,
      ...{ finality: 'guarded', trustsProvider: true },
      priceGraceSec: 900,
      holdingRetrySec: 3600,
      distMode: 'treasury',
      feeCapWei: 500n * 10n ** 9n,
      tipMaxWei: 100n * 10n ** 9n,
      validForSec: 900,
      rewindsToShorterChain: false,
      reconcileEverySec: 0,
      fundsWarnTransactions: 0,
      ...rules,
    },
    log: silentLog,
  }
}

/** Cached, because the accounts repeat, and deriving an address takes a millisecond. */
const signers = new Map<string, Signer>()

function signerWith(privateKey: `0x${string}`): Signer {
  const signer = signers.get(privateKey) ?? localSigner(privateKey)
  signers.set(privateKey, signer)
  return signer
}

function accountOf(chain: TestChain): (index: number) => Address {
  const accounts = chain.accounts.map((account) => address(account.address))
  return (index) => accounts[index] ?? fail(`there is no account ${index}`)
}

/** The reasons with which a credit pass ends if it has nothing left to do. */
const AT_REST: readonly CreditOutcome['reason'][] = ['nothingDue', 'unpaidNodes', 'disabled']

async function ownersData({ read }: World, functionName: OwnerAct, given: readonly unknown[]): Promise<`0x${string}`> {
  const args = await namingPresent(read, functionName, given)
  return encodeFunctionData({ abi: ownerAbi, functionName, args } as never)
}

/** A world made of existing parts. */
export function worldOn(
  parts: Pick<World, 'chain' | 'rpc' | 'pool' | 'directUrl' | 'ctx' | 'factory' | 'token' | 'close'>,
): World {
  const { chain, rpc, pool, directUrl, ctx, factory, token, close } = parts
  const at = accountOf(chain)
  const paymentAddress = at(3)
  const payments = paymentsPass(ctx)
  const credit = creditPass(ctx)

  const world: World = {
    chain,
    rpc,
    pool,
    directUrl,
    ctx,
    factory,
    token,
    at,
    payments,
    credit,
    pay: (from, valueWei, to = paymentAddress) =>
      chain.send({ from: at(from), to, value: `0x${valueWei.toString(16)}` }),
    async call(from, to, data, valueWei = 0n) {
      const hash = await chain.send({ from: at(from), to, data, gas: '0x200000', value: `0x${valueWei.toString(16)}` })
      await chain.mine()
      return hash
    },
    act: async (from, functionName, args = []) =>
      world.call(from, factory, await ownersData(world, functionName, args)),
    async giveTokens(to, amount) {
      const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [to, amount] })
      await world.call(4, token, data)
    },
    raw: (txHash) => chain.rpc('eth_getRawTransactionByHash', [txHash]),
    async succeeded(txHash) {
      const receipt = await chain.rpc<{ status: string } | null>('eth_getTransactionReceipt', [txHash])
      return receipt && receipt.status === '0x1'
    },
    instance({ rules, directUrl: locksAt, facts, ...parts } = {}) {
      const own: PassContext = {
        ...ctx,
        ...(locksAt !== undefined && { lock: advisoryLock(locksAt) }),
        ...(facts && { preflight: async () => facts }),
        ...parts,
        rules: { ...ctx.rules, ...rules },
      }
      return { ctx: own, payments: paymentsPass(own), credit: creditPass(own) }
    },
    async read<T>(functionName: string, args: readonly unknown[] = []) {
      const abi = factoryAbi.filter((item) => item.type === 'function' && item.name === functionName)
      const data = encodeFunctionData({ abi, functionName, args } as never)
      const answer = await chain.rpc<`0x${string}`>('eth_call', [{ to: factory, data }, 'latest'])
      return decodeFunctionResult({ abi, functionName, data: answer } as never) as T
    },
    async settle() {
      for (let i = 0; i < 12; i++) {
        await chain.mine()
        const outcome = await payments()
        const pending = await pool`SELECT FROM outbox WHERE state = 'pending' AND sender = ${at(1)}`
        if (outcome.pending === 0 && pending.count === 0) return
      }
      throw new Error('payments were still on their way after 12 passes')
    },
    async rest() {
      for (let i = 0; i < 20; i++) {
        await chain.mine()
        const outcome = await payments()
        const { reason } = await credit()
        const pending = await pool`SELECT FROM outbox WHERE state = 'pending'`
        if (outcome.pending === 0 && pending.count === 0 && AT_REST.includes(reason)) return
      }
      throw new Error('something was still on its way after 20 ticks')
    },
    close,
  }
  return world
}

async function deploy(chain: TestChain, from: Address, data: `0x${string}`): Promise<Address> {
  const hash = await chain.send({ from, data, gas: '0x800000' })
  await chain.mine()
  const receipt = await chain.rpc<{ contractAddress: string; status: string }>('eth_getTransactionReceipt', [hash])
  if (receipt.status !== '0x1') fail('a deployment failed')
  return address(receipt.contractAddress)
}

/** Enters a tier, or its next version, from the next block on. Missing fields are those of a tier open to anyone. */
export async function enterTier(world: World, fields: Pick<TierInput, 'tierId' | 'tierNo'> & Partial<TierInput>) {
  const head = await world.chain.block()
  const tier: TierInput = {
    label: fields.tierId,
    priceWei: wei(ETHER),
    maxPerWallet: 10,
    ...{ holdingWei: wei(0n), holdingToken: null, holdingSymbol: null, holdingDecimals: null },
    payoutBps: 10_000,
    ...{ onSale: true, supply: null, opensAt: null, closesAt: null, opensAfter: null, allowlist: null },
    graceSec: 900,
    holdingRetrySec: 3600,
    fromBlock: Number(head.number) + 1,
    fromTime: Number(head.timestamp) + 1,
    ...fields,
  }
  await inTransaction(world.pool, (sql) => insertTierVersion(sql, tier, 'test'))
  await world.chain.increaseTime(1) // It holds from the next second on.
}

function fail(message: string): never {
  throw new Error(message)
}

/** The payment row of a transaction. */
export async function paymentOf(world: World, txHash: Hash) {
  const [row] = await world.pool<
    { state: string; reason: string | null; nodeId: number | null; tierId: string | null }[]
  >`
    SELECT state, reason, node_id AS "nodeId", tier_id AS "tierId" FROM payments WHERE tx_hash = ${txHash}`
  return row
}

/** A payment's state, with its reason: "minted", "held wrongAmount"; "unseen" if the ledger does not have it. */
export async function standingOf(world: World, txHash: Hash): Promise<string> {
  const { state, reason } = (await paymentOf(world, txHash)) ?? { state: 'unseen', reason: null }
  return reason === null ? state : `${state} ${reason}`
}

/** A pass that follows and judges, but mints nothing. */
export const judgeOnly = (world: World) => world.instance({ minter: null }).payments()

/** A payment that is accepted, and whose mint has not begun. */
export async function acceptedPayment(world: World, from: number, valueWei: bigint): Promise<Hash> {
  const paid = await world.pay(from, valueWei)
  await world.chain.mine()
  await judgeOnly(world)
  const standing = await standingOf(world, paid)
  return standing === 'accepted' ? paid : fail(`a payment was ${standing}, not accepted`)
}

/** The alarms about a ref, a transaction or a cohort, oldest first; with the person's name if their act raised one. */
export async function alarmsOf(world: World, subject: string): Promise<string[]> {
  const rows = await world.pool<{ action: string }[]>`
    SELECT CASE actor WHEN 'pass' THEN action ELSE action || ' by ' || actor END AS action FROM audit
    WHERE subject = ${subject} AND (actor = 'pass' OR action IN ('refundTooEarly', 'refundOfMinted', 'refundOfOrphaned'))
    ORDER BY id`
  return rows.map(({ action }) => action)
}
