// Checks that a browser's request comes from one of our own pages. The configured origin decides, never the `Host` header, which the caller chooses.

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Builds the test: true if a request has our `Origin`, or has none (then no browser sent it across sites). */
export function originCheck(publicUrl: string): (origin: string | undefined) => boolean {
  const own = new URL(publicUrl)
  return (origin) => {
    if (origin === undefined || origin === own.origin) return true
    // On the operator's own machine, the service has several names.
    if (!LOOPBACK.has(own.hostname) || !URL.canParse(origin)) return false
    const other = new URL(origin)
    return (
      LOOPBACK.has(other.hostname) &&
      other.port === own.port &&
      other.protocol === own.protocol &&
      other.origin === origin
    )
  }
}
