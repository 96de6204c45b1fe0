// GET /docs: the API's reference as a page people read, rendered from /api/openapi.json by Swagger UI. Everything it
// loads comes from here; nothing is asked of any other host.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Page, pageOf } from '../memo.ts'
import type { Route } from '../route.ts'

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
const HTML = 'text/html; charset=utf-8'
const JAVASCRIPT = 'text/javascript; charset=utf-8'
const { resolve } = createRequire(import.meta.url)
const asset = (name: string) => readFileSync(resolve(`swagger-ui-dist/${name}`), 'utf8')

/** The page and what it loads. */
export const docs: readonly (() => Route)[] = [
  file('/docs', HTML, () => PAGE),
  file('/docs/reference.js', JAVASCRIPT, () => SCRIPT),
  file('/docs/swagger-ui-bundle.js', JAVASCRIPT, () => asset('swagger-ui-bundle.js')),
  file('/docs/swagger-ui.css', 'text/css; charset=utf-8', () => asset('swagger-ui.css')),
]

function file(path: string, contentType: string, read: () => string): () => Route {
  return () => {
    // Read when first asked for: most instances never are.
    let page: Page | undefined
    return {
      path,
      methods: ['GET'],
      limitPerMinute: null,
      cache: 'public, max-age=300',
      contentType,
      cors: false,
      deadlineMs: null,
      handle: () => {
        page ??= pageOf(read())
        return page
      },
    }
  }
}
