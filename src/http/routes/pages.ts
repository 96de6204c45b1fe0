// The pages: what `npm run build` has made of web/, from this service itself. Every file is a route of its own, known at start;
// no path of a request is ever looked up on the disk. Paths that a page makes up (a node, an address) answer with the page.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Asset, assetRoute, pagePolicy } from '../edge/assets.ts'
import type { Route } from '../route.ts'
import type { Tools } from '../tools.ts'

const BUILT = fileURLToPath(new URL('../../../web/dist', import.meta.url))
const INDEX = 'index.html'
/** As web/src/app.tsx has them. */
const PAGES = [
  '/',
  '/tiers',
  '/rounds',
  '/round/:id',
  '/node/:id',
  '/address/:address',
  '/buy',
  '/buy/:id',
  '/owner',
  '/console',
  '/console/*',
]
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
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

/** The routes of all pages and of the files they load. */
export function pages({ deps }: Tools): Route[] {
  const policy = pagePolicy(deps.settings.publicRpcUrl)
  const files = existsSync(join(BUILT, INDEX))
    ? readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in TYPES)
    : []
  // Read at start: a build that goes on meanwhile must not mix two versions.
  const assetOf = (name: string) => {
    const bytes = readFileSync(join(BUILT, name))
    return new Asset(() => bytes)
  }
  const index = files.length > 0 ? assetOf(INDEX) : new Asset(() => Buffer.from(NOT_BUILT))
  const page = { contentType: TYPES['.html'] ?? '', cache: ASK_ANEW, asset: index, policy, countedAs: 'pages' }
  return [
    ...PAGES.map((path) => assetRoute({ ...page, path })),
    ...files
      .filter((name) => name !== INDEX)
      .map((name) =>
        assetRoute({
          path: `/${name.replaceAll('\\', '/')}`,
          contentType: TYPES[extname(name)] ?? '',
          cache: name.startsWith('assets') ? FOR_EVER : ASK_ANEW,
          asset: assetOf(name),
          countedAs: 'files',
        }),
      ),
  ]
}
