// The states and reasons of payments. They are the keys of records typed by api/admin.yaml, so the compiler reports a missing one.
import type { components } from '../../../../api/admin.ts'

type Schemas = components['schemas']

/** The colour of each state. States that wait for the operator come first. */
export const TONES = {
  held: 'warn',
  seen: 'calm',
  accepted: 'calm',
  minting: 'calm',
  minted: 'good',
  refunded: 'calm',
  dismissed: 'calm',
  orphaned: 'bad',
  ignored: 'calm',
} as const satisfies Record<Schemas['PaymentStatus'], string>
export const STATES = Object.keys(TONES)

/** The state that each reason belongs to. */
const STATE_FOR: Readonly<Record<NonNullable<Schemas['NullablePaymentReason']>, 'held' | 'ignored'>> = {
  wrongAmount: 'held',
  saleClosed: 'held',
  notOpenYet: 'held',
  soldOut: 'held',
  notListed: 'held',
  tierAllowance: 'held',
  walletLimit: 'held',
  holding: 'held',
  senderDenied: 'held',
  contractWallet: 'held',
  unattributed: 'held',
  mintReverted: 'held',
  supplySpent: 'held',
  mintedElsewhere: 'held',
  oldWallet: 'held',
  recheck: 'held',
  refunding: 'held',
  self: 'ignored',
  operator: 'ignored',
  zero: 'ignored',
  failed: 'ignored',
}

/** The reasons that a payment in this state can have; all of them if no state is given. */
export const reasonsOf = (status: string | undefined): readonly string[] =>
  Object.entries(STATE_FOR).flatMap(([reason, state]) => (status === undefined || status === state ? [reason] : []))
