// Reads and writes cookies. A name that occurs twice has no value, because an attacker may have set one of the two.

/** Values by name of a `cookie` header; null for a name that occurs more than once. */
export type Cookies = ReadonlyMap<string, string | null>

const NONE: Cookies = new Map()

export function readCookies(header: string | undefined): Cookies {
  if (header === undefined) return NONE
  const cookies = new Map<string, string | null>()
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (equals < 0) continue
    const name = pair.slice(0, equals).trim()
    cookies.set(name, cookies.has(name) ? null : pair.slice(equals + 1).trim())
  }
  return cookies
}

/** A `set-cookie` value: httpOnly, SameSite=Lax, for the whole site, `Secure` in production. Age 0 deletes it. */
export function writeCookie(name: string, value: string, maxAgeSec: number, secure: boolean): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSec}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
}
