// Files that crawlers, phones and security researchers look for at fixed paths.
import type { HttpSettings } from '../deps.ts'

/** Pages that crawlers should find. The others are about a single round, node or wallet. */
const FOUND = ['/', '/buy', '/rounds', '/docs']
const DAY_MS = 86_400_000
/** How long the file is valid. RFC 9116 recommends less than a year. */
const SECURITY_DAYS = 300

export const robotsText = ({ publicUrl }: Pick<HttpSettings, 'publicUrl'>): string =>
  `User-agent: *\nDisallow: /console\nDisallow: /api/\nSitemap: ${new URL('/sitemap.xml', publicUrl).href}\n`

export const sitemap = ({ publicUrl }: Pick<HttpSettings, 'publicUrl'>): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${FOUND.map((path) => `<url><loc>${new URL(path, publicUrl).href}</loc></url>\n`).join('')}</urlset>\n`

/** Where to report a vulnerability (RFC 9116); null if the operator names no contact. */
export function securityText(
  { publicUrl, site }: Pick<HttpSettings, 'publicUrl' | 'site'>,
  nowMs: number,
): string | null {
  const contact = site?.brand.contact
  if (!contact) return null
  const expires = new Date(Math.ceil(nowMs / DAY_MS + SECURITY_DAYS) * DAY_MS).toISOString()
  return `Contact: ${contact}\nExpires: ${expires}\nCanonical: ${new URL('/.well-known/security.txt', publicUrl).href}\n`
}
