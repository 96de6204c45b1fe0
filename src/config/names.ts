// The names of the table's settings, and the setting that a mistyped name resembles. It must never hold a value.
import type { Kind } from './setting.ts'
import { SETTING_GROUPS } from './table.ts'

type Entry = (typeof SETTING_GROUPS)[number]['settings'][number]

export type SettingName = Entry['name']
export type SecretSetting = Extract<Entry, { readonly secret: true }>['name']
export type PlainSetting = Exclude<SettingName, SecretSetting>
/** The settings of a kind. */
export type SettingOf<Kinds extends Kind> = Extract<Entry, { readonly kind: Kinds }>['name']

const ENTRIES: readonly Entry[] = SETTING_GROUPS.flatMap(({ settings }) => [...settings])
const isSecretEntry = (entry: Entry) => 'secret' in entry

/** Settings whose value is shown as it is. */
const PLAIN_SETTINGS = ENTRIES.filter((entry) => !isSecretEntry(entry)).map(({ name }) => name) as PlainSetting[]

/** Settings that are or may hold a secret. */
export const SECRET_SETTINGS = ENTRIES.filter(isSecretEntry).map(({ name }) => name) as SecretSetting[]

export const SETTINGS: readonly SettingName[] = [...PLAIN_SETTINGS, ...SECRET_SETTINGS]

export function isSecret(name: SettingName): name is SecretSetting {
  return (SECRET_SETTINGS as readonly string[]).includes(name)
}

/** Shorter names are too close to other programs' variables (HOST to HOME) for a guess. */
const GUESSED_LENGTH_MIN = 8
/** Letters that a typo changes; long names leave room for one more (PROXY for PROXIES). */
const editsMax = (name: string) => (name.length >= 12 ? 3 : 2)

/** The setting that an unknown variable probably meant, or null. */
export function likelyMeant(name: string): SettingName | null {
  const base = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : name
  if (base.length < GUESSED_LENGTH_MIN) return null
  const near = SETTINGS.filter((known) => known.length >= GUESSED_LENGTH_MIN)
    .map((known) => ({ known, edits: editsBetween(base, known) }))
    .sort((a, b) => a.edits - b.edits)[0]
  return near !== undefined && near.edits <= editsMax(base) ? near.known : null
}

/** The edit distance: letters to add, drop or change to get from one word to the other. */
export function editsBetween(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, j) => j)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const change = (previous[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      row[j] = Math.min(change, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
    }
    previous = row
  }
  return previous[to.length] ?? 0
}
