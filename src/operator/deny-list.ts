// The deny list: wallets whose payments the operator wants to see first, an exchange's for one. What comes from them is held
// `senderDenied`, from the next payment that is judged on.
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { sumWaiting } from '../db/operator/sums.ts'
import { allowWallet, denyWallet, readDenyList } from '../db/payments/deny-list.ts'
import type { Address } from '../domain/units.ts'
import type { LedgerDb } from '../passes/context.ts'
import { recordAct, refuseAct } from './act.ts'
import { defineAct, defineGuardedAct } from './define-act.ts'

/** GET senders: all wallets on the list, by address. */
export async function listDenyList(deps: LedgerDb): Promise<object> {
  return { senders: await readDenyList(deps.pool) }
}

/** POST senders `{address, label, reason}`: puts a wallet on the list, or changes its label or reason. */
export const addToDenyList = defineAct({
  read: (fields) => ({
    address: fields.address('address'),
    label: fields.text('label', { max: 64 }),
    reason: fields.text('reason'),
  }),
  run: ({ pool }: LedgerDb, actor, { address, label, reason }) =>
    inTransaction(pool, async (sql) => {
      const before = await find(sql, address)
      await denyWallet(sql, { address, label, reason, addedBy: actor.name })
      await recordAct(sql, actor, { action: 'senderDenied', subject: address, before, after: { label, reason } })
      return { sender: await find(sql, address) }
    }),
})

/**
 * POST senders/:address/remove `{reason?}`: takes a wallet off the list. What was held for it stays held until it is decided, unless a
 * reorganisation has it judged again.
 */
export const removeFromDenyList = defineGuardedAct({
  name: 'removeFromDenyList',
  scope: 'decide',
  read: (fields) => ({ address: fields.address('address'), reason: fields.textOrNull('reason') }),
  sum: (sql, { address }) => sumWaiting(sql, address, 'senderDenied'),
  run: ({ pool }: LedgerDb, actor, { address, reason }) =>
    inTransaction(pool, async (sql) => {
      const before = await find(sql, address)
      if (!(await allowWallet(sql, address))) return refuseAct('notFound', 'That wallet is not on the list.')
      await recordAct(sql, actor, { action: 'senderAllowed', subject: address, before, reason })
      return { address, removed: true }
    }),
})

async function find(sql: Sql, address: Address) {
  const found = (await readDenyList(sql)).find((sender) => sender.address === address)
  return found ?? null
}
