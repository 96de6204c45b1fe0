// The shape of an entry in the table of settings (table.ts).

/** The kind of value in a setting's text; the readers of values.ts accept names of their own kind only. */
export type Kind =
  | 'word'
  | 'text'
  | 'path'
  | 'host'
  | 'port'
  | 'whole'
  | 'seconds'
  | 'wei'
  | 'switch'
  | 'address'
  | 'hash'
  | 'list'
  | 'url'
  | 'key'

export interface Setting {
  readonly name: string
  readonly kind: Kind
  /** Is or may hold a secret (a URL may carry a password or a key): never shown, and read from NAME_FILE too. */
  readonly secret?: true
  /** The value where it is not set, as `node-ledger config` shows it; left out: none, or none that is one text. */
  readonly default?: string
  /** The same where the chain is embedded, if it differs. */
  readonly embedded?: string
  /** The default in words, where it is not a single value. */
  readonly otherwise?: string
  readonly example?: string
  /** For people; in Markdown, but without links. */
  readonly text: string
}

export interface SettingGroup {
  readonly title: string
  /** Applies to the whole group. */
  readonly text?: string
  readonly settings: readonly Setting[]
}
