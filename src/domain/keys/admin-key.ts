// Admin keys in the ledger: their scopes, their labels, and who holds one.

/**
 * What a key may do: read; decide about payments, nodes and senders; change prices; change terms and payments wallets; operate the service itself.
 */
export const SCOPES = ['read', 'decide', 'prices', 'terms', 'operate'] as const
export type Scope = (typeof SCOPES)[number]

/** Labels of keys, in the ledger and in ADMIN_KEY. */
export const LABEL_FORM = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/
/** The service's own names in the ledger. An operator with such a name would be mistaken for the service, and their decisions would be lost. */
export const OUR_NAMES: readonly string[] = ['pass', 'start', 'seed', 'rebuild', 'refundCheck']

/** The holder of a key that the guard has accepted. */
export interface KeyHolder {
  /** The actor in the audit log. */
  readonly label: string
  /** Of the key; of a session, of its passkey's credential id. In hex. */
  readonly digest: string
  readonly scopes: readonly Scope[]
  /** Null for a key from ADMIN_KEY, which is not in the ledger. */
  readonly keyId: number | null
  readonly expiresAt: Date | null
  /** The passkey that signed in, if the key is a session. */
  readonly passkey: { readonly id: number; readonly endsAt: Date; readonly signedInAt: Date } | null
}

/** Those of the `scopes` that `held` lacks. */
export const missingScopes = (ownScopes: readonly Scope[], scopes: readonly Scope[]): Scope[] =>
  scopes.filter((scope) => !ownScopes.includes(scope))
