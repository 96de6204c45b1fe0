// The checks of the chain: each provider separately, the factory and its roles, how far back providers can answer, and that the payments wallet is
// not one of the signer accounts.
import { type ChainPart, readerOf, signersOf } from '../boot/parts.ts'
import { checkDeployment, type DeploymentCheck } from '../chain/factory/check-deployment.ts'
import { createContractReader } from '../chain/factory/contract.ts'
import { type Beginning, lookAtBeginning } from '../chain/factory/start-block.ts'
import { type Head, type ProviderProbe, probeProvider } from '../chain/rpc/probe.ts'
import type { Rpc } from '../chain/rpc/rpc.ts'
import { type Config, modeOn } from '../config/load.ts'
import { readCursor } from '../db/blocks/blocks.ts'
import { readMode } from '../db/blocks/evidence.ts'
import type { Pool } from '../db/core/sql.ts'
import { readWalletInForce } from '../db/sale/payment-wallets.ts'
import { foundInWords, VOICES } from '../domain/finality.ts'
import type { EvidenceMode, FoundMode } from '../domain/observed.ts'
import { hotKeysOf, refuseWallet } from '../domain/payment-wallets.ts'
import type { Address } from '../domain/units.ts'
import { finalityInWords, isContradiction, isSettled, lookAtFinality } from '../follower/followed-finality.ts'
import {
  type Answer,
  type Checks,
  check,
  checkEach,
  type Finding,
  findingOf,
  reasonOf,
  runChecks,
  type Said,
} from './check.ts'
import { ASKED_CHECKS } from './providers.ts'

/** How many blocks apart providers' heads may be. They see a new block within seconds of each other. */
const HEADS_APART_WARN = 10
/** For how many blocks a node must keep states. If it keeps fewer, we cannot catch up after even the shortest outage; geth keeps 128 by default. */
const STATES_MIN = 64
/** The age of a final block from which a provider may be stuck. Rollups take up to an hour or two. */
const FINAL_BEHIND_SEC = 6 * 3_600
/** Clock skew to expect in block times. */
const AHEAD_WARN_SEC = 60

interface ChainExamined {
  readonly chain: ChainPart
  readonly rpc: Rpc
  /** The ledger's database; null if there is no ledger. */
  readonly pool: Pool | null
  readonly config: Pick<Config, 'production' | 'TRUST_PROVIDER'>
  /** From this age on, a head counts as stale. */
  readonly staleSec: number
}

interface Probed extends ChainExamined {
  readonly probes: readonly { readonly host: string; readonly probe: ProviderProbe | Error }[]
  readonly answers: readonly ProviderProbe[]
}

const ofProbes = ({ probes }: Probed) => probes
const readAheadSec = ({ answers }: Probed) => Math.max(...answers.map(({ head }) => -ageOf(head)))
const ofDeployment = ({ deployment }: Probed & { deployment: DeploymentCheck }) => deployment
type OnChain = Pick<ChainExamined, 'chain' | 'rpc'>
const findBeginning = ({ chain: { factory, startBlock }, rpc }: OnChain) => lookAtBeginning(rpc, factory, startBlock)

export const PROVIDER_CHECKS: Checks<Probed> = {
  'chain.provider': checkEach('NodeLedgerChainUnreadable', ofProbes, null, judgeProvider),

  'chain.traces': checkEach(null, ofProbes, null, ({ host, probe }) => {
    if (probe instanceof Error) return null
    if (probe.traces) return `${host} traces blocks`
    return {
      says: `${host} traces no blocks: it lacks debug_traceBlockByHash`,
      warn: 'Without traces the service holds payments of contract wallets (a Safe, a 4337 account) without their payer. Use providers that trace, two if you have several.',
    }
  }),

  'clock.chain': check(null, readAheadSec, (aheadSec) => {
    if (aheadSec <= AHEAD_WARN_SEC) return null
    const todo =
      'Synchronise the clock of this machine (NTP). On a test chain whose time was moved forward, nothing is wrong.'
    return { says: `the chain's time is ${aheadSec} s ahead of this machine's`, warn: todo }
  }),
}

export const FACTORY_CHECKS = {
  'chain.factory': check(null, ofDeployment, judgeDeployment),

  'chain.guard': check(null, ofDeployment, ({ problems, guardUsable }) => {
    if (problems.length > 0) return null
    if (guardUsable) return 'the factory sees the same block hashes as the provider'
    const todo = 'Nothing is wrong on chains whose contracts see other block hashes: mints then wait for final blocks.'
    return { says: 'the factory sees other hashes of recent blocks: no fork guard', warn: todo }
  }),

  /** Whether the providers have the ledger's block where it would be final. If not, refunds and commissions wait. */
  'chain.final': check(null, readFinal, judgeFinality),

  /** What blocks are worth: whether they prove what a provider reports, or two providers must agree. */
  'chain.evidence': check(
    'NodeLedgerRefusedAnswers',
    findEvidence,
    ({ inForce, found: finding, voices }, { chain, config }) => {
      if (!finding) return { unknown: 'the providers report different recent blocks, or do not answer' }
      const ledger = { mode: inForce?.mode ?? null, chainId: chain.chainId, isDemo: chain.demoToken !== null }
      return judgeEvidence(finding, ledger, { voices, trusts: config.TRUST_PROVIDER, production: config.production })
    },
  ),

  /** Whether the ledger starts early enough. Anything that the factory did before START_BLOCK is missing for good, so the passes stop. */
  'chain.start': check(null, findBeginning, (beginning, { chain }) => judgeBeginning(beginning, chain.startBlock)),

  /** Whether buyers may pay to the payments wallet. It must not be a signer account. If it has code, traces must show what that code sends. */
  'wallet.key': check(null, lookAtWallets, ({ sold, wallets }) => {
    const [bad] = wallets.filter(({ objection }) => objection !== null)
    if (!bad?.objection) return wallets.length > 0 ? 'the payments wallet is not a signer account' : null
    const another = 'Change it with "node-ledger wallets set" to a wallet without code whose key no server holds.'
    return { says: bad.objection.problem, fail: bad.wallet === sold ? another : bad.objection.remedy }
  }),
}

async function readFinal({ chain, rpc, pool }: Probed) {
  const cursor = pool && (await readCursor(pool))
  if (!pool || !cursor) return null
  const rules = { rewindsToShorterChain: chain.demoToken !== null }
  const final = await lookAtFinality({ pool, chain: readerOf(chain, rpc, signersOf(chain)), rules }, cursor)
  return final && { final, followedTime: cursor.time }
}

async function findEvidence({ chain, rpc, pool }: Probed) {
  const { providers, proofs } = readerOf(chain, rpc, signersOf(chain))
  return { inForce: pool && (await readMode(pool)), found: await proofs.findMode(), voices: providers.length }
}

/** The wallet in force and the one of the settings, with what speaks against each. */
async function lookAtWallets({ chain, rpc, pool }: OnChain & Pick<ChainExamined, 'pool'>) {
  const sold = pool && (await readWalletInForce(pool))
  const wallets = [...new Set([sold, chain.paymentAddress].filter((wallet) => wallet !== null))]
  const lookups = wallets.map(async (wallet) => ({ wallet, objection: await lookAtWallet(chain, rpc, wallet) }))
  return { sold, wallets: await Promise.all(lookups) }
}

const FINE = {
  genesis: () => 'followed from block 0 on',
  notDeployed: (startBlock: number) => `the factory did not exist before START_BLOCK=${startBlock}`,
  noEvents: (startBlock: number) => `the factory emitted no events before START_BLOCK=${startBlock}`,
}

/** Makes the checks of the chain. If no provider answers, only the providers are checked. */
export async function lookAtChain(context: ChainExamined): Promise<Finding[]> {
  const { chain, rpc } = context
  const { factory, factoryCodeHash: trustedCodeHash, paymentAddress, startBlock, rpcUrls } = chain
  const probes = await Promise.all(
    rpcUrls.map(async (url, index) => ({
      host: rpc.hosts[index] ?? '',
      probe: await probeProvider(url, factory, startBlock).catch((error: unknown) => error as Error),
    })),
  )
  const answers = probes.flatMap(({ probe }) => (probe instanceof Error ? [] : [probe]))
  const probedContext = { ...context, probes, answers }
  const findings = await runChecks(PROVIDER_CHECKS, probedContext)
  const [first] = answers
  if (!first) return [...findings, findingOf('chain.factory', { unknown: 'no provider answers' })]
  const chainId = chain.chainId ?? first.chainId
  const deploymentFacts = { rpc, chainId, factory, trustedCodeHash, paymentAddress, startBlock, ...signersOf(chain) }
  findings.push(...(await runChecks(ASKED_CHECKS, { factory, rpc, headNumber: first.head.number })))
  return [
    ...findings,
    ...(await runChecks(FACTORY_CHECKS, { ...probedContext, deployment: await checkDeployment(deploymentFacts) })),
  ]
}

/** Why an address must not be the payments wallet, by the configuration and the chain; null if it may be. */
export async function lookAtWallet(
  part: ChainPart,
  rpc: Rpc,
  wallet: Address,
): Promise<ReturnType<typeof refuseWallet>> {
  const facts = await createContractReader(rpc, part.factory).walletFacts(wallet)
  return refuseWallet(wallet, { ...facts, factory: part.factory, hotKeys: hotKeysOf(facts, signersOf(part)) })
}

/** Judges the settings against the contract: what is wrong ends a start. */
export function judgeDeployment(
  deployment: DeploymentCheck,
  { chain: { factory } }: { chain: Pick<ChainPart, 'factory'> },
): Answer[] {
  const { problems, knownCode, codeHash, maxPerWallet } = deployment
  if (problems.length > 0)
    return problems.map(({ setting, problem, remedy, transient }) =>
      transient
        ? { unknown: `${setting}: ${problem}`, todo: remedy }
        : { says: `${setting}: ${problem}`, fail: remedy },
    )
  if (knownCode) return [`${factory} is the factory of this version, at most ${maxPerWallet} nodes a wallet`]
  const says = `${factory} answers as a factory, but its code is not this version's: its hash is ${codeHash}, which FACTORY_CODE_HASH trusts`
  return [{ says, warn: 'Make sure that you trust this code.' }]
}

/** Judges whether the ledger starts early enough. `START_BLOCK` that is too late ends a start. */
export function judgeBeginning(beginning: Beginning, startBlock: number): Said {
  const keeps = 'A ledger keeps the block it began with, so point DATABASE_URL at an empty database, too.'
  if (beginning.kind === 'fine') return { says: FINE[beginning.why](startBlock) }
  if (beginning.kind === 'unknown')
    return {
      says: 'no provider can tell whether the factory is older than START_BLOCK',
      warn: `Check that START_BLOCK is the one that "node-ledger deploy" printed. ${keeps}`,
    }
  const { first } = beginning
  const block = first === null ? 'the block of its deployment, which an explorer shows' : String(first)
  return {
    says: `START_BLOCK: the factory is older than START_BLOCK=${startBlock}, so the ledger lacks its earlier events and nothing is minted or credited`,
    fail: `Set START_BLOCK to ${block}. ${keeps}`,
  }
}

function judgeFinality(reading: Awaited<ReturnType<typeof readFinal>>): Answer {
  if (!reading) return null
  const { final, followedTime } = reading
  const words = finalityInWords(final)
  if (isContradiction(final)) return { says: `nothing is final: ${words?.says}`, fail: words?.todo ?? '' }
  const says = final.firm < 0 ? 'no block is final yet' : `block ${final.firm} is final`
  const behindSec = followedTime - final.time
  if (final.firm >= 0 && behindSec > FINAL_BEHIND_SEC)
    return {
      says: `${says}, which is ${Math.floor(behindSec / 3_600)} hours old: a provider of RPC_URL reports no newer final block`,
      warn: 'Refunds and commissions wait for final blocks. Look at each provider’s "finalized" block, and replace the one that is stuck.',
    }
  if (!words || isSettled(final)) return { says }
  return { says: `${says}, but refunds and commissions wait: ${words.says}`, warn: words.todo }
}

export const BELIEVED_TODO = 'Add a provider of another company, or set TRUST_PROVIDER=true if the node is your own.'

/**
 * Judges what the chain's blocks are worth to a ledger. `mode`: the ledger's, null if it is new. `voices`: how many providers there are. `trusts`: the
 * operator trusts the only one. What fails ends the first start of a ledger.
 */
export function judgeEvidence(
  finding: FoundMode,
  { mode, chainId, isDemo }: { mode: EvidenceMode | null; chainId: number | null; isDemo: boolean },
  { voices, trusts, production }: { voices: number; trusts: boolean; production: boolean },
): Said {
  if (finding.mode === 'proven' && finding.added.length > 0)
    return {
      says: `blocks have fields that this version does not know (${finding.added.join(', ')}): their contents are still proven, and the service reads the receipts of every block`,
      warn: 'Update the service. Until then nothing is lost.',
    }
  if (mode === 'proven' && finding.mode === 'agreed')
    return {
      says: `${foundInWords(finding)}, so the service follows nothing: the chain may have had a hard fork`,
      fail: 'Update the service. If that does not help, "node-ledger evidence set agreed" makes it accept what two providers agree on.',
    }
  if ((mode ?? finding.mode) === 'proven') return { says: 'blocks prove what providers report' }
  const says = 'blocks are not proven: two providers must agree'
  if (isDemo) return { says }
  if (finding.mode === 'proven')
    return { says, warn: '"node-ledger evidence set proven" makes the service prove them again.' }
  if (mode === null && chainId !== null && modeOn(chainId) === 'proven')
    return {
      says: `RPC_URL: ${foundInWords(finding)}`,
      fail: 'Blocks of this chain prove themselves to this version of the service. Use other providers, or update the service after a fork.',
    }
  if (voices >= VOICES) return { says }
  const oneProvider = `RPC_URL: it lists one provider, and ${foundInWords(finding)}: the service would have to trust it about payments and seeds`
  if (trusts) return { says: `${oneProvider}, as TRUST_PROVIDER allows` }
  return { says: oneProvider, [production ? 'fail' : 'warn']: BELIEVED_TODO }
}

function judgeProvider(
  { host, probe }: Probed['probes'][number],
  { answers, staleSec, chain: { chainId: expectedId } }: Probed,
): Said {
  if (probe instanceof Error) {
    const todo = 'Check that this URL of RPC_URL is right and its provider is up.'
    return { says: `${host}: ${reasonOf(probe)}`, fail: todo }
  }
  const { chainId, head, finalized, statesBack, logs } = probe
  const ageSec = ageOf(head)
  const past = statesBack === null ? 'all states since START_BLOCK' : `states ${statesBack} blocks back`
  const says = `${host}: chain ${chainId}, block ${head.number}, ${ageSec} s old, ${finalized === null ? 'knows no finalized block' : `final up to ${finalized}`}, ${past}`
  if (expectedId !== null && chainId !== expectedId)
    return { says, fail: `RPC_URL does not lead to chain CHAIN_ID=${expectedId}: correct one of them.` }
  if (!logs)
    return {
      says: `${host} returns no logs of a block (eth_getLogs)`,
      fail: 'Use another provider, or another of its plans: without logs the service cannot follow blocks.',
    }
  if (ageSec > staleSec)
    return { says, warn: 'The head is old: the provider is stuck, or the chain produces no blocks.' }
  const behind = Math.max(...answers.map((other) => other.head.number)) - head.number
  if (behind > HEADS_APART_WARN)
    return { says, warn: `It is ${behind} blocks behind the others: put it last in RPC_URL.` }
  const todo =
    'It prunes states within minutes, so comparing with the contract will often fail. Use a node that keeps more.'
  return { says, warn: statesBack !== null && statesBack < STATES_MIN && todo }
}

const ageOf = ({ time }: Head) => Math.round(Date.now() / 1000) - time
