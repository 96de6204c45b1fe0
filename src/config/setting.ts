// The shape of an entry in the table of settings (table.ts), and what a parser is given.

/** What the parser of a setting may ask and say. Messages continue after the setting's name, and never hold a secret. */
export interface Ask {
  readonly production: boolean
  /** Notes a mistake. */
  refuse(message: string): null
  /** Notes a warning. */
  warn(message: string): void
  /** The text of the file that the setting names; null after a mistake. */
  file(): string | null
}

/** Makes a value of a setting's text; null after a mistake, so that the other settings are still checked. */
export type Parse<Value> = (text: string, ask: Ask) => Value | null

export interface Setting {
  readonly parse: Parse<unknown>
  /**
   * Is or may hold a secret: never shown, and read from NAME_FILE too. `url`: of a URL, which may carry a password or a key, scheme and
   * host are shown.
   */
  readonly secret?: true | 'url'
  /** The text that holds where it is not set; left out: none, or none that is one text. */
  readonly default?: string
  /** The same where the chain is embedded, if it differs. */
  readonly embedded?: string
  /** The default in words, where it is not a single value. */
  readonly otherwise?: string
  readonly example?: string
  /** What it belongs to: where that part is embedded, it brings its own value. */
  readonly part?: 'database' | 'chain'
  /** Production does not start without it; says what to do. */
  readonly required?: string
  /** Fills a ledger that is empty; what the ledger has goes before it from then on. */
  readonly first?: true
  /** Makes a text of a value that has no plain one. */
  show?(value: never): string
  /** For people; in Markdown, but without links. */
  readonly text: string
}

export interface SettingGroup {
  readonly title: string
  /** Applies to the whole group. */
  readonly text?: string
  /** Its mistakes are warnings unless one of these settings is set. */
  readonly onlyWith?: readonly string[]
  readonly settings: Readonly<Record<string, Setting>>
}

/** A variable's value is cut to this length in messages. */
const SHOWN_CHARS_MAX = 60

/** The form of a non-secret value in a message. */
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
