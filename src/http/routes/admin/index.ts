// Every route under /api/admin. Documented in docs/ADMIN.md and api/admin.yaml; never in api/openapi.yaml, which is the public surface only.
import { attributePayment } from '../../../operator/attribute.ts'
import { listAudit } from '../../../operator/audit.ts'
import {
  allowContractWallet,
  disallowContractWallet,
  listContractWallets,
  setContractWallets,
} from '../../../operator/contract-wallets.ts'
import { decideMany, dismissAllDust, dismissPayment, releasePayment } from '../../../operator/decide.ts'
import { addToDenyList, listDenyList, removeFromDenyList } from '../../../operator/deny-list.ts'
import { grantNode, listUnpaid, revokeGrant } from '../../../operator/grants.ts'
import { clearHaltByHand, pause, resume } from '../../../operator/pause.ts'
import {
  changeWallet,
  closeBooks,
  listWallets,
  previewWallet,
  takeBackWallet,
} from '../../../operator/payment-wallets.ts'
import { countPayments, readPayments, showHistory, showPayment } from '../../../operator/payments.ts'
import { refundPayment } from '../../../operator/refunds/refund.ts'
import { prepareRefunds } from '../../../operator/refunds/refund-many.ts'
import { cancelRefund, prepareRefund } from '../../../operator/refunds/refunding.ts'
import { rescan } from '../../../operator/rescan.ts'
import { enterTerms, listTerms, previewTerms, takeBackTerms } from '../../../operator/terms.ts'
import { changeTier, createTier, listTiers, setOnSale } from '../../../operator/tiers.ts'
import type { Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'
import { adminOpenapi } from '../openapi.ts'
import { financeRoutes } from './finance.ts'
import { notFoundBelow } from './guard.ts'
import { actRoute, bothRoute, readingRoute } from './route.ts'
import { webhookRoutes } from './webhooks.ts'

export const adminRoutes: readonly ((tools: Tools) => Route)[] = [
  readingRoute('payments', readPayments),
  readingRoute('payments/counts', countPayments),
  readingRoute('payments/:payment', showPayment),
  readingRoute('payments/:payment/history', showHistory),
  actRoute('payments/dismiss', dismissAllDust),
  actRoute('payments/decide', decideMany),
  actRoute('payments/refunds/prepare', prepareRefunds),
  actRoute('payments/:payment/attribute', attributePayment),
  actRoute('payments/:payment/release', releasePayment),
  actRoute('payments/:payment/dismiss', dismissPayment),
  actRoute('payments/:payment/refund', refundPayment),
  actRoute('payments/:payment/refund/prepare', prepareRefund),
  actRoute('payments/:payment/refund/cancel', cancelRefund),
  bothRoute('tiers', listTiers, createTier),
  actRoute('tiers/:tierId', changeTier),
  actRoute('tiers/:tierId/sale', setOnSale),
  bothRoute('terms', listTerms, enterTerms),
  actRoute('terms/preview', previewTerms),
  actRoute('terms/take-back', takeBackTerms),
  bothRoute('payment-wallets', listWallets, changeWallet),
  actRoute('payment-wallets/preview', previewWallet),
  actRoute('payment-wallets/take-back', takeBackWallet),
  actRoute('payment-wallets/close', closeBooks),
  bothRoute('contract-wallets', listContractWallets, setContractWallets),
  actRoute('contract-wallets/allow', allowContractWallet),
  actRoute('contract-wallets/:address/disallow', disallowContractWallet),
  actRoute('pause', pause),
  actRoute('resume', resume),
  actRoute('halt/clear', clearHaltByHand),
  actRoute('rescan', rescan),
  readingRoute('nodes/unpaid', listUnpaid),
  actRoute('nodes/:nodeId/grant', grantNode),
  actRoute('nodes/:nodeId/revoke', revokeGrant),
  bothRoute('senders', listDenyList, addToDenyList),
  actRoute('senders/:address/remove', removeFromDenyList),
  readingRoute('audit', listAudit),
  ...financeRoutes,
  ...webhookRoutes,
  adminOpenapi,
  ...notFoundBelow,
]
