// The deny list: wallets whose payments the operator wants to see first, an exchange's for one. What comes from them is held
// `senderDenied`, from the next payment that is judged on.
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { allowWallet, denyWallet, readDenyList } from '../db/payments/deny-list.ts'
import type { Address } from '../domain/units.ts'
import type { LedgerDb } from '../passes/context.ts'
import { type Actor, type Fields, type OperatorRefusal, recordAct, refuseAct } from './act.ts'
import { readFields } from './input.ts'

/** GET senders: all wallets on the list, by address. */
export async function listDenyList(deps: LedgerDb): Promise<object> {
  return { senders: await readDenyList(deps.pool) }
}

/** POST senders `{address, label, reason}`: puts a wallet on the list, or changes its label or reason. */
export async function addToDenyList(deps: LedgerDb, actor: Actor, input: Fields): Promise<object | OperatorRefusal> {
  const fields = readFields(input)
  const address = fields.address('address')
  const label = fields.text('label', { max: 64 })
  const reason = fields.text('reason')
  if (fields.refusal) return fields.refusal
  return inTransaction(deps.pool, async (sql) => {
    const before = await find(sql, address)
    await denyWallet(sql, { address, label, reason, addedBy: actor.name })
    await recordAct(sql, actor, { action: 'senderDenied', subject: address, before, after: { label, reason } })
    return { sender: await find(sql, address) }
  })
}

/** POST senders/:address/remove `{reason?}`: takes a wallet off the list. What was held for it stays held until it is decided. */
export async function removeFromDenyList(
  deps: LedgerDb,
  actor: Actor,
  input: Fields,
): Promise<object | OperatorRefusal> {
  const fields = readFields(input)
  const address = fields.address('address')
  const reason = fields.textOrNull('reason')
  if (fields.refusal) return fields.refusal
  return inTransaction(deps.pool, async (sql) => {
    const before = await find(sql, address)
    if (!(await allowWallet(sql, address))) return refuseAct('notFound', 'That wallet is not on the list.')
    await recordAct(sql, actor, { action: 'senderAllowed', subject: address, before, reason })
    return { address, removed: true }
  })
}

async function find(sql: Sql, address: Address) {
  const found = (await readDenyList(sql)).find((sender) => sender.address === address)
  return found ?? null
}
