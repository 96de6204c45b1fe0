// Writes and reads JSON. Amounts are bigint inside and decimal strings outside, because a JSON number loses digits.

/** JSON text of a value, with every bigint in it as a decimal string. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, bigintAsText)
}

const bigintAsText = (_key: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)

/** The object of a JSON text; null if it is not one. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
