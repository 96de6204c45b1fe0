// Writes JSON. Amounts are bigints in the code and decimal strings in JSON, because a JSON number would lose digits.

/** The JSON text of a value, with every bigint in it as a decimal string. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, bigintAsText)
}

const bigintAsText = (_key: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)
