// Looks at the keys that send: are they there, are they the factory's own, are they public knowledge, can they pay for what comes.
import { createRpc } from '../../chain/rpc.ts'
import { currentFees } from '../../chain/sender.ts'
import { quantity } from '../../chain/wire.ts'
import type { Config } from '../../config.ts'
import { nextRoundMaxWei } from '../../db/doctor.ts'
import type { Pool } from '../../db/sql.ts'
import type { Address } from '../../domain/units.ts'
import { EMBED_ACCOUNTS } from '../../embed/accounts.ts'
import { silentLog } from '../../log.ts'
import { type ChainPart, sendersOf } from '../../parts.ts'
import { inEther } from '../ether.ts'
import { type Finding, fail, look, ok, warn } from './finding.ts'

/** A mint of a few nodes, a round of a few cohorts: what a transaction of ours usually burns. */
const GAS_USUAL = 300_000n
/** A balance for fewer than these is refilled today. */
const TRANSACTIONS_WARN = 50

/** `pool` is null where there is no ledger to ask what the next round costs. */
export async function lookAtKeys(config: Config, chain: ChainPart, pool: Pool | null): Promise<Finding[]> {
  const { minter, distributor } = sendersOf(chain)
  return [
    ...(await look('keys.minter', () => lookAtKey('minter', minter, chain))),
    ...(await look('keys.distributor', () => lookAtKey('distributor', distributor, chain))),
    ...(minter ? await look('funds.minter', () => lookAtGas('minter', minter, chain)) : []),
    ...(distributor ? await look('funds.distributor', () => lookAtGas('distributor', distributor, chain)) : []),
    ...(await look('funds.round', () => lookAtTreasury(config, chain, distributor, pool))),
  ]
}

async function lookAtKey(role: 'minter' | 'distributor', of: Address | null, chain: ChainPart): Promise<Finding> {
  const check = `keys.${role}`
  if (of === null) {
    const says = role === 'minter' ? 'no key: nothing is minted' : 'no key: no round is credited'
    return warn(
      check,
      says,
      `Set ${role.toUpperCase()}_PRIVATE_KEY (or a keystore, or a signer) on the instance that runs the passes.`,
    )
  }
  const wellKnown = EMBED_ACCOUNTS.some((account) => account.address.toLowerCase() === of)
  if (!wellKnown || chain.demoToken) return ok(check, of, { address: of })
  return fail(
    check,
    `${of} is a development account, whose key everybody knows`,
    'Right for a test chain; on any other make a key with "node-ledger keys new".',
    { address: of },
  )
}

async function lookAtGas(role: 'minter' | 'distributor', of: Address, chain: ChainPart): Promise<Finding> {
  const { balanceWei, maxFeeWei } = await readFunds(chain, of)
  const transactions = maxFeeWei === 0n ? null : Number(balanceWei / (maxFeeWei * GAS_USUAL))
  const reading = { address: of, balanceWei, maxFeeWei, transactions }
  const says = `the ${role} has ${inEther(balanceWei)} ether, for ${transactions === null ? 'any number of' : `about ${transactions}`} transactions at the fees of now`
  if (transactions === null || transactions >= TRANSACTIONS_WARN) return ok(`funds.${role}`, says, reading)
  const finding = transactions === 0 ? fail : warn
  return finding(`funds.${role}`, says, `Send ether to ${of}: without it the passes stop.`, reading)
}

async function lookAtTreasury(
  { credit }: Config,
  chain: ChainPart,
  distributor: Address | null,
  pool: Pool | null,
): Promise<Finding> {
  if (!credit.enabled || credit.range === null || distributor === null || pool === null)
    return ok('funds.round', 'no rounds are sent from here')
  const next = await nextRoundMaxWei(pool, credit.range.maxWei)
  if (next === null) return ok('funds.round', 'no node is to be credited yet')
  const owner = credit.mode === 'treasury' ? distributor : chain.factory
  const { balanceWei } = await readFunds(chain, owner)
  const reading = { mode: credit.mode, ...next, balanceWei }
  const says = `the next round, ${new Date(next.due * 1000).toISOString()}, credits ${next.nodes} nodes with ${inEther(next.wei)} ether at most`
  if (credit.mode === 'swaps') return ok('funds.round', `${says}, from the factory's surplus`, reading)
  if (balanceWei >= next.wei) return ok('funds.round', says, reading)
  return fail(
    'funds.round',
    `${says}; the distributor has ${inEther(balanceWei)}`,
    `Send ether to ${distributor}: the round waits for it.`,
    reading,
  )
}

async function readFunds(chain: ChainPart, of: Address): Promise<{ balanceWei: bigint; maxFeeWei: bigint }> {
  const rpc = createRpc({ urls: chain.rpcUrls, log: silentLog, timeoutMs: 5_000 })
  try {
    const balanceWei = quantity(await rpc.request('eth_getBalance', [of, 'latest']), 'balance')
    return { balanceWei, maxFeeWei: (await currentFees(rpc)).maxFeeWei }
  } finally {
    await rpc.close()
  }
}
