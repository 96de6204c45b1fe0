// POST /api/payments/claim: "look at this transaction now". The hash is only a pointer: we read everything from the chain, and the node goes to the
// sender of the ether. A second claim changes nothing. The answer is the payment's current state, so pages can poll it. A contract may make several
// payments in one transaction.
import { inOne, type PaymentRow, readPaymentsIn } from '../../../db/reads/public-payments.ts'
import { readWalletInForce } from '../../../db/sale/payment-wallets.ts'
import type { Hash } from '../../../domain/units.ts'
import { toJson } from '../../../lib/json.ts'
import type { ClaimOutcome } from '../../../ports/outcomes.ts'
import { parseHash } from '../../edge/guards.ts'
import { isRefusal, refuse } from '../../refusals.ts'
import type { Outcome, Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'

/**
 * How long an answer may take; after that, 503. A claim takes at most 12 s once it starts (`REQUEST_POLL_POLICY`: 8 s to read the transaction, 4 s
 * for the ledger to follow to its block). The other time is for its wait in the queue.
 */
const DEADLINE_MS = 20_000

export const claim = (tools: Tools): Route => ({
  path: '/api/payments/claim',
  methods: ['POST'],
  limitPerMinute: 20,
  cache: 'no-store',
  cors: true,
  takesJson: true,
  deadlineMs: DEADLINE_MS,
  handle: async ({ body, client }) => {
    const txHash = parseHash(body.txHash)
    if (isRefusal(txHash)) return txHash
    const claiming = () => claimed(tools, txHash)
    return (await tools.chainLine.run(`claim ${txHash}`, client, claiming)) ?? refuse('busy')
  },
})

async function claimed({ deps: { passes }, queryPrimary }: Tools, txHash: Hash): Promise<Outcome> {
  const outcome = await passes.claim(txHash)
  switch (outcome.kind) {
    case 'notFound':
    case 'pending':
      return refuse('notYetKnown')
    case 'notASale':
      // Without a payments wallet there are no sales.
      return refuse((await queryPrimary(readWalletInForce)) === null ? 'noPaymentAddress' : 'notASale')
    case 'dust':
      return refuse('dust')
    case 'following':
    case 'known': {
      const payments = await queryPrimary((sql) => readPaymentsIn(sql, txHash))
      return payments === null ? unfollowed(txHash, outcome) : answerOf(payments)
    }
  }
}

function answerOf(payments: readonly PaymentRow[]): Outcome {
  if (payments.every(({ status }) => status === 'ignored')) return refuse('notASale')
  // These payments are on record, and the operator may still release them, but they are not what the caller claims.
  if (payments.every(({ status, reason }) => status === 'held' && reason === 'wrongAmount'))
    return refuse('wrongAmount')
  return { json: toJson(inOne(payments)) }
}

/** The answer if the ledger has not reached the payment's block: state `seen`, with what the chain shows about the payment. */
function unfollowed(txHash: Hash, outcome: ClaimOutcome): Outcome {
  if (outcome.kind !== 'following') return refuse('notYetKnown')
  const { from, valueWei, blockNumber } = outcome
  const rest = {
    tierId: null,
    valueWei,
    blockNumber,
    paidAt: null,
    assurance: null,
    nodeId: null,
    mintTxHash: null,
    refundTxHash: null,
    updatedAt: null,
  }
  const payment = { txHash, status: 'seen', reason: null, waitsForPlace: false, from, ...rest }
  return { json: toJson({ ...payment, payments: [payment] }) }
}
