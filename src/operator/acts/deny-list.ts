// The deny list: wallets whose payments the operator wants to review first, such as an exchange's wallet. Once a wallet is on the list, its payments
// are held as `senderDenied` when judged.
import { sumWaiting } from '../../db/operator/sums.ts'
import { allowWallet, denyWallet, findDenied, readDenyList } from '../../db/payments/deny-list.ts'
import type { LedgerDb } from '../../ports/contexts.ts'
import { refuseAct } from '../act.ts'
import { defineAct, defineGuardedAct, defineReading } from '../define-act.ts'
import * as field from '../input.ts'

const OTHERWISE = 'No change.'

/** The list, by address. */
export const listDenyList = defineReading({
  path: 'senders',
  command: 'senders list',
  summary: 'list the wallets whose payments the service holds for your review',
  examples: ['senders list'],
  fields: {},
  run: async ({ pool }: LedgerDb) => ({ senders: await readDenyList(pool) }),
  columns: ['address', 'label', ['reason', 'reason', 'text'], 'addedBy', 'addedAt'],
})

/** If the wallet is already on the list, replaces its label and reason. */
export const addToDenyList = defineAct({
  path: 'senders',
  scope: 'decide',
  command: 'senders deny',
  summary: "hold every payment of a wallet, for example an exchange's, which pays for many people",
  examples: ['senders deny <address> --label "an exchange" --reason "pays for many people" --yes'],
  args: ['address'],
  fields: {
    address: field.address('the wallet'),
    label: field.text('whose wallet it is', { max: 64 }),
    reason: field.REASON_WANTED,
  },
  asks: 'Hold its payments?',
  otherwise: OTHERWISE,
  change: async ({ sql, actor, record }, { address, label, reason }) => {
    const before = await findDenied(sql, address)
    const sender = await denyWallet(sql, { address, label, reason, addedBy: actor.name })
    record({ action: 'senderDenied', subject: address, before, after: { label, reason } })
    return { sender }
  },
  preview: ({ sender: { address, label } }) =>
    `Every later payment of ${address} (${label}) is held for your review (senderDenied).`,
  says: 'Payments of this wallet are held from now on.',
})

/**
 * Payments held because of the entry stay held until they are decided. But if a reorganisation makes us judge them again, the entry no longer counts.
 */
export const removeFromDenyList = defineGuardedAct({
  path: 'senders/:address/remove',
  scope: 'decide',
  command: 'senders allow',
  summary: 'take a wallet off the deny list; held payments stay held until you decide',
  examples: ['senders allow <address> --yes'],
  fields: { address: field.address('the wallet'), reason: field.REASON },
  asks: 'Take it off the list?',
  otherwise: OTHERWISE,
  proposedAs: 'removeFromDenyList',
  sum: (sql, { address }) => sumWaiting(sql, address, 'senderDenied'),
  change: async ({ sql, record }, { address }) => {
    const before = await allowWallet(sql, address)
    if (!before) return refuseAct('notFound', 'That wallet is not on the list.')
    record({ action: 'senderAllowed', subject: address, before })
    return { address, removed: true }
  },
  preview: ({ address }) =>
    `Later payments of ${address} are no longer held. Payments that are held stay held until you decide.`,
  says: 'Taken off the list. Payments that are held stay held until you decide.',
})
