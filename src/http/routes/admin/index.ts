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
import { confirmProposal, listProposals, refuseProposal } from '../../../operator/second-person/proposals.ts'
import { setSecondPerson, showSecondPerson } from '../../../operator/second-person/rule.ts'
import { enterTerms, listTerms, previewTerms, takeBackTerms } from '../../../operator/terms.ts'
import { changeTier, createTier, listTiers, setOnSale } from '../../../operator/tiers.ts'
import type { Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'
import { adminOpenapi } from '../openapi.ts'
import { financeRoutes } from './finance.ts'
import { notFoundBelow } from './guard.ts'
import { keyRoutes } from './keys.ts'
import { actRoute, bothRoute, readingRoute } from './route.ts'
import { webhookRoutes } from './webhooks.ts'

export const adminRoutes: readonly ((tools: Tools) => Route)[] = [
  readingRoute('payments', readPayments),
  readingRoute('payments/counts', countPayments),
  readingRoute('payments/:payment', showPayment),
  readingRoute('payments/:payment/history', showHistory),
  actRoute('payments/dismiss', 'decide', dismissAllDust),
  actRoute('payments/decide', 'decide', decideMany),
  actRoute('payments/refunds/prepare', 'decide', prepareRefunds),
  actRoute('payments/:payment/attribute', 'decide', attributePayment),
  actRoute('payments/:payment/release', 'decide', releasePayment),
  actRoute('payments/:payment/dismiss', 'decide', dismissPayment),
  actRoute('payments/:payment/refund', 'decide', refundPayment),
  actRoute('payments/:payment/refund/prepare', 'decide', prepareRefund),
  actRoute('payments/:payment/refund/cancel', 'decide', cancelRefund),
  bothRoute('tiers', listTiers, 'prices', createTier),
  actRoute('tiers/:tierId', 'prices', changeTier),
  actRoute('tiers/:tierId/sale', 'prices', setOnSale),
  bothRoute('terms', listTerms, 'terms', enterTerms),
  actRoute('terms/preview', 'terms', previewTerms),
  actRoute('terms/take-back', 'terms', takeBackTerms),
  bothRoute('payment-wallets', listWallets, 'terms', changeWallet),
  actRoute('payment-wallets/preview', 'terms', previewWallet),
  actRoute('payment-wallets/take-back', 'terms', takeBackWallet),
  actRoute('payment-wallets/close', 'terms', closeBooks),
  bothRoute('contract-wallets', listContractWallets, 'terms', setContractWallets),
  actRoute('contract-wallets/allow', 'decide', allowContractWallet),
  actRoute('contract-wallets/:address/disallow', 'decide', disallowContractWallet),
  readingRoute('proposals', listProposals),
  // Any key may ask: the scope is that of the act which was proposed.
  actRoute('proposals/:id/confirm', null, confirmProposal),
  actRoute('proposals/:id/refuse', null, refuseProposal),
  bothRoute('second-person', showSecondPerson, 'operate', setSecondPerson),
  actRoute('pause', 'operate', pause),
  actRoute('resume', 'operate', resume),
  actRoute('halt/clear', 'operate', clearHaltByHand),
  actRoute('rescan', 'operate', rescan),
  readingRoute('nodes/unpaid', listUnpaid),
  actRoute('nodes/:nodeId/grant', 'decide', grantNode),
  actRoute('nodes/:nodeId/revoke', 'decide', revokeGrant),
  bothRoute('senders', listDenyList, 'decide', addToDenyList),
  actRoute('senders/:address/remove', 'decide', removeFromDenyList),
  readingRoute('audit', listAudit),
  ...financeRoutes,
  ...webhookRoutes,
  ...keyRoutes,
  adminOpenapi,
  ...notFoundBelow,
]
