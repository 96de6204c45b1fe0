// The table of the operator's acts and readings: everything that the modules named here declare. Routes, api/admin.yaml and docs/ADMIN.md come from
// it. So do commands, one subject at a time (src/cli/commands.ts).
import * as allowlists from './allowlists/acts.ts'
import * as attribute from './attribute.ts'
import * as audit from './audit.ts'
import * as exports from './books/exports.ts'
import * as reconciliation from './books/reconciliation.ts'
import * as statement from './books/statement.ts'
import * as trends from './books/trends.ts'
import * as contractWallets from './contract-wallets.ts'
import * as decide from './decide.ts'
import { type Operation, operationsOf } from './define-act.ts'
import * as denyList from './deny-list.ts'
import * as grants from './grants.ts'
import * as adminKeys from './keys/admin-keys.ts'
import * as passkeys from './keys/passkeys.ts'
import * as signIn from './keys/sign-in.ts'
import * as pause from './pause.ts'
import * as paymentWallets from './payment-wallets.ts'
import * as payments from './payments.ts'
import * as preview from './preview.ts'
import * as proofs from './proofs.ts'
import * as referrals from './referrals/codes.ts'
import * as commissions from './referrals/commissions.ts'
import * as refund from './refunds/refund.ts'
import * as refundMany from './refunds/refund-many.ts'
import * as refunding from './refunds/refunding.ts'
import * as rescan from './rescan.ts'
import * as proposals from './second-person/proposals.ts'
import * as rule from './second-person/rule.ts'
import * as terms from './terms.ts'
import * as tiers from './tiers.ts'
import * as transactions from './transactions.ts'
import * as webhooks from './webhooks.ts'

const MODULES = [
  ...[
    payments,
    decide,
    attribute,
    refund,
    refundMany,
    refunding,
    tiers,
    allowlists,
    referrals,
    commissions,
    terms,
    paymentWallets,
    contractWallets,
  ],
  ...[pause, rescan, proofs, grants, denyList, statement, exports, transactions, trends, preview, reconciliation],
  ...[adminKeys, passkeys, signIn, rule, proposals, webhooks, audit],
]

export const OPERATIONS: readonly Operation[] = operationsOf(MODULES)
