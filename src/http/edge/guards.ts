// Parses what callers send: addresses, ids, limits, hashes. Owns the syntax of every input, and never asks the ledger or the chain. Refuses
// everything that is not exactly right, and never trims, rounds or guesses.
import { ENTRIES_MAX } from '../../db/reads/public-api.ts'
import { TURNS_PER_ROUND_MAX } from '../../domain/rounds/round-plan.ts'
import { type Address, type Hash, UINT256_MAX } from '../../domain/units.ts'
import { type Refusal, refuse } from '../refusals.ts'

/** Digits of 2^256 - 1. Checked before a text becomes a bigint, which is slow for long texts. */
const ID_DIGITS_MAX = UINT256_MAX.toString().length
const LIMIT_DEFAULT = 50

/** An address in lower case, in upper case, or in mixed case with the right EIP-55 checksum. */
export function parseAddress(value: unknown, checksum: (address: Address) => string): Address | Refusal {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value)) return refuse('badAddress')
  const lower = value.toLowerCase() as Address
  if (lower === value || value.slice(2) === value.slice(2).toUpperCase()) return lower
  return checksum(lower) === value ? lower : refuse('badAddress')
}

/** A positive whole number up to 2^256 - 1, in its canonical spelling. */
export function parseId(value: unknown): bigint | Refusal {
  return parsePositive(value) ?? refuse('badId')
}

/** A block's number. */
export function parseBlock(value: unknown): bigint | Refusal {
  return parsePositive(value) ?? refuse('badBlock')
}

/** A chain node id in a body: a decimal string, or a number that is a safe integer. */
export function parseNodeId(value: unknown): bigint | Refusal {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  return parsePositive(text) ?? refuse('badNodeId')
}

function parsePositive(value: unknown): bigint | null {
  if (typeof value !== 'string' || value.length > ID_DIGITS_MAX || !/^[1-9][0-9]*$/.test(value)) return null
  const id = BigInt(value)
  return id > UINT256_MAX ? null : id
}

/** `limit` of a query: 1 to 200, 50 if absent. */
export const parseLimit = (query: Query): number | Refusal =>
  parseWhole(query, 'limit', [1, ENTRIES_MAX, LIMIT_DEFAULT]) ?? refuse('badLimit')

/** `offset` of a query: 0 (also if absent) to 1999, because a round has at most 2,000 turns. */
export const parseOffset = (query: Query): number | Refusal =>
  parseWhole(query, 'offset', [0, TURNS_PER_ROUND_MAX - 1, 0]) ?? refuse('badOffset')

/** A whole number; `usual` if absent. Null if out of bounds, repeated or written as a list (`limit[]=5`). */
function parseWhole(query: Query, name: 'limit' | 'offset', [min, max, usual]: [number, number, number]) {
  for (const key in query) {
    if (key.startsWith(`${name}[`)) return null
  }
  const value = query[name] ?? String(usual)
  if (typeof value !== 'string' || !/^(0|[1-9][0-9]{0,3})$/.test(value)) return null
  return Number(value) >= min && Number(value) <= max ? Number(value) : null
}

/** A transaction hash, in any case. */
export function parseHash(value: unknown): Hash | Refusal {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(value)) return refuse('badHash')
  return value.toLowerCase() as Hash
}

/** A parsed query. A name that occurs more than once has a list of values. We ignore names that no route uses. */
export interface Query {
  limit?: string | string[]
  offset?: string | string[]
  after?: string | string[]
  tier?: string | string[]
  address?: string | string[]
  payment?: string | string[]
}
