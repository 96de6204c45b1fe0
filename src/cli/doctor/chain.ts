// The checks of the chain: each provider separately, the factory and its roles, how far back providers can answer, and that the payments wallet is
// not one of the signer accounts.
import { type ChainPart, signersOf } from '../../boot/parts.ts'
import { BELIEVED_TODO, believedInWords, lookAtWallet, readerOf } from '../../boot/preflight.ts'
import { checkDeployment, type DeploymentCheck } from '../../chain/factory/check-deployment.ts'
import { KEEPS_ITS_START, lookAtBeginning, tooLateInWords } from '../../chain/factory/start-block.ts'
import { type Head, type ProviderProbe, probeProvider } from '../../chain/rpc/probe.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import type { Config } from '../../config/load.ts'
import { readCursor } from '../../db/blocks/blocks.ts'
import { readMode } from '../../db/blocks/evidence.ts'
import type { Pool } from '../../db/core/sql.ts'
import { readWalletInForce } from '../../db/sale/payment-wallets.ts'
import { foundInWords, VOICES } from '../../domain/finality.ts'
import { finalityInWords, isContradiction, isSettled, lookAtFinality } from '../../follower/finality.ts'
import { type Checks, type Finding, reasonOf, runChecks, type Said } from './check.ts'
import { ASKED_CHECKS } from './provider.ts'

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
  readonly seen: readonly ProviderProbe[]
}

const PROVIDER_CHECKS: Checks<Probed> = {
  'chain.provider': (probed) => probed.probes.map((one) => lookAtProvider(one, probed)),

  'chain.traces': ({ probes }) =>
    probes.map(({ host, probe }) => {
      if (probe instanceof Error) return null
      const reading = { host, traces: probe.traces }
      if (probe.traces) return { says: `${host} traces blocks`, reading }
      return {
        says: `${host} traces no blocks: it lacks debug_traceBlockByHash`,
        warn: 'Without traces the service holds payments of contract wallets (a Safe, a 4337 account) without their payer. Use providers that trace, two if you have several.',
        reading,
      }
    }),

  'clock.chain': ({ seen }) => {
    const aheadSec = Math.max(...seen.map(({ head }) => -ageOf(head)))
    if (aheadSec <= AHEAD_WARN_SEC) return null
    const todo =
      'Synchronise the clock of this machine (NTP). On a test chain whose time was moved forward, nothing is wrong.'
    return { says: `the chain's time is ${aheadSec} s ahead of this machine's`, warn: todo, reading: { aheadSec } }
  },
}

const FACTORY_CHECKS: Checks<Probed & { deployment: DeploymentCheck }> = {
  'chain.factory': ({ chain: { factory, factoryCodeHash }, deployment }) => {
    const { problems, knownCode, codeHash, maxPerWallet, ...rest } = deployment
    const reading = { factory, knownCode, codeHash, maxPerWallet, ...rest }
    if (problems.length > 0)
      return problems.map(({ setting, problem, remedy, transient }) =>
        transient ? { unknown: problem } : { says: `${setting}: ${problem}`, fail: remedy, reading },
      )
    if (knownCode)
      return { says: `${factory} is the factory of this version, at most ${maxPerWallet} nodes a wallet`, reading }
    const says = `${factory} answers as a factory, but its code is not this version's: its hash is ${codeHash}`
    if (codeHash !== null && codeHash === factoryCodeHash)
      return { says: `${says}, which FACTORY_CODE_HASH trusts`, warn: 'Make sure that you trust this code.', reading }
    const todo =
      'The service does not start with it. "node-ledger deploy" puts this version on a chain; FACTORY_CODE_HASH names other code that you trust.'
    return { says, fail: todo, reading }
  },

  'chain.guard': ({ deployment: { problems, guardUsable } }) => {
    if (problems.length > 0) return null
    const reading = { guardUsable }
    if (guardUsable) return { says: 'the factory sees the same block hashes as the provider', reading }
    const todo = 'Nothing is wrong on chains whose contracts see other block hashes: mints then wait for final blocks.'
    return { says: 'the factory sees other hashes of recent blocks: no fork guard', warn: todo, reading }
  },

  /** Whether the providers have the ledger's block where it would be final. If not, refunds and commissions wait. */
  'chain.final': async ({ chain, rpc, pool }) => {
    const cursor = pool && (await readCursor(pool))
    if (!pool || !cursor) return null
    const rules = { rewindsToShorterChain: chain.demoToken !== null }
    const reading = await lookAtFinality({ pool, chain: readerOf(chain, rpc, signersOf(chain)), rules }, cursor)
    if (!reading) return null
    const words = finalityInWords(reading)
    if (isContradiction(reading)) return { says: `nothing is final: ${words?.says}`, fail: words?.todo ?? '', reading }
    const says = reading.firm < 0 ? 'no block is final yet' : `block ${reading.firm} is final`
    const behindSec = cursor.time - reading.time
    if (reading.firm >= 0 && behindSec > FINAL_BEHIND_SEC)
      return {
        says: `${says}, which is ${Math.floor(behindSec / 3_600)} hours old: a provider of RPC_URL calls no newer one final`,
        warn: 'Refunds and commissions wait for final blocks. Look at each provider’s "finalized" block, and replace the one that is stuck.',
        reading,
      }
    if (!words || isSettled(reading)) return { says, reading }
    return { says: `${says}, and no refund or commission rests on it: ${words.says}`, warn: words.todo, reading }
  },

  /** What blocks are worth: whether they prove what a provider reports, or two providers must agree. */
  'chain.evidence': async ({ chain, rpc, pool, config }) => {
    const inForce = pool && (await readMode(pool))
    const reader = readerOf(chain, rpc, signersOf(chain))
    const found = await reader.proofs.findMode()
    if (!found)
      return { unknown: 'the providers do not name the same recent blocks, or do not answer', reading: { inForce } }
    const reading = { inForce, found }
    const mode = inForce?.mode ?? found.mode
    if (mode === 'proven' && found.mode === 'agreed')
      return {
        says: `${foundInWords(found)}, so nothing is followed: the chain may have had a hard fork`,
        fail: 'Update the service. If that does not help, "node-ledger evidence set agreed" makes it believe two providers that agree.',
        reading,
      }
    if (found.mode === 'proven' && found.added.length > 0)
      return {
        says: `blocks have fields that this version does not know (${found.added.join(', ')}): what they hold is proven, and receipts are read of each block`,
        warn: 'Update the service. Until then nothing is lost.',
        reading,
      }
    if (mode === 'proven') return { says: 'blocks prove what providers report', reading }
    if (found.mode === 'agreed' && reader.providers.length < VOICES) {
      const says = believedInWords(found)
      if (config.TRUST_PROVIDER) return { says: `RPC_URL: ${says}, as TRUST_PROVIDER says`, reading }
      return { says: `RPC_URL: ${says}`, [config.production ? 'fail' : 'warn']: BELIEVED_TODO, reading }
    }
    const says = 'blocks are not proven: two providers must agree'
    if (found.mode === 'agreed' || chain.demoToken !== null) return { says, reading }
    return { says, warn: '"node-ledger evidence set proven" has them proven again.', reading }
  },

  /** Whether the ledger starts early enough. Anything that the factory did before START_BLOCK is missing for good, so the passes stop. */
  'chain.start': async ({ chain: { factory, startBlock }, rpc }) => {
    const found = await lookAtBeginning(rpc, factory, startBlock)
    if (found.kind === 'fine') return FINE[found.why](startBlock)
    if (found.kind === 'tooLate') {
      const { says, todo } = tooLateInWords(startBlock, found.first)
      return { says, fail: todo, reading: { startBlock, first: found.first } }
    }
    const todo = `Check that START_BLOCK is the one that "node-ledger deploy" printed. ${KEEPS_ITS_START}`
    return { says: 'no provider can tell whether the factory is older than START_BLOCK', warn: todo }
  },

  /** Whether buyers may pay to the payments wallet. It must not be a signer account. If it has code, traces must show what that code sends. */
  'wallet.key': async ({ chain, rpc, pool }) => {
    const sold = pool && (await readWalletInForce(pool))
    const paymentAddress = sold ?? chain.paymentAddress
    if (paymentAddress === null) return null
    const another = 'Change it with "node-ledger wallets set" to a wallet without code whose key no server holds.'
    for (const wallet of new Set([paymentAddress, chain.paymentAddress ?? paymentAddress])) {
      const objection = await lookAtWallet(chain, rpc, wallet)
      if (!objection) continue
      return { says: objection.problem, fail: wallet === sold ? another : objection.remedy, reading: { wallet } }
    }
    return { says: 'the payments wallet is not one of the accounts that send', reading: { paymentAddress } }
  },
}

const FINE = {
  genesis: () => 'followed from block 0 on',
  notDeployed: (startBlock: number) => `the factory was not there before START_BLOCK=${startBlock}`,
  noEvents: (startBlock: number) => `the factory did nothing before START_BLOCK=${startBlock}`,
}

/** Makes the checks of the chain. If no provider answers, only the providers are checked. */
export async function lookAtChain(examined: ChainExamined): Promise<Finding[]> {
  const { chain, rpc } = examined
  const { factory, paymentAddress, startBlock, rpcUrls } = chain
  const probes = await Promise.all(
    rpcUrls.map(async (url, index) => ({
      host: rpc.hosts[index] ?? '',
      probe: await probeProvider(url, factory, startBlock).catch((error: unknown) => error as Error),
    })),
  )
  const seen = probes.flatMap(({ probe }) => (probe instanceof Error ? [] : [probe]))
  const probed = { ...examined, probes, seen }
  const findings = await runChecks(PROVIDER_CHECKS, probed)
  const [first] = seen
  if (!first)
    return [...findings, ...(await runChecks({ 'chain.factory': () => ({ unknown: 'no provider answers' }) }, null))]
  const chainId = chain.chainId ?? first.chainId
  const named = { rpc, chainId, factory, paymentAddress, startBlock, ...signersOf(chain) }
  findings.push(...(await runChecks(ASKED_CHECKS, { factory, rpc, headNumber: first.head.number })))
  return [...findings, ...(await runChecks(FACTORY_CHECKS, { ...probed, deployment: await checkDeployment(named) }))]
}

function lookAtProvider(
  { host, probe }: Probed['probes'][number],
  { seen, staleSec, chain: { chainId: wanted } }: Probed,
): Said {
  if (probe instanceof Error) {
    const todo = 'Check that this URL of RPC_URL is right and its provider is up.'
    return { says: `${host}: ${reasonOf(probe)}`, fail: todo, reading: { host } }
  }
  const { chainId, head, finalized, statesBack, answeredMs, logs } = probe
  const ageSec = ageOf(head)
  const reading = { host, chainId, head, ageSec, finalized, statesBack, answeredMs, logs }
  const past = statesBack === null ? 'all states since START_BLOCK' : `states ${statesBack} blocks back`
  const says = `${host}: chain ${chainId}, block ${head.number}, ${ageSec} s old, ${finalized === null ? 'knows no finalized block' : `final up to ${finalized}`}, ${past}`
  if (wanted !== null && chainId !== wanted)
    return { says, fail: `RPC_URL does not lead to chain CHAIN_ID=${wanted}: correct one of them.`, reading }
  if (!logs)
    return {
      says: `${host} returns no logs of a block (eth_getLogs)`,
      fail: 'Use another provider, or another of its plans: without logs the service cannot follow blocks.',
      reading,
    }
  if (ageSec > staleSec)
    return { says, warn: 'The head is old: the provider is stuck, or the chain produces no blocks.', reading }
  const behind = Math.max(...seen.map((other) => other.head.number)) - head.number
  if (behind > HEADS_APART_WARN)
    return { says, warn: `It is ${behind} blocks behind the others: put it last in RPC_URL.`, reading }
  const todo =
    'It prunes states within minutes, so comparing with the contract will often fail. Use a node that keeps more.'
  return { says, warn: statesBack !== null && statesBack < STATES_MIN && todo, reading }
}

const ageOf = ({ time }: Head) => Math.round(Date.now() / 1000) - time
