// What must hold for ether that reaches or leaves the payments wallet by calls, computed from the chain's own traces. Each transfer is in
// the ledger once, as itself or in a residue, to the wei; and no payer bought who might not, by the modes and by what was proven of them.
import assert from 'node:assert/strict'
import { readBlockTransfers } from '../../../src/chain/evidence/trace/block.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import type { Hex } from '../../support/anvil.ts'
import { ETHER } from '../../support/world.ts'
import type { Play } from '../play.ts'
import { FIRST_BLOCK } from '../stage.ts'

const PAYMENTS_WALLET = 3
/** The price of the tier that is always on sale to anyone. */
const PLUS = ETHER / 40n

/** A payment, as far as its payer's rights depend on it; `inner` is 0 for a transaction's own transfer. */
interface Paid {
  inner: number
  from: Address
  block: number
}

interface Rights {
  /** It may have become a node, by a mode in force in its block or later. */
  may: boolean
  /** It must, if there is room, by the present rules. */
  must: boolean
}
const NONE: Rights = { may: false, must: false }
const ALL: Rights = { may: true, must: true }

/** What a payer may buy, by its code after the payment's block. */
export async function payersRights(play: Play): Promise<(payment: Paid) => Promise<Rights>> {
  const { observer, chain } = play.stage
  const modes = await observer<{ mode: string; from: number }[]>`
    SELECT mode, from_block AS "from" FROM contract_wallet_modes ORDER BY from_block`
  const shown = await observer<{ address: Address }[]>`
    SELECT address FROM allowed_wallets UNION SELECT address FROM proven_wallets`
  const { known } = play.stage.payers
  const isShown = (of: Address) => of === known || shown.some(({ address }) => address === of)
  const modeAt = (block: number) => modes.findLast(({ from }) => from <= block)?.mode ?? 'hold'
  const head = Number((await chain.block()).number)
  return async ({ inner, from, block }) => {
    if (inner === 0) return ALL
    const code = await chain.rpc<Hex>('eth_getCode', [from, `0x${block.toString(16)}`])
    if (code.startsWith('0xef0100')) return ALL
    if (code === '0x') return NONE
    const since = [
      modeAt(block),
      ...modes.filter((entry) => entry.from > block && entry.from <= head).map(({ mode }) => mode),
    ]
    const now = [modeAt(block), modeAt(head)]
    return {
      may: since.includes('all') || (since.includes('proven') && (from === known || play.everShown.has(from))),
      must: now.includes('all') || (now.includes('proven') && isShown(from)),
    }
  }
}

interface Entry {
  txHash: Hash
  index: number
  /** The payer, or the payee. Null if the ledger does not keep it. */
  other: Address | null
  value: bigint
}

/** The ledger has each internal transfer as itself, or in a residue, and no other. */
export async function checkInside(play: Play): Promise<void> {
  const { observer, world } = play.stage
  const wallet = world.at(PAYMENTS_WALLET)
  const truth = await transfersOf(play, wallet)
  const told = await observer<(Entry & { direction: 'in' | 'out' })[]>`
    SELECT 'in' AS direction, tx_hash AS "txHash", inner_index AS index, from_address AS other, value_wei AS value FROM payments
      WHERE inner_index > 0 AND state <> 'orphaned'
    UNION ALL SELECT 'in', '0x' || encode(tx_hash, 'hex'), inner_index, NULL, value_wei FROM dust WHERE inner_index > 0
    UNION ALL SELECT 'out', tx_hash, inner_index, to_address, value_wei FROM wallet_outflows WHERE inner_index > 0`
  const left = new Map(truth.map((transfer) => [keyOf(transfer), transfer]))
  assert.equal(left.size, truth.length)
  for (const entry of told) {
    const found = left.get(keyOf(entry))
    assert.ok(found, `the ledger has a transfer by a call that no trace shows, or has it twice: ${keyOf(entry)}`)
    assert.equal(entry.value, found.value, keyOf(entry))
    if (entry.other !== null) assert.equal(entry.other, found.other, keyOf(entry))
    left.delete(keyOf(entry))
  }
  const [residues] = await observer<{ in: bigint; out: bigint }[]>`
    SELECT (SELECT coalesce(sum(value_wei), 0) FROM payments WHERE tx_hash IS NULL AND state <> 'orphaned') AS in,
      (SELECT coalesce(sum(value_wei), 0) FROM wallet_outflows WHERE tx_hash IS NULL) AS out`
  const untold = [...left.values()].reduce(
    (sum, { direction, value }) => sum + (direction === 'in' ? value : -value),
    0n,
  )
  assert.equal(
    BigInt(residues?.in ?? 0) - BigInt(residues?.out ?? 0),
    untold,
    'residues are what is not told apart, to the wei',
  )
  await checkRetraced(play)
}

const keyOf = ({ direction, txHash, index }: { direction: string; txHash: Hash; index: number }) =>
  `${direction} ${txHash} ${index}`

/** The wallet's internal transfers, by the chain's own traces of its blocks. */
async function transfersOf({ stage }: Play, wallet: Address) {
  const head = Number((await stage.chain.block()).number)
  const found: (Entry & { direction: 'in' | 'out' })[] = []
  for (let number = FIRST_BLOCK; number <= head; number++) {
    const hash = (await stage.chain.block(number)).hash as Hash
    const transfers = await readBlockTransfers(stage.world.rpc, { at: { number, hash }, wallets: [wallet] })
    assert.ok(transfers, `block ${number} is not traced`)
    for (const { direction, txHash, index, other, valueWei } of transfers)
      found.push({ direction, txHash, index, other, value: valueWei })
  }
  return found
}

/** Without faults no residue stays that could hold a sale, unless its block is unknown, or the operator has decided about it. */
async function checkRetraced({ stage: { observer } }: Play): Promise<void> {
  const whole = await observer<{ ref: Hash; value: bigint }[]>`
    SELECT ref, value_wei AS value FROM payments p WHERE tx_hash IS NULL AND state = 'held' AND value_wei >= ${PLUS.toString()}
      AND EXISTS (SELECT FROM payment_verdicts v WHERE v.payment_id = p.id AND v.evidence ->> 'fromBlock' = v.evidence ->> 'toBlock')
      AND NOT EXISTS (SELECT FROM standing_verdicts v WHERE v.payment_id = p.id AND v.decided_by <> 'pass')
    UNION ALL SELECT ref, -value_wei FROM wallet_outflows
      WHERE tx_hash IS NULL AND value_wei >= ${PLUS.toString()} AND from_block = block_number`
  assert.deepEqual([...whole], [], 'a residue of one block that could hold a sale is told apart')
}

/** True if no residue is left that could hold a sale. */
export async function isAllTold({ stage: { observer } }: Play): Promise<boolean> {
  const whole = await observer`
    SELECT FROM payments WHERE tx_hash IS NULL AND state <> 'orphaned' UNION ALL
    SELECT FROM wallet_outflows WHERE tx_hash IS NULL`
  return whole.count === 0
}
