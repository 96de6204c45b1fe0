// GET /docs: the API's reference as a page people read, rendered from /api/openapi.json by Swagger UI. Everything it
// loads comes from here; nothing is asked of any other host.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
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
<main id="reference"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/reference.js"></script>
</body>
</html>
`
const SCRIPT = `SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
})
`
const JAVASCRIPT = 'text/javascript; charset=utf-8'
const { resolve } = createRequire(import.meta.url)
/** A version of the service has one version of Swagger UI; five minutes bridge a change. */
const CACHE = 'public, max-age=300'
const swagger = (name: string) => new Asset(() => readFileSync(resolve(`swagger-ui-dist/${name}`)))
const text = (content: string) => new Asset(() => Buffer.from(content))

/** The page and what it loads. Files are read when they are first asked for: on most instances they never are. */
export const docs: readonly ((tools: Tools) => Route)[] = [
  ({ deps }) =>
    assetRoute({
      path: '/docs',
      contentType: 'text/html; charset=utf-8',
      cache: CACHE,
      asset: text(PAGE),
      policy: pagePolicy(deps.settings.publicRpcUrl),
      countedAs: 'pages',
    }),
  file('/docs/reference.js', JAVASCRIPT, () => text(SCRIPT)),
  file('/docs/swagger-ui-bundle.js', JAVASCRIPT, () => swagger('swagger-ui-bundle.js')),
  file('/docs/swagger-ui.css', 'text/css; charset=utf-8', () => swagger('swagger-ui.css')),
]

function file(path: string, contentType: string, asset: () => Asset): () => Route {
  return () => assetRoute({ path, contentType, cache: CACHE, asset: asset(), countedAs: 'files' })
}
