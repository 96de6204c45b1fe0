// Turns JSON into the types of types.ts, according to the API's names: a name that ends in Wei is an amount, a name
// that ends in At is a time.

const TIME = /(At|^due|^since)$/
const AMOUNT = /Wei$/

/**
 * Replaces amounts (strings) with bigint and times (strings) with Date, at any depth. Leaves everything else unchanged.
 */
export function revive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revive)
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(value)) copy[key] = reviveField(key, field)
  return copy
}

function reviveField(key: string, field: unknown): unknown {
  if (typeof field !== 'string') return revive(field)
  if (AMOUNT.test(key)) return BigInt(field)
  return TIME.test(key) ? new Date(field) : field
}
