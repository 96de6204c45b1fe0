// What is said of a setting in the table of settings (table.ts).

/** What a setting's text is read as; the readers of values.ts take names of their own kind only. */
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
  /** The default in words, where it is no value. */
  readonly otherwise?: string
  readonly example?: string
  /** For people; in Markdown, though without links. */
  readonly text: string
}

export interface SettingGroup {
  readonly title: string
  /** Holds for the whole group. */
  readonly text?: string
  readonly settings: readonly Setting[]
}
