// The shape of an entry in the table of settings (table.ts), and what a parser may use.

/** What the parser of a setting may read and report. A message is appended to the setting's name ("PORT is …"). It must never contain a secret. */
export interface Ask {
  readonly production: boolean
  /** Notes a mistake. */
  refuse(message: string): null
  /** Notes a warning. */
  warn(message: string): void
  /** The text of the file that the setting names; null after a mistake. */
  file(): string | null
}

/** Parses a setting's text. Returns null after a mistake, so that the other settings are still checked. */
export type Parse<Value> = (text: string, ask: Ask) => Value | null

export interface Setting {
  readonly parse: Parse<unknown>
  /**
   * Set if the value is a secret or may contain one. It is never shown, and can also be read from NAME_FILE. If it is `url`, we show its scheme and
   * host, because only the other parts of the URL may carry a password or a key.
   */
  readonly secret?: true | 'url'
  /** The text to use if the setting is not set. Left out if there is no default, or if `otherwise` describes it. */
  readonly default?: string
  /** The default on an embedded chain, if it differs from `default`. */
  readonly embedded?: string
  /** A description of the default, if it is not a single value. */
  readonly otherwise?: string
  readonly example?: string
  /** The part that the setting is about. If that part is embedded, it brings its own value. */
  readonly part?: 'database' | 'chain'
  /** Set if production does not start without the setting. The text explains what to do. */
  readonly required?: string
  /** Set if the value only fills an empty ledger. From then on the ledger's own value counts. */
  readonly first?: true
  /** Formats the value, if it is not plain text. */
  show?(value: never): string
  /** The description for people, in Markdown without links. */
  readonly text: string
}

export interface SettingGroup {
  readonly title: string
  /** A description of the whole group. */
  readonly text?: string
  readonly settings: Readonly<Record<string, Setting>>
}

/** Messages cut off values after this many characters. */
const SHOWN_CHARS_MAX = 60

/** A value in the form in which messages show it. Do not use it for secrets. */
export function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text)
}

/** The scheme and the hosts of a URL. Anything else may carry a key: user, password, path and query. */
export function maskUrl(text: string): string {
  const [, scheme, credentials = '', hosts = '', rest = ''] =
    /^([a-z]+:\/\/)(?:([^/?#]*)@)?([^/?#]*)(.*)$/s.exec(text) ?? []
  if (scheme === undefined) return '***'
  return `${scheme}${credentials === '' ? '' : '***@'}${hosts}${rest === '' || rest === '/' ? '' : '/***'}`
}
