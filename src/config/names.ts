// What follows from the table of settings: their names, the types of their values, and the setting that a mistyped name probably means. It must never
// hold a value.
import { editsBetween } from '../lib/edits.ts'
import type { Setting } from './setting.ts'
import { SETTING_GROUPS } from './table.ts'

type Group = (typeof SETTING_GROUPS)[number]['settings']
type NameIn<G> = G extends unknown ? keyof G : never
type EntryOf<Name, G = Group> = G extends unknown ? (Name extends keyof G ? G[Name] : never) : never
type ValueOf<Entry> = Entry extends { parse: (...given: never[]) => infer Value }
  ? NonNullable<Value> | (Entry extends { default: string } ? never : null)
  : never

export type SettingName = NameIn<Group>
/** The values of all settings; null if a setting is not set and has no default. */
export type Settings = { readonly [Name in SettingName]: ValueOf<EntryOf<Name>> }

export const SETTING: Readonly<Record<SettingName, Setting>> = Object.assign(
  {},
  ...SETTING_GROUPS.map(({ settings }) => settings),
)

export const SETTINGS = Object.keys(SETTING) as SettingName[]

export const isSecret = (name: SettingName) => SETTING[name].secret !== undefined

/** Settings that are secrets, or that may contain one. */
export const SECRET_SETTINGS: readonly SettingName[] = SETTINGS.filter(isSecret)

/** We do not guess at names shorter than this, because they are too close to variables of other programs (HOST to HOME). */
const GUESSED_LENGTH_MIN = 8
/** How many letters of a typo may be wrong. In a long name it is one more (PROXY for PROXIES). */
const editsMax = (name: string) => (name.length >= 12 ? 3 : 2)

/** The setting that an unknown variable probably means; null if there is none. */
export function likelyMeant(name: string): SettingName | null {
  const base = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : name
  if (base.length < GUESSED_LENGTH_MIN) return null
  const near = SETTINGS.filter((setting) => setting.length >= GUESSED_LENGTH_MIN)
    .map((candidate) => ({ candidate, edits: editsBetween(base, candidate) }))
    .sort((a, b) => a.edits - b.edits)[0]
  return near !== undefined && near.edits <= editsMax(base) ? near.candidate : null
}
