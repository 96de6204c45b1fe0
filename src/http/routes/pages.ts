// The pages: what `npm run build` made from web/, served by this service itself. Every file is a route of its own, known at start, so no path of a
// request is ever looked up on disk. Paths that a page handles itself (a node, an address) answer with the page.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HttpSettings } from '../deps.ts'
import { Asset, assetRoute, pagePolicy } from '../edge/assets.ts'
import { cachedResponseOf } from '../edge/memo.ts'
import { appManifest, type Params, withHead } from '../pages/heads.ts'
import type { Route } from '../route.ts'
import type { Tools } from '../tools.ts'
import { LOGO_PATH } from './well-known.ts'

const BUILT = fileURLToPath(new URL('../../../web/dist', import.meta.url))
const INDEX = 'index.html'
/** The same as in web/src/app.tsx. */
const PUBLIC_PAGES = [
  '/',
  '/tiers',
  '/rounds',
  '/round/:id',
  '/node/:id',
  '/address/:address',
  '/payment/:hash',
  '/buy',
  '/buy/:id',
  '/owner',
]
/** Never in a frame, because clicks here move money. */
const CONSOLE_PAGES = ['/console', '/console/*']
/** The page that owners save. */
const KEPT = 'withdraw.html'
/** The runbook that alerts link to. */
const RUNBOOK = 'runbook.html'
/** A single-file page states its own policy. */
const OWN_POLICY = /content-security-policy" content="([^"]+)"/
/** Tells Safe what the pages are; Safe's own page reads it. Served if a frame is allowed. */
const MANIFEST = 'manifest.json'
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json; charset=utf-8',
}
/** Files under assets/ carry a digest of their content in their name. */
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

/** The operator's logo. Opened on its own it is a page of this origin, so it may do nothing. */
const logoRoute = (svg: string): Route =>
  assetRoute({
    path: LOGO_PATH,
    contentType: TYPES['.svg'] ?? '',
    cache: ASK_ANEW,
    policy: "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox",
    asset: new Asset(() => Buffer.from(svg)),
    countedAs: 'files',
  })

/** A page: one file if the path has no parameters, and made for each path if it has. */
function pageRoute(path: string, policy: string, html: (params: Params) => string): Route {
  const asset = new Asset(() => Buffer.from(html({})))
  const route = assetRoute({
    path,
    policy,
    asset,
    contentType: TYPES['.html'] ?? '',
    cache: ASK_ANEW,
    countedAs: 'pages',
  })
  return path.includes(':') ? { ...route, handle: ({ params }) => cachedResponseOf(html(params)) } : route
}

/** The page to save, with the contract and the chain that it is for. */
function keptRoute(html: string, { factoryAddress, chainId }: HttpSettings): Route {
  const filled = html
    .replace('name="contract" content=""', `name="contract" content="${factoryAddress ?? ''}"`)
    .replace('name="chain" content=""', `name="chain" content="${chainId}"`)
  return oneFileRoute(KEPT, filled)
}

/** A page that loads nothing, and that nothing may frame. */
function oneFileRoute(name: string, html: string): Route {
  const policy = `${OWN_POLICY.exec(html)?.[1] ?? "default-src 'none'"}; frame-ancestors 'none'`
  return pageRoute(`/${name}`, policy, () => html)
}

const appManifestRoute = (settings: HttpSettings): Route =>
  assetRoute({
    path: '/app.webmanifest',
    contentType: 'application/manifest+json; charset=utf-8',
    cache: ASK_ANEW,
    asset: new Asset(() => Buffer.from(appManifest(settings))),
    countedAs: 'files',
  })

/** The routes of all pages and of the files they load. */
export function pages({ deps }: Tools): Route[] {
  const { publicRpcUrl, frameAncestors, site } = deps.settings
  const logo = site?.brand.logo ?? null
  const files = existsSync(join(BUILT, INDEX))
    ? readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in TYPES)
    : []
  // Read at start, because a build that runs meanwhile must not mix two versions.
  const assetOf = (name: string) => {
    const bytes = readFileSync(join(BUILT, name))
    return new Asset(() => bytes)
  }
  const textOf = (name: string) => readFileSync(join(BUILT, name), 'utf8')
  const built = files.length > 0 ? textOf(INDEX) : NOT_BUILT
  const page = (path: string, policy: string) =>
    pageRoute(path, policy, (params) => withHead(built, deps.settings, path, params))
  const framed = pagePolicy(publicRpcUrl, frameAncestors)
  const isServed = (name: string) =>
    ![INDEX, KEPT, RUNBOOK].includes(name) && (name !== MANIFEST || frameAncestors.length > 0)
  return [
    ...(logo === null ? [] : [logoRoute(logo)]),
    ...PUBLIC_PAGES.map((path) => page(path, framed)),
    ...CONSOLE_PAGES.map((path) => page(path, pagePolicy(publicRpcUrl))),
    appManifestRoute(deps.settings),
    ...(files.includes(KEPT) ? [keptRoute(textOf(KEPT), deps.settings)] : []),
    ...(files.includes(RUNBOOK) ? [oneFileRoute(RUNBOOK, textOf(RUNBOOK))] : []),
    ...files.filter(isServed).map((name) =>
      assetRoute({
        path: `/${name.replaceAll('\\', '/')}`,
        contentType: TYPES[extname(name)] ?? '',
        cache: name.startsWith('assets') ? FOR_EVER : ASK_ANEW,
        asset: assetOf(name),
        cors: name === MANIFEST,
        countedAs: 'files',
      }),
    ),
  ]
}
