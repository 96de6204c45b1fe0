// The pages that `npm run build` made from web/, served by this service itself. Every file is a route of its own, known at start, so we never look up
// a request's path on disk. If a page handles a path itself (a node, an address), that path returns the page.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type DistributionRow,
  readDistributions,
  readStats,
  readTierIds,
  readTiers,
} from '../../db/reads/public-api.ts'
import { TIER_ID_FORM } from '../../domain/tiers.ts'
import type { HttpDeps, HttpSettings } from '../deps.ts'
import { assetRoute, pagePolicy } from '../edge/assets.ts'
import { cachedResponseOf, createMemo } from '../edge/memo.ts'
import { styleSource, withAccent } from '../pages/accent.ts'
import { CHECKOUT, escapeHtml, SHOPS, type ShopFacts, topOf } from '../pages/first-paint.ts'
import { appManifest, type Params, saleOf, withHead } from '../pages/heads.ts'
import { noneIfRefused } from '../refusals.ts'
import type { Outcome, Route } from '../route.ts'
import type { Tools } from '../tools.ts'
import { readQuoteNow } from './deploy-quote.ts'
import { LOGO_PATH, noneWhileAway, readDeployment } from './well-known.ts'

const BUILT = fileURLToPath(new URL('../../../web/dist', import.meta.url))
const INDEX = 'index.html'
/** The public paths; the same as in web/src/app.tsx. */
const PUBLIC_PAGES = [
  '/',
  '/tiers',
  '/rounds',
  '/round/:id',
  '/node/:id',
  '/address/:address',
  '/payment/:hash',
  '/buy',
  CHECKOUT,
  '/owner',
]
/** Paths that are never shown in a frame, because clicks here move money. */
const CONSOLE_PAGES = ['/console', '/console/*']
/** The withdrawal page that owners can save. */
const KEPT = 'withdraw.html'
/** The runbook that alerts link to. */
const RUNBOOK = 'runbook.html'
/** The API's reference. */
const REFERENCE = 'reference.html'
/** Pages whose first paint shows what is on sale. */
const SELLING = [...SHOPS, CHECKOUT]
/** How long we cache what is sold, in seconds; the same as /api/tiers. */
const SOLD_KEPT_SEC = 30
/** Our own icons. A sale with its own logo does not show them. */
const OWN_ICONS = ['favicon.ico', 'apple-touch-icon.png']
/** The policy that a single-file page states itself. */
const OWN_POLICY = /content-security-policy" content="([^"]+)"/
/** Describes the pages to Safe, whose own page reads it. Served only if framing is allowed. */
const MANIFEST = 'manifest.json'
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
}
/** Browsers may keep files under assets/ forever, because their names contain a digest of their content. */
const FOR_EVER = 'public, max-age=31536000, immutable'
const ASK_ANEW = 'public, max-age=0, must-revalidate'
const NOT_BUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Node Ledger</title><link rel="icon" href="data:,"></head>
<body>
<h1>Node Ledger</h1>
<p>The service runs. Its pages have not been built: run <code>npm run build</code>, then start it again.</p>
<p>The same facts are served as JSON: <a href="/docs">the API</a>.</p>
</body>
</html>
`

/** The operator's logo. Opened on its own it is a page of this origin, so its policy allows it nothing. */
const logoRoute = (svg: string): Route =>
  assetRoute({
    path: LOGO_PATH,
    contentType: TYPES['.svg'] ?? '',
    cache: ASK_ANEW,
    policy: "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox",
    content: svg,
    countedAs: 'files',
  })

/** The route of a page. If `html` needs only the path, the page is one fixed file, otherwise it is made for each request. */
function pageRoute(
  path: string,
  policy: string,
  html: string | ((params: Params) => Outcome | Promise<Outcome>),
): Route {
  const route = assetRoute({
    path,
    policy,
    content: typeof html === 'string' ? html : '',
    contentType: TYPES['.html'] ?? '',
    cache: ASK_ANEW,
    countedAs: 'pages',
  })
  return typeof html === 'string' ? route : { ...route, handle: ({ params }) => html(params) }
}

/** The path of the saved page's digest, in the form that `sha256sum --check` reads. */
const DIGEST_PATH = '/.well-known/withdraw.sha256'

/** The page for owners to save, with its sale, colour, contract and chain filled in, and the page's digest. */
function keptRoutes(html: string, ownLogo: string, { settings, checksum }: HttpDeps): Route[] {
  const { factoryAddress, chainId, site, publicUrl } = settings
  const logo = Buffer.from(site?.brand.logo ?? ownLogo).toString('base64')
  const accentedHtml = withAccent(html, saleOf(settings).color)
  const page = accentedHtml
    .replace(styleSource(html) ?? '', styleSource(accentedHtml) ?? '')
    .replace(
      'name="contract" content=""',
      `name="contract" content="${factoryAddress ? checksum(factoryAddress) : ''}"`,
    )
    .replace('name="chain" content=""', `name="chain" content="${chainId}"`)
    .replace('<!--digest-->', new URL(DIGEST_PATH, publicUrl).href)
    .replace(
      '<!--sale-->',
      () =>
        `<img src="data:image/svg+xml;base64,${logo}" alt="" width="28" height="28"> ${escapeHtml(saleOf(settings).name)}`,
    )
  const policy = `${OWN_POLICY.exec(page)?.[1] ?? "default-src 'none'"}; frame-ancestors 'none'`
  const digest = createHash('sha256').update(page).digest('hex')
  return [pageRoute(`/${KEPT}`, policy, page), textRoute(DIGEST_PATH, TYPES['.txt'] ?? '', `${digest}  ${KEPT}\n`)]
}

const textRoute = (path: string, contentType: string, content: string): Route =>
  assetRoute({ path, contentType, cache: ASK_ANEW, content, countedAs: 'files' })

/** Pages that crawlers should find. The others are about a single round, node or wallet. */
const FOUND = ['/', '/buy', '/rounds', '/docs']
const DAY_MS = 86_400_000
/** How long the file is valid. RFC 9116 recommends less than a year. */
const SECURITY_DAYS = 300

const robotsText = ({ publicUrl }: Pick<HttpSettings, 'publicUrl'>): string =>
  `User-agent: *\nDisallow: /console\nDisallow: /api/\nSitemap: ${new URL('/sitemap.xml', publicUrl).href}\n`

const sitemap = ({ publicUrl }: Pick<HttpSettings, 'publicUrl'>): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${FOUND.map((path) => `<url><loc>${new URL(path, publicUrl).href}</loc></url>\n`).join('')}</urlset>\n`

/** Where to report a vulnerability (RFC 9116); null if the operator names no contact. */
function securityText({ publicUrl, site }: Pick<HttpSettings, 'publicUrl' | 'site'>, nowMs: number): string | null {
  const contact = site?.brand.contact
  if (!contact) return null
  const expires = new Date(Math.ceil(nowMs / DAY_MS + SECURITY_DAYS) * DAY_MS).toISOString()
  return `Contact: ${contact}\nExpires: ${expires}\nCanonical: ${new URL('/.well-known/security.txt', publicUrl).href}\n`
}

/** What browsers, crawlers and security researchers look for at fixed paths. */
function fixedRoutes({ settings, clock }: HttpDeps): Route[] {
  const plain = TYPES['.txt'] ?? ''
  const security = securityText(settings, clock())
  return [
    textRoute('/app.webmanifest', 'application/manifest+json; charset=utf-8', appManifest(settings)),
    textRoute('/robots.txt', plain, robotsText(settings)),
    textRoute('/sitemap.xml', 'application/xml; charset=utf-8', sitemap(settings)),
    ...(security === null ? [] : [textRoute('/.well-known/security.txt', plain, security)]),
  ]
}

/** A page carries at most so many of the newest rounds, with so many turns in all, because its first paint waits for them. */
const ROUNDS_MAX = 12
const TURNS_MAX = 72

/** What a page that sells shows first; null while the database is down. */
const readShopFacts = async (tools: Tools, { id = '' }: Params): Promise<ShopFacts | null> => {
  const tierId = TIER_ID_FORM.test(id) ? id : null
  const { deps, queryReplica } = tools
  const [deployment, read] = await Promise.all([
    readDeployment(tools),
    queryReplica(async (sql) => ({
      tiers: (await readTiers(sql)).tiers,
      rounds: fewOf(await readDistributions(sql, ROUNDS_MAX)),
      stats: await readStats(sql),
      quote: tierId === null ? null : noneIfRefused(await readQuoteNow(sql, tierId, deps)),
    })).catch(noneWhileAway),
  ])
  return read && { ...read, deployment }
}

/** The newest rounds, as many as a page can carry with all their turns. */
function fewOf(rounds: readonly DistributionRow[]): DistributionRow[] {
  let room = TURNS_MAX
  const tooMany = rounds.findIndex(({ turns }) => {
    room -= turns.length
    return room < 0
  })
  return rounds.slice(0, tooMany < 0 ? ROUNDS_MAX : tooMany)
}

/** The built page, in the sale's colour. */
function indexOf(settings: HttpSettings): string {
  const file = join(BUILT, INDEX)
  return existsSync(file) ? withAccent(readFileSync(file, 'utf8'), saleOf(settings).color) : NOT_BUILT
}

/** The page for unknown paths. It has no path of its own. */
export function notFoundPage(settings: HttpSettings): Route {
  const html = withHead(indexOf(settings), settings, { path: '/404' })
  const page: Outcome = { ...cachedResponseOf(html), isFixed: true, status: 404 }
  const policy = pagePolicy(settings.publicRpcUrl, [], styleSource(html))
  return { ...pageRoute('/404', policy, () => page), cache: 'no-store' }
}

/** The routes of all pages and of the files they load. */
export function pages(tools: Tools): Route[] {
  const { cached, deps, queryReplica } = tools
  const { settings } = deps
  const { publicRpcUrl, frameAncestors, site } = settings
  const logo = site?.brand.logo ?? null
  const files = existsSync(join(BUILT, INDEX))
    ? readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in TYPES)
    : []
  // Read at start, so that a later build cannot mix two versions.
  const textOf = (name: string) => readFileSync(join(BUILT, name), 'utf8')
  const indexHtml = indexOf(settings)
  const style = styleSource(indexHtml)
  const policyFor = (ancestors: readonly string[] = []) => pagePolicy(publicRpcUrl, ancestors, style)
  const memo = createMemo<readonly string[]>({ clock: deps.monotonicClock, changes: deps.changes, bytesOf: () => 0 })
  const tierIds = async () => memo.get('', SOLD_KEPT_SEC * 1000, () => queryReplica(readTierIds))
  const hasTier = async (id: string) => (await tierIds().catch(noneWhileAway))?.includes(id)
  // We serve pages while the database is down, so a first paint may leave out what is on sale.
  const selling = (path: string, params: Params) => async () =>
    withHead(indexHtml, settings, { path, params, facts: await readShopFacts(tools, params) })
  const page = (path: string, policy: string) => {
    if (!SELLING.includes(path))
      return pageRoute(
        path,
        policy,
        path.includes(':')
          ? (params) => cachedResponseOf(withHead(indexHtml, settings, { path, params }))
          : withHead(indexHtml, settings, { path }),
      )
    return pageRoute(path, policy, async (params) => {
      // All ids that no tier has share one page, so it must not show any of them.
      const { id = '' } = params
      const ids = TIER_ID_FORM.test(id) && (await hasTier(id)) ? params : {}
      return cached(`page ${path} ${ids.id ?? ''}`, SOLD_KEPT_SEC, selling(path, ids))
    })
  }
  const document = (path: string, name: string) =>
    files.includes(name) ? [pageRoute(path, policyFor(), documentPage(indexHtml, settings, path, textOf(name)))] : []
  const exceptFiles = [INDEX, KEPT, RUNBOOK, REFERENCE, ...(logo === null ? [] : OWN_ICONS)]
  const isServed = (name: string) => !exceptFiles.includes(name) && (name !== MANIFEST || frameAncestors.length > 0)
  return [
    ...(logo === null ? [] : [logoRoute(logo)]),
    ...PUBLIC_PAGES.map((path) => page(path, policyFor(frameAncestors))),
    ...CONSOLE_PAGES.map((path) => page(path, policyFor())),
    ...fixedRoutes(deps),
    ...(files.includes(KEPT) ? keptRoutes(textOf(KEPT), textOf('icon.svg'), deps) : []),
    ...document('/docs', REFERENCE),
    ...document('/runbook.html', RUNBOOK),
    ...files.filter(isServed).map((name) =>
      assetRoute({
        path: `/${name.replaceAll('\\', '/')}`,
        contentType: TYPES[extname(name)] ?? '',
        cache: name.startsWith('assets') ? FOR_EVER : ASK_ANEW,
        content: readFileSync(join(BUILT, name)),
        cors: name === MANIFEST,
        countedAs: 'files',
      }),
    ),
  ]
}

const ROOT = /<div id="root">.*?<\/div>\s*<noscript>.*?<\/noscript>/s

/**
 * A document in the pages' frame, made by `npm run build`: the runbook, or the API's reference. It reads without a script, which only adds the search
 * and the foot. `{origin}` in it is the service's own.
 */
function documentPage(html: string, settings: HttpSettings, path: string, content: string): string {
  return withHead(html, settings, { path }).replace(
    ROOT,
    () =>
      `<div id="root"><div id="top">${topOf(saleOf(settings), path)}</div><main id="main" class="width document">${content.replaceAll('{origin}', settings.publicUrl)}</main><div id="bottom"></div></div>`,
  )
}
