// Invariants after a seed besides those of test/support/invariants.ts: the right payments became nodes and no others,
// by a few independent lines; a rebuilt ledger is the same (I10); hardly anything was sent in vain (I12); a failed
// reading is never a number (I13).
import assert from 'node:assert/strict'
import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { createReadings } from '../../src/chain/pages/readings.ts'
import { readMode, setMode } from '../../src/db/blocks/evidence.ts'
import type { Sql } from '../../src/db/core/sql.ts'
import { readSenderTroubles } from '../../src/db/sends/signers.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { rebuild } from '../../src/mending/rebuild/rebuild.ts'
import { FAULTS } from '../support/faults/names.ts'
import { contextOf, ETHER } from '../support/world.ts'
import { checkLadder, unopenedRightly } from './ladder.ts'
import { checkListOrder, unlistedRightly } from './lists.ts'
import { payersRights } from './payers/oracle.ts'
import type { Decision, Play, Terms } from './play.ts'
import { Provider } from './provider.ts'
import { FIRST_BLOCK, MAX_PER_WALLET } from './stage.ts'
import { checkOrder, soldOutRightly } from './supply.ts'
import { count, faultsIn } from './tally.ts'

/** The tiers that never change, and their prices. */
const FIXED = [
  { tierId: 'plus', priceWei: ETHER / 40n, allowance: 5, tokens: 0n },
  { tierId: 'founder', priceWei: ETHER / 20n, allowance: 2, tokens: 1_000n * ETHER },
] as const
const BASIC_ALLOWANCE = 10
const GRACE_SEC = 900

export interface Paid {
  ref: Hash
  txHash: Hash
  /** 0: the transaction's own transfer. */
  inner: number
  index: number
  from: Address
  value: bigint
  succeeded: boolean
  block: number
  time: number
  state: string
  reason: string | null
  tierId: string | null
  /** The payer's code was unreadable for so long that the service held the payment. */
  unreadable: boolean
}

/** I1, computed independently: of each wallet's valid payments for a tier, as many became nodes as there was room for. */
export async function checkSales(play: Play): Promise<void> {
  const { observer, world } = play.stage
  const payments = await observer<Paid[]>`
    SELECT ref, tx_hash AS "txHash", inner_index AS inner, tx_index AS index, from_address AS "from", value_wei AS value, succeeded, block_number AS block,
      extract(epoch FROM block_time)::bigint AS time, state, reason, tier_id AS "tierId",
      EXISTS (SELECT FROM payment_verdicts v WHERE v.payment_id = p.id AND v.evidence ? 'unreadable') AS unreadable
    FROM payments p WHERE state <> 'orphaned' AND from_address IS NOT NULL ORDER BY block_number, tx_index, inner_index`
  const rights = await payersRights(play)
  const wallets = new Map<Address, Map<string, Buyable[]>>()
  for (const payment of payments) {
    const { may, must } = await rights(payment)
    const tier = may ? await tierFor(play, payment) : null
    if (payment.from === world.at(3)) assert.equal(payment.state, 'ignored', 'I2: paying oneself is no sale')
    else if (tier === null)
      // A lost ledger may have sold it, by terms that were lost as well.
      assert.ok(
        payment.state !== 'minted' || play.restored || play.decided.get(payment.ref)?.kind === 'release',
        `I1: ${payment.ref} is no right payment and became a node`,
      )
    else {
      const byTier = wallets.get(payment.from) ?? new Map<string, Buyable[]>()
      byTier.set(tier, [...(byTier.get(tier) ?? []), { ...payment, must }])
      wallets.set(payment.from, byTier)
    }
  }
  checkOrder(play, payments)
  checkListOrder(play, payments)
  await checkLadder(play, payments)
  const isTooLate = await soldOutRightly(play)
  const isUnlisted = unlistedRightly(play, payments)
  const isTooEarly = await unopenedRightly(play)
  const excuses = [isTooLate, isUnlisted, isTooEarly]
  for (const [wallet, byTier] of wallets)
    checkWallet(play, wallet, { byTier, isUnsold: (payment) => excuses.some((isRight) => isRight(payment)) })
  // After a reorganisation, a payment that was no sale may be one now.
  if (play.tally.has('reorganisation')) return
  const sold = payments.filter(({ txHash, state }) => state === 'minted' && play.refused.has(txHash))
  assert.deepEqual(sold, [], 'I1: a payment that a claim called no sale is none')
}

/** A payment for a tier; `must`: it becomes a node if there is room. */
interface Buyable extends Paid {
  must: boolean
}

interface Bought {
  byTier: Map<string, Buyable[]>
  /** True if the service was right to turn a payment away. */
  isUnsold: (payment: Paid) => boolean
}

function checkWallet(play: Play, wallet: Address, { byTier, isUnsold }: Bought): void {
  // Wallets that gave or received nodes had other room at other times; the verdicts record what was decided then.
  if (play.traded.has(wallet)) return
  const isMinted = ({ state }: Paid) => state === 'minted'
  const total = [...byTier.values()].flat().filter(isMinted).length
  assert.ok(total <= Number(MAX_PER_WALLET), `I8: ${wallet} has ${total} nodes`)
  for (const [tierId, payments] of byTier) {
    const minted = payments.filter(isMinted).length
    const allowance = FIXED.find((tier) => tier.tierId === tierId)?.allowance ?? BASIC_ALLOWANCE
    assert.ok(minted <= allowance, `I8: ${wallet} bought ${minted} of ${tierId}, may hold ${allowance}`)
    // If a payment took a place and lost it with its block, a payment refused meanwhile does not get it.
    if (play.dropped.has(wallet) || total === Number(MAX_PER_WALLET)) continue
    // Nor does one that awaits the operator's decision since the ledger was restored.
    const isLeft = play.restored && payments.some(({ reason }) => reason === 'recheck')
    const refused = payments.filter(({ state, must }) => state !== 'minted' && must)
    const isExcused = (payment: Paid) =>
      isUnsold(payment) ||
      payment.reason === 'holding' ||
      (payment.reason === 'contractWallet' && payment.unreadable) ||
      (play.restored && payment.reason === 'recheck') ||
      (isLeft && payment.reason === 'tierAllowance')
    const readable = refused.filter((payment) => !isExcused(payment))
    const told = readable.map(({ ref, state, reason }) => `${ref} ${state} ${reason}`).join(', ')
    assert.ok(readable.length === 0 || minted === allowance, `I1: ${wallet} has room for ${tierId}, but: ${told}`)
  }
}

/** The tier that a payment's amount, block and sender's holding entitle to; null for none. */
async function tierFor(play: Play, payment: Paid): Promise<string | null> {
  if (!payment.succeeded) return null
  const fixed = FIXED.find((tier) => tier.priceWei === payment.value)
  if (!fixed) return isBasic(play.terms, payment) ? 'basic' : null
  if (fixed.tokens === 0n) return fixed.tierId
  const { chain, token } = play.stage
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [payment.from] })
  const held = BigInt(await chain.rpc<Hex>('eth_call', [{ to: token, data }, `0x${payment.block.toString(16)}`]))
  return held >= fixed.tokens ? fixed.tierId : null
}

/** True if the basic tier was on sale at that price then, or within its grace, whether or not it still is on sale. */
function isBasic(terms: readonly Terms[], { value, time }: Paid): boolean {
  const inForce = terms.filter((version) => version.fromTime <= time).sort((a, b) => a.fromTime - b.fromTime)
  const now = inForce.at(-1)
  if (now?.onSale && now.priceWei === value) return true
  return inForce.some((version, at) => {
    const next = inForce[at + 1]
    return next !== undefined && version.onSale && version.priceWei === value && time < next.fromTime + GRACE_SEC
  })
}

/** I7 and I12. */
export async function checkSent(play: Play): Promise<void> {
  const { chain, factory, observer, unstored } = play.stage
  assert.deepEqual(unstored, [], 'I7: sent before it was stored')
  const sent = await observer<{ hash: Hash; state: string }[]>`
    SELECT tx_hash AS hash, state FROM outbox WHERE state IN ('mined', 'reverted')`
  const logs = await chain.rpc<{ transactionHash: Hash }[]>('eth_getLogs', [
    { address: factory, fromBlock: '0x0', toBlock: 'latest' },
  ])
  const did = new Set(logs.map((log) => log.transactionHash))
  const inVain = sent.filter(({ hash }) => !did.has(hash)).length
  const mishaps = [...play.tally].filter(([what]) =>
    /^(interrupt|lie |reorganisation|crash|not signed|act (pause|eviction|high|foreign|restored|window|expulsion|budget|bounds|standstill|cancelled|release|dismissal|refund|other))/.test(
      what,
    ),
  )
  const allowed = faultsIn(play.tally, FAULTS) + mishaps.reduce((sum, [, times]) => sum + times, 0) + 3
  assert.ok(inVain <= allowed, `I12: ${inVain} transactions did nothing, with ${allowed - 3} mishaps`)
}

/** The operator's decisions stand, whatever blocks a reorganisation removes after them. If a ledger lost a decision, the operator decides again. */
export async function checkDecisions({ decided, restored, pastFinal, stage: { observer } }: Play): Promise<void> {
  if (restored) return
  const rows = await observer<(Pick<Paid, 'ref' | 'state' | 'reason'> & { blockHash: Hash | null })[]>`
    SELECT ref, state, reason, block_hash AS "blockHash" FROM payments
    -- A payment that failed in the block in which it came back moved nothing: there is nothing to decide about it.
    WHERE ref = ANY(${[...decided.keys()]}) AND state <> 'orphaned' AND (state <> 'ignored' OR reason <> 'failed')`
  for (const { blockHash, ...payment } of rows) {
    const decision = decided.get(payment.ref)
    // An internal transfer in another block is another transfer.
    if (decision && (decision.onlyIn === null || decision.onlyIn === blockHash))
      checkDecision(payment, decision, pastFinal)
  }
}

function checkDecision(
  { ref, state, reason }: Pick<Paid, 'ref' | 'state' | 'reason'>,
  { kind, wasSigned }: Decision,
  pastFinal: boolean,
): void {
  if (kind === 'dismissal')
    assert.ok(state === 'dismissed' || (state === 'minted' && wasSigned), `${ref} was dismissed and is ${state}`)
  const waits = reason === 'walletLimit' || reason === 'mintReverted' || reason === 'soldOut'
  // We promise nothing about reorganisations of final blocks.
  if (kind === 'refund') assert.ok(state !== 'minted' || pastFinal, `${ref} was paid back in order, and has a node`)
  if (kind === 'refunding')
    assert.ok(reason === 'refunding' || (state === 'minted' && wasSigned), `${ref} is to be paid back and is ${state}`)
  if (kind === 'release') assert.ok(state === 'minted' || waits, `${ref} was released and is ${state} ${reason}`)
}

/** A signer that signs again is no longer on record as down. */
export async function checkSigners({ stage: { observer } }: Play): Promise<void> {
  assert.deepEqual(
    [...(await readSenderTroubles(observer, 'signer'))],
    [],
    'a signer that signs is not on record as down',
  )
}

/** Even in a short history some blocks are old. */
const SURVEY = { behind: 6, blocksMin: 3 }

/** I10: the chain alone yields the same ledger, whether its old blocks are read or surveyed. */
export async function checkRebuild({ stage, dice, tally }: Play): Promise<void> {
  const { chain, world, rebuildPool, observer, factory, database } = stage
  await stage.emptyRebuild()
  await modeAsIn(observer, rebuildPool)
  const parts = { chain, rpc: world.rpc, pool: rebuildPool, factory, directUrl: database.url }
  const isSurveyed = dice.roll('survey') < 0.7
  const ctx = contextOf(parts, { startBlock: FIRST_BLOCK, ...(isSurveyed && { survey: SURVEY }) })
  const { comparison, surveyedTo } = await rebuild({ ...ctx, minter: null, distributor: null }, observer, () => {})
  if (surveyedTo !== null) count(tally, 'rebuilt by a survey')
  // Fewer headers are kept if the survey begins so near to the head.
  const differences = comparison?.differences.filter(({ table }) => !isSurveyed || table !== 'blocks')
  assert.deepEqual(differences, [], 'I10: a rebuilt ledger is the same')
}

/** Gives a rebuild the ledger's mode. The first blocks of a short history may be the only ones that recompute. */
async function modeAsIn(ledger: Sql, rebuilt: Sql): Promise<void> {
  const inForce = await readMode(ledger)
  if (inForce) await setMode(rebuilt, inForce.mode, { by: 'sim' })
}

/** I13: without an answer a reading is null; with one it is the contract's. */
export async function checkReadings({ stage }: Play): Promise<void> {
  const { chain, factory, world } = stage
  let cut = true
  const provider = new Provider({
    chain,
    weather: null,
    rules: { check: async () => null } as never,
    onFault: () => {},
    async onRequest() {
      if (cut) throw new Error('no provider answers')
    },
  })
  const rpc = stage.rpcOn([provider])
  const readAll = async () => {
    const readings = createReadings({ rpc, factory, distributor: world.at(2) })
    const head = Number((await chain.block()).number)
    return {
      cover: await readings.cover(),
      node: await readings.node(1n, head),
      purse: await readings.distributorBalanceWei(),
      paused: await createReadings({ rpc, factory, distributor: null }).paused(),
    }
  }
  assert.deepEqual(await readAll(), { cover: null, node: null, purse: null, paused: null }, 'I13: unread is null')
  cut = false
  const { cover, paused } = await readAll()
  assert.equal(cover?.outstandingWei, await world.read('outstanding'), "I13: what was read is the contract's")
  assert.equal(paused, false)
  await rpc.close()
}
