// The soak's edge cases: floods of junk, payments by contracts, transactions of ours that someone cancels by hand, the
// operator's decisions, with a reorg right after them, and a tier that is sold out again and again.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { isBalanceChecked } from '../../src/db/payments/wallet.ts'
import { CONTRACT_WALLET_MODES } from '../../src/domain/payers/payer.ts'
import type { Address, Hash, Wei } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { setContractWallets } from '../../src/operator/acts/contract-wallets.ts'
import { dismissPayment, releasePayment } from '../../src/operator/acts/decide.ts'
import { checkSold, readKept, WAITS_SEC } from '../sim/supply.ts'
import type { Dice } from '../support/faults/dice.ts'
import { FORWARD, forwardTo, SPLIT, splitTo } from '../support/forwarder.ts'
import { readBlocks, readEvents } from '../support/invariants.ts'
import { ETHER, enterTier, type World } from '../support/world.ts'
import type { SoakCounts } from './counts.ts'

const JUNK_MIN = 20
const JUNK_MAX = 60
/** Accounts that buy nothing else. One in ten is a buyer's, because order matters within a wallet. */
const JUNK_SENDERS = [4, 0]
/** Something is pending soon, if anything is for sale. */
const LOOKS_MAX = 40
const LOOK_MS = 100
const GWEI = 10n ** 9n
const hex = (value: number | bigint) => `0x${value.toString(16)}` as const

/** Sends transfers of 0 and 1 wei to the payments wallet. @returns how many. */
export async function sendJunk(world: World, dice: Dice, buyers: readonly number[]): Promise<number> {
  const many = dice.between('junk', JUNK_MIN, JUNK_MAX)
  for (let i = 0; i < many; i++) {
    const from = dice.pick('junk sender', dice.roll('from a buyer') < 0.1 ? buyers : JUNK_SENDERS)
    await world.pay(from, dice.pick('junk wei', [0n, 1n]))
  }
  return many
}

/** Two forwarders, a splitter, and an account that delegates to the first one's code (EIP-7702). */
const [FORWARDER, OTHER, SPLITTER, DELEGATING] = ['f1', 'f2', '51', 'd1'].map(
  (byte) => `0x${byte.repeat(20)}` as Address,
) as [Address, Address, Address, Address]
const MODE_CHANGED = 0.05

/** The price of the tier with a supply, which no other tier has. */
export const SCARCE = (ETHER / 50n) as Wei
const SCARCE_TIER = { tierId: 'scarce', tierNo: 7, priceWei: SCARCE, maxPerWallet: 1_000_000 }
/** Places that are free when more are offered: few, so most eras sell out twice. */
const PLACES = 3

/** Puts an almost unlimited tier and one with a supply on sale, and the paying contracts on the chain. */
export async function openMarket(world: World, priceWei: bigint): Promise<void> {
  const { chain } = world
  await enterTier(world, { tierId: 'bulk', tierNo: 9, priceWei: priceWei as never, maxPerWallet: 1_000_000 })
  await enterTier(world, { ...SCARCE_TIER, supply: PLACES })
  for (const [at, code] of [
    [FORWARDER, FORWARD],
    [OTHER, FORWARD],
    [SPLITTER, SPLIT],
    [DELEGATING, `0xef0100${FORWARDER.slice(2)}`],
  ])
    await chain.rpc('anvil_setCode', [at, code])
  await world.settle()
}

/** Pays by a contract, or twice by a splitter. Now and then the operator changes who may buy so. */
export async function payByContract(world: World, dice: Dice, from: number, valueWei: bigint): Promise<Hash> {
  if (dice.roll('mode changed') < MODE_CHANGED) await allowContracts(world, dice.pick('mode', CONTRACT_WALLET_MODES))
  const by = dice.pick('contract', [FORWARDER, OTHER, SPLITTER, DELEGATING])
  const wallet = world.at(3)
  const isSplit = by === SPLITTER
  const call = isSplit
    ? { value: hex(2n * valueWei), data: splitTo([wallet, valueWei], [wallet, valueWei]) }
    : { value: hex(valueWei), data: forwardTo(wallet) }
  return (await world.chain.send({ from: world.at(from), to: by, gas: hex(0x80000), ...call })) as Hash
}

/** The operator allows so many contracts to buy, if the chain answers. */
export async function allowContracts(
  { pool, ctx }: World,
  mode: (typeof CONTRACT_WALLET_MODES)[number] = 'all',
): Promise<boolean> {
  const actor = { name: 'operator', requestId: null }
  return !isOperatorRefusal(await setContractWallets({ pool, chain: ctx.chain }, actor, { mode }))
}

/**
 * Traces residues again at once, instead of within a day. @returns true while something is open: the balance is not checked up to
 * the head, a trace can split a residue that is left, or a contract's payment is held although the mode now allows it.
 */
export async function retraceSoon({ pool }: World, lowestWei: bigint, head: number): Promise<boolean> {
  if (!(await isBalanceChecked(pool, head))) return true
  await pool`UPDATE residue_traces SET tried_at = now() - interval '2 days'`
  const waiting = await pool`
    SELECT FROM payments p WHERE state = 'held' AND value_wei >= ${lowestWei.toString()} AND (reason = 'contractWallet' OR tx_hash IS NULL
        AND EXISTS (SELECT FROM payment_verdicts v WHERE v.payment_id = p.id AND v.evidence ->> 'fromBlock' = v.evidence ->> 'toBlock'))
      AND NOT EXISTS (SELECT FROM standing_verdicts v WHERE v.payment_id = p.id AND v.decided_by <> 'pass')`
  return waiting.count > 0
}

/** The states, with reasons, of payments that should have become nodes. */
export async function tellLost({ pool }: World, valueWei: bigint): Promise<readonly object[]> {
  return pool`
    SELECT p.tx_hash AS "txHash", p.from_address AS "from", p.block_number AS block, p.state, p.reason, p.succeeded,
      (SELECT jsonb_agg(v ORDER BY v.id) FROM payment_verdicts v WHERE v.payment_id = p.id) AS verdicts
    FROM payments p WHERE p.value_wei = ${valueWei.toString()} AND p.state NOT IN ('minted', 'orphaned') AND p.tx_hash IS NOT NULL`
}

/** Spends the nonce of a pending transaction of ours on nothing. @returns its hash; null if none is pending. */
export async function cancelByHand({ chain, pool }: World, dice: Dice): Promise<Hash | null> {
  const readPending = () => pool<{ sender: Address; nonce: number }[]>`
    SELECT sender, nonce FROM outbox WHERE state = 'pending' ORDER BY id`
  let pending = await readPending()
  for (let look = 0; look < LOOKS_MAX && pending.length === 0; look++) {
    await sleep(LOOK_MS)
    pending = await readPending()
  }
  if (pending.length === 0) return null
  const { sender, nonce } = dice.pick('cancelled', pending)
  const fees = { maxFeePerGas: hex(2_000n * GWEI), maxPriorityFeePerGas: hex(100n * GWEI) }
  const cancelling = { from: sender, to: sender, value: hex(0), nonce: hex(nonce), gas: hex(21_000), ...fees }
  // It may have been mined a moment ago.
  return await chain.send(cancelling as never).catch(() => null)
}

/** The operator releases or dismisses a held payment of another amount than `but`. @returns true if there was one. */
export async function decideOne({ pool }: World, dice: Dice, but: bigint): Promise<boolean> {
  const held = await pool<{ id: number }[]>`
    SELECT id FROM payments WHERE state = 'held' AND value_wei <> ${but.toString()} ORDER BY id`
  if (held.length === 0) return false
  const actor = { name: 'operator', requestId: null }
  const { id: payment } = dice.pick('decided', held)
  if (dice.roll('released') < 0.5) return !isOperatorRefusal(await dismissPayment({ pool }, actor, { payment }))
  const outcome = await releasePayment({ pool }, actor, { payment })
  if (!isOperatorRefusal(outcome)) return true
  // The operator names the tier if the amount names none.
  return (
    outcome.because === 'invalid' &&
    !isOperatorRefusal(await releasePayment({ pool }, actor, { payment, tierId: 'bulk' }))
  )
}

/**
 * Recounts the places of the tier with a supply from the chain's blocks: who paid has a node, or came too late and the tier is full. If it is sold
 * out, the operator raises the supply from the next block on.
 */
export async function checkScarce(world: World, counts: SoakCounts): Promise<void> {
  const { pool, chain } = world
  const [tier] = await pool<{ supply: number }[]>`
    SELECT supply FROM tiers WHERE tier_id = ${SCARCE_TIER.tierId} AND live`
  const { supply } = tier ?? assert.fail('the tier is not on sale')
  await checkSold(pool, { tier: SCARCE_TIER.tierId, supply })
  const { minted } = await readEvents(world)
  const refs = new Set<string>(minted.map(({ ref }) => ref))
  const paid = (await readBlocks(world)).flatMap(({ number, transactions, timestamp }) =>
    transactions
      .filter(({ to, value }) => to === world.at(3) && BigInt(value) === SCARCE)
      .map(({ hash }) => ({ hash, block: Number(number), time: Number(timestamp) })),
  )
  const sold = paid.filter(({ hash }) => refs.has(hash)).length
  const [onContract] = await world.read<[bigint]>('tierSupply', [BigInt(SCARCE_TIER.tierNo)])
  assert.equal(BigInt(sold), onContract, 'the contract has a node for each payment that got a place, and no others')
  assert.ok(sold <= supply, `${sold} of ${supply} are sold, counted from blocks`)
  const kept = await readKept(pool)
  const oldest = Number((await chain.block()).timestamp) - WAITS_SEC
  // A raise holds from its block on: who paid before it gets a place that comes free below the supply of that time.
  const supplies = await pool<{ from: number; supply: number }[]>`
    SELECT from_block AS "from", supply FROM tiers WHERE tier_id = ${SCARCE_TIER.tierId} ORDER BY version DESC`
  const supplyAt = (block: number) => supplies.find(({ from }) => from <= block)?.supply ?? 0
  const waiting = paid.filter(
    ({ hash, block, time }) => time > oldest && !refs.has(hash) && !kept.has(hash) && sold < supplyAt(block),
  )
  if (waiting.length > 0) {
    const rows =
      await pool`SELECT p.tx_hash, p.block_number, p.state, p.reason, p.tier_id, (SELECT json_agg(v ORDER BY v.id) FROM payment_verdicts v
      WHERE v.payment_id = p.id) AS verdicts FROM payments p WHERE tx_hash = ANY(${waiting.map(({ hash }) => hash)})`
    assert.fail(
      `${sold} of ${supply} are sold, and payments wait for a place: ${JSON.stringify({ rows, supplies }, (_, value) => (typeof value === 'bigint' ? String(value) : value))}`,
    )
  }
  if (sold === supply) {
    counts.sellOuts++
    await enterTier(world, { ...SCARCE_TIER, supply: supply + PLACES })
  }
}
