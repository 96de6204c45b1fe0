// GET /docs: the API's reference as a page, which Swagger UI renders from /api/openapi.json. What it loads is built with the pages
// (web/vite.config.ts) and served with their files; it asks no other host.
import { Asset, assetRoute, pagePolicy } from '../edge/assets.ts'
import type { Route } from '../route.ts'
import type { Tools } from '../tools.ts'

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Node Ledger API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<main id="reference"><p>The document itself: <a href="/api/openapi.json">/api/openapi.json</a></p></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/reference.js"></script>
</body>
</html>
`
/** A version of the service has one version of the page. Five minutes bridge an update. */
const CACHE = 'public, max-age=300'

/** The page. */
export const docs = ({ deps }: Tools): Route =>
  assetRoute({
    path: '/docs',
    contentType: 'text/html; charset=utf-8',
    cache: CACHE,
    asset: new Asset(() => Buffer.from(PAGE)),
    policy: pagePolicy(deps.settings.publicRpcUrl),
    countedAs: 'pages',
  })
