// Looks at the keys that send: are they there, are they the factory's own, are they public knowledge, can they pay for what comes, can
// what they have signed still be mined.
import { type ChainPart, signersOf } from '../../boot/parts.ts'
import { createRpc, type Rpc } from '../../chain/rpc/rpc.ts'
import { quantity } from '../../chain/rpc/wire.ts'
import { currentFees, nonceAt } from '../../chain/send/signer-account.ts'
import type { Config } from '../../config/load.ts'
import { readCursor } from '../../db/blocks/blocks.ts'
import type { Pool } from '../../db/core/sql.ts'
import { readCreditTerms } from '../../db/sale/terms.ts'
import { readNextRoundWei, readUsualGas, readWaitingMintGas } from '../../db/sends/funds.ts'
import { readNonceAhead } from '../../db/sends/nonce-ahead.ts'
import { readKnownNonces } from '../../db/sends/outbox.ts'
import { DEVELOPMENT_CHAINS, isDevelopmentAccount } from '../../domain/development.ts'
import type { Address } from '../../domain/units.ts'
import { silentLog } from '../../lib/log.ts'
import { inEther } from '../ether.ts'
import { type Finding, fail, look, ok, unknown, warn } from './finding.ts'

type Role = 'minter' | 'distributor'

/** A transaction before any was sent. */
const GAS_USUAL = 200_000n

/** `pool` is null where there is no ledger to ask what the next round costs. */
export async function lookAtKeys(config: Config, chain: ChainPart, pool: Pool | null): Promise<Finding[]> {
  const { minter, distributor } = signersOf(chain)
  const ofEach = async (what: string, lookAt: (role: Role, of: Address) => Promise<Finding>) => [
    ...(minter ? await look(`${what}.minter`, () => lookAt('minter', minter)) : []),
    ...(distributor ? await look(`${what}.distributor`, () => lookAt('distributor', distributor)) : []),
  ]
  return [
    ...(await look('keys.minter', () => lookAtKey('minter', minter, chain))),
    ...(await look('keys.distributor', () => lookAtKey('distributor', distributor, chain))),
    ...(await ofEach('funds', (role, of) => lookAtGas({ role, of }, config, chain, pool))),
    ...(pool ? await ofEach('nonce', (role, of) => lookAtNonce(role, of, chain, pool)) : []),
    ...(await look('funds.round', () => lookAtTreasury(config, chain, distributor, pool))),
  ]
}

async function lookAtKey(role: Role, of: Address | null, chain: ChainPart): Promise<Finding> {
  const check = `keys.${role}`
  if (of === null) {
    const says = role === 'minter' ? 'no key: nothing is minted' : 'no key: no round is credited'
    return warn(
      check,
      says,
      `Set ${role.toUpperCase()}_PRIVATE_KEY (or a keystore, or a signer) on the instance that runs the passes.`,
    )
  }
  const wellKnown = isDevelopmentAccount(of)
  if (!wellKnown || chain.demoToken) return ok(check, of, { address: of })
  const says = `${of} is a development account, whose key everybody knows`
  if (chain.chainId !== null && DEVELOPMENT_CHAINS.includes(chain.chainId))
    return ok(check, `${says}: right on a development chain`, { address: of })
  return fail(check, says, 'Make a key with "node-ledger keys new", and give it the role.', { address: of })
}

async function lookAtGas(
  { role, of }: { role: Role; of: Address },
  { FUNDS_WARN_TRANSACTIONS }: Config,
  chain: ChainPart,
  pool: Pool | null,
): Promise<Finding> {
  const { balanceWei, maxFeeWei } = await readFunds(chain, of)
  const gas = (pool && (await readUsualGas(pool, of))) ?? GAS_USUAL
  const waitingGas = pool && role === 'minter' ? await readWaitingMintGas(pool) : 0n
  const left = balanceWei - waitingGas * maxFeeWei
  const transactions = maxFeeWei === 0n ? null : Math.max(0, Number(left / (maxFeeWei * gas)))
  const reading = { address: of, balanceWei, maxFeeWei, gas, waitingGas, transactions }
  if (left < 0n)
    return fail(
      `funds.${role}`,
      `the ${role} has ${inEther(balanceWei)} ether, and the mint that waits may take ${inEther(waitingGas * maxFeeWei)}: it is sent in parts, as far as the ether goes`,
      `Send ether to ${of}: buyers wait for it.`,
      reading,
    )
  const says = `the ${role} has ${inEther(balanceWei)} ether, for ${transactions === null ? 'any number of' : `about ${transactions}`} transactions at the fees of now`
  if (transactions === null || transactions >= Math.max(1, FUNDS_WARN_TRANSACTIONS))
    return ok(`funds.${role}`, says, reading)
  const finding = transactions === 0 ? fail : warn
  return finding(`funds.${role}`, says, `Send ether to ${of}: without it the passes stop.`, reading)
}

/** A sender of which the providers say more than followed blocks show, on the record of the pass that holds its key or as seen now. */
async function lookAtNonce(role: Role, of: Address, chain: ChainPart, pool: Pool): Promise<Finding> {
  const check = `nonce.${role}`
  // In this order: what waits by then is in no block up to the cursor.
  const cursor = await readCursor(pool)
  const known = await readKnownNonces(pool, of)
  if (!cursor || !known) return ok(check, `the ${role} has sent nothing yet`)
  const noted = await readNonceAhead(pool, of)
  const now = await withRpc(chain, (rpc) => nonceAt(rpc, of, cursor.hash))
  const reading = { address: of, known: known.followed, now, noted }
  if (noted === null && (now === null || now <= known.followed))
    return ok(check, `the ${role}'s nonces are as followed blocks show them`, reading)
  return fail(
    check,
    `the providers say nonce ${noted?.said ?? now} of ${of}, and followed blocks show ${known.followed}: the key was used elsewhere, or a provider is wrong; the ${role} sends nothing`,
    'It is taken over by itself once all providers have said so for 64 blocks. If you know that the key was used, "node-ledger transactions free" does so at once.',
    reading,
  )
}

async function lookAtTreasury(
  { DIST_MODE }: Config,
  chain: ChainPart,
  distributor: Address | null,
  pool: Pool | null,
): Promise<Finding> {
  if (distributor === null) return ok('funds.round', 'no rounds are sent from here')
  if (pool === null) return unknown('funds.round', 'there is no ledger to ask what the next round costs')
  if ((await readCreditTerms(pool)).at(-1)?.payouts !== true) return ok('funds.round', 'payouts are off')
  const needWei = await readNextRoundWei(pool)
  if (needWei === 0n) return ok('funds.round', 'no node is to be credited yet')
  const says = `the next round costs ${inEther(needWei)} ether at most`
  if (DIST_MODE === 'swaps') return ok('funds.round', `${says}, from the factory's surplus`, { needWei })
  const { balanceWei } = await readFunds(chain, distributor)
  if (balanceWei >= needWei) return ok('funds.round', says, { needWei, balanceWei })
  const todo = `Send ether to ${distributor}: the round waits for it.`
  return fail('funds.round', `${says}; the distributor has ${inEther(balanceWei)}`, todo, { needWei, balanceWei })
}

function readFunds(chain: ChainPart, of: Address): Promise<{ balanceWei: bigint; maxFeeWei: bigint }> {
  return withRpc(chain, async (rpc) => {
    const balanceWei = quantity(await rpc.request('eth_getBalance', [of, 'latest']), 'balance')
    return { balanceWei, maxFeeWei: (await currentFees(rpc)).maxFeeWei }
  })
}

async function withRpc<T>(chain: ChainPart, ask: (rpc: Rpc) => Promise<T>): Promise<T> {
  const rpc = createRpc({ urls: chain.rpcUrls, log: silentLog, timeoutMs: 5_000 })
  try {
    return await ask(rpc)
  } finally {
    await rpc.close()
  }
}
