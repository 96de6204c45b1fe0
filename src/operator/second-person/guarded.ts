// The acts that may wait for a second person, by the name that proposals have. An act declares its guard itself; one that is not listed here
// could be proposed and never confirmed.
import type { Scope } from '../../domain/keys/admin-key.ts'
import type { Act } from '../act.ts'
import { attributePayment } from '../attribute.ts'
import { allowContractWallet, setContractWallets } from '../contract-wallets.ts'
import { decideMany, releasePayment } from '../decide.ts'
import { removeFromDenyList } from '../deny-list.ts'
import { grantNode } from '../grants.ts'
import { changeWallet, closeBooks, takeBackWallet } from '../payment-wallets.ts'
import { prepareRefunds } from '../refunds/refund-many.ts'
import { cancelRefund, prepareRefund } from '../refunds/refunding.ts'
import { enterTerms, takeBackTerms } from '../terms.ts'
import { setSecondPerson } from './rule.ts'

interface Confirmable {
  readonly proposedAs: string
  readonly scope: Scope
  /** Does the act, and judges it again. */
  readonly unguarded: Act
}

const GUARDED: readonly Confirmable[] = [
  ...[releasePayment, decideMany, attributePayment],
  ...[prepareRefund, prepareRefunds, cancelRefund],
  ...[allowContractWallet, setContractWallets, removeFromDenyList, grantNode],
  ...[enterTerms, takeBackTerms, changeWallet, takeBackWallet, closeBooks],
  setSecondPerson,
]
const BY_NAME = new Map(GUARDED.map((act) => [act.proposedAs, act]))

/** The act that was proposed under this name; null if this version has none. */
export const actOf = (name: string): Confirmable | null => BY_NAME.get(name) ?? null
