// Finds the payer of value that came by an internal call: the operator names the transaction, the provider's trace of it is the proof.
// With a proven payer the payment can be released like any other, to that payer and no other.
import { innerRefs } from '../chain/digest.ts'
import { inTransaction } from '../db/core/sql.ts'
import { notifyLedgerChanged } from '../db/core/state.ts'
import { attribute, readStanding } from '../db/payments/attributions.ts'
import { readForReview, readResidueRange } from '../db/payments/decisions.ts'
import { decideRefs } from '../db/payments/identity.ts'
import type { ChainRead, LedgerDb } from '../passes/context.ts'
import { type Actor, type Fields, isOperatorRefusal, type OperatorRefusal, recordAct, refuseAct } from './act.ts'
import { readMined } from './mined.ts'
import { lockHeld, readPaymentAct } from './payments.ts'

/** A payment with its payer. It is held still, or minted: where its node is on chain already, that is its node. */
export interface Attribution {
  id: number
  txHash: string
  innerIndex: number
  from: string
  ref: string
  status: string
  /** Chain node id; null where it has none. */
  nodeId: string | null
}

/** POST payments/:payment/attribute `{txHash, reason?}`: for a payment held `unattributed`. */
export async function attributePayment(
  deps: LedgerDb & ChainRead,
  actor: Actor,
  input: Fields,
): Promise<Attribution | OperatorRefusal> {
  const asked = readPaymentAct(input, (fields) => ({ txHash: fields.hash('txHash') }))
  if (isOperatorRefusal(asked)) return asked
  const { key, txHash, reason } = asked
  const to = (await readForReview(deps.pool, key, { lock: false }))[0]?.wallet ?? null
  const tx = await readMined(deps, 'transaction', txHash)
  if (isOperatorRefusal(tx)) return tx
  // A payment that is not there is refused under its lock.
  const transfers = to === null ? [] : await deps.chain.innerTransfers(txHash, to)
  if (transfers === null)
    return refuseAct(
      'unavailable',
      'The provider cannot trace that transaction: add one that speaks debug_traceTransaction.',
    )
  return inTransaction(deps.pool, async (sql) => {
    const payment = await lockHeld(sql, key)
    if (isOperatorRefusal(payment)) return payment
    if (payment.from !== null) return refuseAct('conflict', `The payment is known to come from ${payment.from}.`)
    const range = await readResidueRange(sql, payment.id)
    if (!range || tx.blockNumber < range.fromBlock || tx.blockNumber > range.toBlock)
      return refuseAct('invalid', `The transaction is in block ${tx.blockNumber}, where this value did not arrive.`)
    const transfer = transfers.find(({ valueWei }) => valueWei === payment.valueWei)
    if (!transfer)
      return refuseAct(
        'invalid',
        `The transaction made no inner transfer of ${payment.valueWei} wei to the payments wallet.`,
      )
    const { index: innerIndex, from } = transfer
    const identity = { txHash, wallet: payment.wallet, innerIndex, from }
    const [ref] = await decideRefs(sql, [{ ...identity, ...innerRefs(txHash, payment.wallet, innerIndex) }])
    if (!ref) throw new Error('a ref is decided for each transfer')
    const place = { ref, txHash, txIndex: tx.txIndex, innerIndex, from }
    const { ref: residueRef, wallet, valueWei } = payment
    if (!(await attribute(sql, { residueRef, wallet, valueWei, ...place, by: actor.name })))
      return refuseAct('conflict', 'That transfer is another payment already.')
    await recordAct(sql, actor, { action: 'attributed', subject: txHash, after: { id: payment.id, ...place }, reason })
    await notifyLedgerChanged(sql)
    const { state: status, nodeId } = await readStanding(sql, payment.id)
    return { id: payment.id, txHash, innerIndex, from, ref, status, nodeId }
  })
}
