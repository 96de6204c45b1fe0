// The table of the operator's acts and readings: everything that the modules named here declare. Routes, api/admin.yaml and docs/CLI.md come from
// it. src/cli/commands.ts names the modules again, because it loads one subject at a time.
import * as allowlists from './acts/allowlists/acts.ts'
import * as attribute from './acts/attribute.ts'
import * as audit from './acts/audit.ts'
import * as exports from './acts/books/exports.ts'
import * as reconciliation from './acts/books/reconciliation.ts'
import * as statement from './acts/books/statement.ts'
import * as trends from './acts/books/trends.ts'
import * as contractWallets from './acts/contract-wallets.ts'
import * as decide from './acts/decide.ts'
import * as denyList from './acts/deny-list.ts'
import * as evidence from './acts/evidence.ts'
import * as grants from './acts/grants.ts'
import * as adminKeys from './acts/keys/admin-keys.ts'
import * as passkeys from './acts/keys/passkeys.ts'
import * as signIn from './acts/keys/sign-in.ts'
import * as pause from './acts/pause.ts'
import * as paymentWallets from './acts/payment-wallets.ts'
import * as payments from './acts/payments.ts'
import * as preview from './acts/preview.ts'
import * as recheck from './acts/recheck.ts'
import * as referrals from './acts/referrals/codes.ts'
import * as commissions from './acts/referrals/commissions.ts'
import * as refunding from './acts/refunds/prepare.ts'
import * as refundAll from './acts/refunds/prepare-all.ts'
import * as refundMany from './acts/refunds/prepare-many.ts'
import * as refund from './acts/refunds/record.ts'
import * as rescan from './acts/rescan.ts'
import * as proposals from './acts/second-person/proposals.ts'
import * as rule from './acts/second-person/rule.ts'
import * as terms from './acts/terms.ts'
import * as tiers from './acts/tiers.ts'
import * as transactions from './acts/transactions.ts'
import * as webhooks from './acts/webhooks.ts'
import { type Operation, operationsOf } from './define-act.ts'

const MODULES = [
  ...[
    payments,
    decide,
    attribute,
    refund,
    refundMany,
    refundAll,
    refunding,
    tiers,
    allowlists,
    referrals,
    commissions,
    terms,
    paymentWallets,
    contractWallets,
  ],
  ...[pause, recheck, rescan, evidence, grants, denyList],
  ...[statement, exports, transactions, trends, preview, reconciliation],
  ...[adminKeys, passkeys, signIn, rule, proposals, webhooks, audit],
]

export const OPERATIONS: readonly Operation[] = operationsOf(MODULES)
