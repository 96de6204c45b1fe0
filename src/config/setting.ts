// The shape of an entry in the table of settings (table.ts), and what a parser gets.

/** What the parser of a setting may read and report. Messages continue the sentence after the setting's name, and never hold a secret. */
export interface Ask {
  readonly production: boolean
  /** Notes a mistake. */
  refuse(message: string): null
  /** Notes a warning. */
  warn(message: string): void
  /** The text of the file that the setting names; null after a mistake. */
  file(): string | null
}

/** Parses a setting's text. Null after a mistake, so that we still check the other settings. */
export type Parse<Value> = (text: string, ask: Ask) => Value | null

export interface Setting {
  readonly parse: Parse<unknown>
  /**
   * Is or may hold a secret: never shown, and read from NAME_FILE too. `url`: we show only scheme and host, because the URL may carry a password or a
   * key.
   */
  readonly secret?: true | 'url'
  /** The text to use if it is not set. Left out if there is no default, or if the default is not a single text. */
  readonly default?: string
  /** The default on an embedded chain, if it differs. */
  readonly embedded?: string
  /** The default in words, if it is not a single value. */
  readonly otherwise?: string
  readonly example?: string
  /** The part that the setting belongs to. If that part is embedded, it brings its own value. */
  readonly part?: 'database' | 'chain'
  /** Production does not start without it. The text says what to do. */
  readonly required?: string
  /** Fills an empty ledger; from then on the ledger's own value wins. */
  readonly first?: true
  /** Formats a value that has no plain text. */
  show?(value: never): string
  /** The description for people; in Markdown, but without links. */
  readonly text: string
}

export interface SettingGroup {
  readonly title: string
  /** What applies to the whole group. */
  readonly text?: string
  /** Its mistakes are warnings unless one of these settings is set. */
  readonly onlyWith?: readonly string[]
  readonly settings: Readonly<Record<string, Setting>>
}

/** Messages cut a value to this length. */
const SHOWN_CHARS_MAX = 60

/** A non-secret value as messages show it. */
export function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text)
}

/** Scheme and host only: user, password, path and query may each carry a key. */
export function maskUrl(text: string): string {
  const [, scheme, credentials = '', hosts = '', rest = ''] =
    /^([a-z]+:\/\/)(?:([^/?#]*)@)?([^/?#]*)(.*)$/s.exec(text) ?? []
  if (scheme === undefined) return '***'
  return `${scheme}${credentials === '' ? '' : '***@'}${hosts}${rest === '' || rest === '/' ? '' : '/***'}`
}
