// Values in records as text, and the fields that differ between two records.
import { everySpan, exactTime, sentenceCase, times } from '../format.ts'
import { etherAndWei } from './amounts.ts'

/** A name of the API in words: "tierSoldOut" is "tier sold out". Readers know a cohort as a group, a distribution as a round. A unit goes, because the value shows it. */
export const inWords = (name: string): string =>
  name
    .replace(/(Wei|Bps|Sec)$/, '')
    .replace(/[a-z0-9](?=[A-Z])/g, '$& ')
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replace(/\bcohort/g, 'group')
    .replace(/\bdistribution/g, 'round')

/** A heading in words: "Node" for nodeId, "Minted" for mintedAt. */
export const headingOf = (name: string): string =>
  sentenceCase(
    name === 'at'
      ? 'when'
      : inWords(name.replace(/(?<=[a-z])(Id|No|TxHash|At)$/, '').replace(/^txHash$/, 'transaction')),
  )

/** The actor of what the service does by itself. */
export const SERVICE = 'pass'

/** Who entered something. What came from the settings at the first start has that start as its actor. */
export const actorOf = (actor: string): string => (actor === 'start' ? 'the settings' : actor)

/** "15 minutes". */
export const spanOf = (seconds: number): string => {
  const span = everySpan(seconds)
  return /^\d/.test(span) ? span : `1 ${span}`
}

/** An amount of a token other than ether, whose decimals we do not know here. */
const TOKEN = /^holding/

/** A value in a record as text, in the unit that its name shows. */
export function inUnits(name: string, value: unknown): string {
  if (name.endsWith('Sec') && typeof value === 'number' && value > 0) return spanOf(value)
  if (/At$/.test(name) && typeof value === 'number' && value > 0) return exactTime(new Date(value * 1_000))
  if (value instanceof Date) return exactTime(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (name === 'payoutBps' && typeof value === 'number') return times(value)
  const isWei = name.endsWith('Wei') && !TOKEN.test(name)
  if (isWei && typeof value === 'bigint') return etherAndWei(value)
  if (isWei && typeof value === 'string' && /^\d+$/.test(value)) return etherAndWei(BigInt(value))
  return asText(value)
}

/** No value. */
export const NONE = '–'

/** Any value in a record, as text. */
export function asText(value: unknown): string {
  if (value === null || value === undefined) return NONE
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'object')
    return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? inner.toString() : inner))
  return String(value)
}

export interface FieldChange {
  name: string
  before: string
  after: string
}

/** The fields that differ between two records; every field if the record is new. */
export function changesOf(before: unknown, after: unknown): FieldChange[] {
  const [old, fresh] = [recordOf(before), recordOf(after)]
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])]
    .filter((name) => name in fresh && asText(old[name]) !== asText(fresh[name]))
    .map((name) => ({ name, before: inUnits(name, old[name]), after: inUnits(name, fresh[name]) }))
}

/** The name that `recordOf` gives a value that is no record. */
export const PLAIN = 'value'

/** The fields of a record. A list gives the fields of each of its entries, numbered if there are several; a plain value gives a single field. */
function recordOf(value: unknown): Record<string, unknown> {
  if (value === null || value === undefined) return {}
  if (typeof value !== 'object') return { [PLAIN]: value }
  if (!Array.isArray(value)) return { ...value }
  if (value.length === 1) return recordOf(value[0])
  const entries = value.flatMap((entry, index) =>
    Object.entries(recordOf(entry)).map(([name, of]) => [`${index + 1}. ${name}`, of] as const),
  )
  return Object.fromEntries(entries)
}
