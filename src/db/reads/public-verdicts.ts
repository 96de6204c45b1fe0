// The judge's verdicts with their evidence, and the terms of the sale in a block: all that anyone needs to recompute a verdict. Nothing here reveals
// the deny list or the operator's decisions. If one of these decided a payment, its verdict reads as null, like that of a payment not judged yet.
import { decidingIn } from '../../domain/tiers.ts'
import { isoOf } from '../../domain/units.ts'
import { readCursor } from '../blocks/blocks.ts'
import type { Fragment, Sql } from '../core/sql.ts'
import { readPaymentWallets } from '../sale/payment-wallets.ts'
import { readTierVersions } from '../sale/tiers.ts'

/** Evidence that is public as it is stored. What the rule did not examine is null. */
const SHOWN = `receivedWei expectedWei tierId tierVersion byGrace wallet blockHash graceSec opensAfter allowlist allocation used allowance nodesOfTier
  inFlightOfTier walletMax walletNodes walletInFlight countedAtBlock holdingToken holdingNeededWei holdingReadWei payerCode supply sold
  reserved place`
const SHOWN_FIELDS = SHOWN.split(/\s+/)
  .map((name) => `'${name}', v.evidence -> '${name}'`)
  .join(', ')

/** The judge's verdict that applies to a payment `p`. A verdict on it in another block, or by anyone else, does not show. */
export const verdictOf = (sql: Sql): Fragment => sql`(
  SELECT jsonb_build_object('kind', v.verdict, 'reason', v.reason, 'evidence', jsonb_build_object('txIndex', p.tx_index, 'innerIndex', p.inner_index,
    ${sql.unsafe(SHOWN_FIELDS)}, 'opensAt', iso(to_timestamp((v.evidence ->> 'opensAt')::bigint)), 'closesAt', iso(to_timestamp((v.evidence ->> 'closesAt')::bigint)),
    'opened', CASE WHEN v.evidence ->> 'openedBlock' IS NOT NULL THEN jsonb_build_object('blockNumber', v.evidence -> 'openedBlock',
      'txIndex', v.evidence -> 'openedTxIndex', 'innerIndex', v.evidence -> 'openedInnerIndex') END))
  FROM (SELECT * FROM standing_verdicts s WHERE s.payment_id = p.id ORDER BY s.id DESC LIMIT 1) v
  WHERE v.decided_by = 'pass' AND v.evidence ->> 'blockHash' = p.block_hash
    AND (v.verdict = 'accepted' AND p.state IN ('accepted', 'minting', 'minted')
      OR v.verdict = 'held' AND p.state = 'held' AND p.reason = v.reason AND v.reason <> 'senderDenied'))`

/** GET /api/sale/:block: the tiers' versions that may decide on payments in a block, and the payments wallets. Null for a block not followed yet. */
export async function readSale(sql: Sql, block: bigint): Promise<object | null> {
  const cursor = await readCursor(sql)
  if (cursor === null || block > BigInt(cursor.number)) return null
  const blockNumber = Number(block)
  const versions = decidingIn(await readTierVersions(sql), blockNumber).map((one) => ({
    tierId: one.tierId,
    version: one.version,
    tierNo: one.tierNo,
    priceWei: one.priceWei,
    onSale: one.onSale,
    maxPerWallet: one.maxPerWallet,
    holdingWei: one.holdingWei,
    holdingToken: one.holdingToken,
    graceSec: one.graceSec,
    supply: one.supply,
    opensAt: isoOf(one.opensAt),
    closesAt: isoOf(one.closesAt),
    opensAfter: one.opensAfter,
    opened: one.opened,
    allowlist: one.allowlist,
    fromBlock: one.fromBlock,
    fromAt: isoOf(one.fromTime),
  }))
  // We also list wallets that are not in force yet, because a payment to one of them is a sale.
  const wallets = (await readPaymentWallets(sql))
    .filter(({ watchedFrom }) => watchedFrom <= blockNumber)
    .map(({ wallet: address, fromBlock, fromTime, stolen, graceSec, closedBlock }) => {
      return { address, fromBlock, fromAt: isoOf(fromTime), graceSec: stolen ? 0 : graceSec, closedBlock }
    })
  return { blockNumber, versions, wallets }
}
