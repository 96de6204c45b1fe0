// Writes and reads JSON. Amounts are bigints in the code and decimal strings in JSON, because a JSON number would lose digits.

/** The JSON text of a value, with every bigint in it as a decimal string. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, bigintAsText)
}

const bigintAsText = (_key: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)

/** The object that a JSON text holds; null if the text holds no object. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
