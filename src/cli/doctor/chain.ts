// Looks at the chain: each provider by itself, the factory and its roles, and how far the chain can be asked about its past.
import { type ChainPart, signersOf } from '../../boot/parts.ts'
import { checkDeployment } from '../../chain/factory/check-deployment.ts'
import { type Head, type ProviderProbe, probeProvider } from '../../chain/rpc/probe.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import type { Pool } from '../../db/core/sql.ts'
import { type Finding, fail, look, ok, reasonOf, unknown, warn } from './finding.ts'
import { lookAtStartBlock } from './start-block.ts'
import { lookAtWalletKey } from './wallet.ts'

/** Providers of one chain hear of a block within seconds of each other. */
const HEADS_APART_WARN = 10
/** A node that keeps less cannot be followed after the shortest outage; geth's default keeps 128. */
const STATES_MIN = 64

/** `staleSec`: from which age on a head is old. */
export async function lookAtChain(
  chain: ChainPart,
  rpc: Rpc,
  { staleSec, pool }: { staleSec: number; pool: Pool | null },
): Promise<Finding[]> {
  const probes = await Promise.all(
    chain.rpcUrls.map(async (url, index) => ({
      host: rpc.hosts[index] ?? '',
      probe: await probeProvider(url, chain.factory, chain.startBlock).catch((error: unknown) => error as Error),
    })),
  )
  const seen = probes.flatMap(({ probe }) => (probe instanceof Error ? [] : [probe]))
  const findings = probes.flatMap(({ host, probe }) => [
    provider({ host, probe }, seen, { chainId: chain.chainId, staleSec }),
    ...(probe instanceof Error ? [] : [traces(host, probe)]),
  ])
  if (seen.length === 0) return [...findings, unknown('chain.factory', 'no provider answers')]
  return [
    ...findings,
    ...clock(seen),
    ...(await look('chain.factory', () => lookAtFactory(chain, rpc, seen))),
    ...(await look('chain.start', () => lookAtStartBlock(chain, rpc))),
    ...(await look('wallet.key', () => lookAtWalletKey(chain, rpc, pool))),
  ]
}

function provider(
  { host, probe }: { host: string; probe: ProviderProbe | Error },
  all: readonly ProviderProbe[],
  { chainId: wanted, staleSec }: { chainId: number | null; staleSec: number },
): Finding {
  const check = 'chain.provider'
  if (probe instanceof Error) {
    const todo = 'See that this URL of RPC_URL is right, and its provider up.'
    return fail(check, `${host}: ${reasonOf(probe)}`, todo, { host })
  }
  const { chainId, head, finalized, statesBack, answeredMs, logs } = probe
  const ageSec = ageOf(head)
  const reading = { host, chainId, head, ageSec, finalized, statesBack, answeredMs, logs }
  const past = statesBack === null ? 'all states since START_BLOCK' : `states ${statesBack} blocks back`
  const says = `${host}: chain ${chainId}, block ${head.number}, ${ageSec} s old, ${finalized === null ? 'knows no finalized block' : `final up to ${finalized}`}, ${past}`
  if (wanted !== null && chainId !== wanted)
    return fail(check, says, `RPC_URL leads to another chain than CHAIN_ID=${wanted}: correct one of them.`, reading)
  if (!logs)
    return fail(
      check,
      `${host} gives no logs of a block (eth_getLogs)`,
      'Use another provider, or another plan of it: without logs nothing can be followed.',
      reading,
    )
  if (ageSec > staleSec)
    return warn(check, says, 'The head is old: the provider is stuck, or the chain makes no blocks.', reading)
  const behind = Math.max(...all.map((other) => other.head.number)) - head.number
  if (behind > HEADS_APART_WARN)
    return warn(check, says, `It is ${behind} blocks behind the others: name it last in RPC_URL.`, reading)
  if (statesBack !== null && statesBack < STATES_MIN)
    return warn(
      check,
      says,
      'It forgets states within minutes: comparing with the contract will often fail. Use a node that keeps more.',
      reading,
    )
  return ok(check, says, reading)
}

function traces(host: string, { traceMethods }: ProviderProbe): Finding {
  const check = 'chain.traces'
  const reading = { host, traceMethods }
  if (traceMethods.length > 0) return ok(check, `${host} traces blocks: ${traceMethods.join(', ')}`, reading)
  const says = `${host} traces no blocks: neither debug_traceBlockByHash nor trace_block`
  const todo =
    'What contract wallets pay (a Safe, a 4337 account) is then held without its payer. Use providers that trace, two where there are several.'
  return warn(check, says, todo, reading)
}

function clock(seen: readonly ProviderProbe[]): Finding[] {
  const aheadSec = Math.max(...seen.map(({ head }) => -ageOf(head)))
  if (aheadSec <= 60) return []
  const todo =
    'Have this machine keep its time by the network (NTP). On a test chain whose time was moved on, nothing is wrong.'
  return [warn('clock.chain', `the chain's time is ${aheadSec} s ahead of this machine's`, todo, { aheadSec })]
}

async function lookAtFactory(chain: ChainPart, rpc: Rpc, [first]: readonly ProviderProbe[]): Promise<Finding[]> {
  const { factory, paymentAddress, startBlock } = chain
  const chainId = chain.chainId ?? first?.chainId ?? 0
  const check = await checkDeployment({ rpc, chainId, factory, paymentAddress, startBlock, ...signersOf(chain) })
  const { problems, guardUsable, historyUsable, knownCode, codeHash, maxPerWallet, leastIntervalSec } = check
  const reading = { factory, guardUsable, historyUsable, knownCode, codeHash, maxPerWallet, leastIntervalSec }
  if (problems.length > 0) {
    return problems.map(({ setting, problem, remedy, transient }) =>
      transient ? unknown('chain.factory', problem) : fail('chain.factory', `${setting}: ${problem}`, remedy, reading),
    )
  }
  const findings: Finding[] = []
  if (!knownCode) {
    const says = `${factory} answers as a factory, but its code is not this version's: its hash is ${codeHash}`
    if (codeHash !== null && codeHash === chain.factoryCodeHash)
      findings.push(
        warn('chain.factory', `${says}, which FACTORY_CODE_HASH trusts`, 'Be sure that it is right.', reading),
      )
    else {
      const todo =
        'The service does not start on it. "node-ledger deploy" puts this version on a chain; FACTORY_CODE_HASH trusts another.'
      findings.push(fail('chain.factory', says, todo, reading))
    }
  } else
    findings.push(
      ok('chain.factory', `${factory} is the factory of this version, at most ${maxPerWallet} nodes a wallet`, reading),
    )
  if (guardUsable)
    findings.push(
      ok('chain.guard', `the factory knows blocks by the hashes the provider gives${reach(historyUsable)}`, reading),
    )
  else {
    const todo = 'Nothing is wrong on chains whose contracts see other block hashes: mints then wait for final blocks.'
    findings.push(warn('chain.guard', 'the factory knows recent blocks by other hashes: no fork guard', todo, reading))
  }
  return findings
}

/** The age that a guard's block may have. Past it, a transaction expires before its own deadline, and is signed again. */
function reach(historyUsable: boolean | null): string {
  if (historyUsable === null) return '; whether also beyond the last 256 cannot be seen yet'
  return historyUsable ? ', also beyond the last 256 (EIP-2935)' : ', of the last 256 alone: it has no EIP-2935'
}

const ageOf = ({ time }: Head) => Math.round(Date.now() / 1000) - time
