// The minter's and the distributor's transactions, and the rounds, in pages for the operator.
import { listNoncesAhead, readNonceAhead, writeNonceAhead } from '../../db/sends/nonce-ahead.ts'
import { readRounds, readStuck, readTransactions, TRANSACTION_STATES } from '../../db/sends/transactions.ts'
import { STUCK_AFTER_BLOCKS, whyStuck } from '../../domain/send.ts'
import type { LedgerDb } from '../../ports/contexts.ts'
import { refuseAct } from '../act.ts'
import { defineAct, defineReading } from '../define-act.ts'
import * as field from '../input.ts'

export const listTransactions = defineReading({
  path: 'transactions',
  command: 'transactions list',
  group: 'books',
  summary: 'list the transactions of our signer accounts, newest first: nonce, state, gas, fees',
  examples: ['transactions list --status reverted', 'transactions list --limit 5 --json'],
  fields: {
    sender: field.orNull(field.address('only those of this account')),
    status: field.orNull(
      field.word('pending, mined, reverted or displaced', TRANSACTION_STATES, {
        value: 'status',
        schema: 'TransactionStatus',
      }),
    ),
    ...field.PAGE,
  },
  run: async ({ pool }: LedgerDb, { limit, cursor, ...filter }) => {
    const rows = await readTransactions(pool, { ...filter, before: cursor, limit: limit + 1 })
    return field.pageOf('transactions', rows, limit)
  },
  columns: [
    ['signed', 'createdAt'],
    ...['sender', 'nonce', 'kind'],
    ['attempts', 'attempts', 'size'],
    ...['status', 'pendingSec'],
    ['block', 'blockNumber'],
    ['gas', 'gasUsed'],
    ['fee', 'feeWei'],
    ['transaction', 'txHash'],
  ],
})

/**
 * Signer accounts that cannot send because the providers report a nonce that no followed block confirms. Also transactions that are in no block after
 * 12 blocks, each with the reason.
 */
export const listStuck = defineReading({
  path: 'transactions/stuck',
  command: 'transactions stuck',
  group: 'books',
  summary: 'list signer accounts and transactions that are stuck, and why',
  details: `If providers report a higher nonce than followed blocks explain, the account sends nothing, because someone else used its key or a
provider is wrong. The service adopts the nonce after 64 blocks in which all agree; "transactions free" adopts it immediately.

A transaction is listed if it is in no block after 12. Reasons: 'nonce', its account cannot send; 'behind', an earlier one is stuck; 'over', it has expired, and the next run sends its work again; 'fee', blocks ask for more, and the service raises it up to FEE_CAP_WEI; 'refused', the providers reject it; 'waiting', they have it.`,
  examples: ['transactions stuck'],
  fields: {},
  run: readAllStuck,
})

async function readAllStuck(deps: LedgerDb) {
  const senders = await listNoncesAhead(deps.pool)
  const ahead = new Set(senders.map(({ sender }) => sender))
  const stuck = await readStuck(deps.pool, STUCK_AFTER_BLOCKS)
  const transactions = stuck.map(({ isOver, isBehind, ...row }) => {
    const { sender, lastOutcome, maxFeeWei, baseFeeWei } = row
    const isCheap = baseFeeWei !== null && maxFeeWei < baseFeeWei
    return { ...row, why: whyStuck({ isOver, isBehind, lastOutcome, isAhead: ahead.has(sender), isCheap }) }
  })
  return { senders, transactions }
}

/** The next run of the pass that holds the key adopts the nonce, if the providers still agree. */
export const takeOverNonce = defineAct({
  path: 'transactions/free',
  scope: 'operate',
  command: 'transactions free',
  group: 'books',
  summary:
    'adopt the nonce that the providers report for a signer account, and replace transactions that can no longer be mined',
  examples: ['transactions free <address>'],
  args: ['sender'],
  fields: { sender: field.address('the account, as "transactions stuck" lists it'), reason: field.REASON },
  change: async ({ sql, record }, { sender }) => {
    const before = await readNonceAhead(sql, sender)
    if (before === null)
      return refuseAct('conflict', 'Followed blocks confirm every nonce that providers report for this sender.')
    const after = { ...before, takeOver: true }
    await writeNonceAhead(sql, sender, after)
    record({ action: 'senderFreed', subject: sender, before, after })
    return { sender, ...after }
  },
  says: 'The next run adopts the nonce that the providers report, if they still agree, and replaces transactions that cannot be mined.',
})

export const listRounds = defineReading({
  path: 'rounds',
  command: 'rounds list',
  group: 'books',
  summary: 'list the rounds, newest first, with what they credited and cost',
  examples: ['rounds list'],
  fields: field.PAGE,
  run: async ({ pool }: LedgerDb, { limit, cursor }) =>
    field.pageOf('rounds', await readRounds(pool, { before: cursor, limit: limit + 1 }), limit),
  columns: [
    ['round', 'id'],
    ['block time', 'createdAt'],
    ['nodes', 'nodeCount'],
    ['cohorts', 'turns', 'size'],
    ['ETH', 'totalWei'],
    'mode',
    ['fee', 'feeWei'],
    ['transaction', 'txHash'],
  ],
})
