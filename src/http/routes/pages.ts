// The pages: what `npm run build` has made of web/, from this service itself. Every file is a route of its own, known at start;
// no path of a request is ever looked up on the disk. Paths that a page makes up (a node, an address) answer with the page.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type Page, pageOf } from '../memo.ts'
import type { Call, Route } from '../route.ts'
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
  const policy = policyOf(deps.settings.publicRpcUrl)
  const files = existsSync(join(BUILT, INDEX))
    ? readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in TYPES)
    : []
  const index = new Asset(files.length > 0 ? readFileSync(join(BUILT, INDEX)) : Buffer.from(NOT_BUILT))
  const html = TYPES['.html'] ?? ''
  return [
    ...PAGES.map((path) => route(path, { asset: index, contentType: html, cache: ASK_ANEW }, policy)),
    ...files
      .filter((name) => name !== INDEX)
      .map((name) => {
        const asset = new Asset(readFileSync(join(BUILT, name)))
        const cache = name.startsWith('assets') ? FOR_EVER : ASK_ANEW
        return route(`/${name.replaceAll('\\', '/')}`, { asset, contentType: TYPES[extname(name)] ?? '', cache })
      }),
  ]
}

interface Served {
  asset: Asset
  contentType: string
  cache: string
}

function route(path: string, { asset, contentType, cache }: Served, policy?: string): Route {
  return {
    path,
    methods: ['GET'],
    limitPerMinute: null,
    cache,
    contentType,
    ...(policy && { policy }),
    cors: false,
    deadlineMs: null,
    handle: (call) => asset.in(encodingFor(call)),
  }
}

/**
 * A page loads from this service alone, runs and wears nothing that is written into it, and stands in no other page. Besides this
 * service it may ask the public RPC; a wallet's icon comes as a data: URL.
 */
function policyOf(publicRpcUrl: string | null): string {
  const rpc = publicRpcUrl ? ` ${new URL(publicRpcUrl).origin}` : ''
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'${rpc}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`
}

type Encoding = 'br' | 'gzip' | 'identity'

/** Whatever the caller takes, the smallest first. */
function encodingFor({ raw }: Call): Encoding {
  const accepted = raw.headers['accept-encoding']?.toString() ?? ''
  const takes = (name: string) => new RegExp(`(^|[\\s,])${name}\\s*(;\\s*q=(1|0\\.0*[1-9])|,|$)`).test(accepted)
  if (takes('br')) return 'br'
  return takes('gzip') ? 'gzip' : 'identity'
}

const compressors = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
  identity: async (bytes: Buffer) => bytes,
}

/** A file in each encoding that was asked for so far, compressed once. */
class Asset {
  readonly #bytes: Buffer
  readonly #made = new Map<Encoding, Promise<Page & { encoding: Encoding }>>()

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  in(encoding: Encoding): Promise<Page & { encoding: Encoding }> {
    const made = this.#made.get(encoding) ?? this.#make(encoding)
    this.#made.set(encoding, made)
    return made
  }

  async #make(encoding: Encoding): Promise<Page & { encoding: Encoding }> {
    return { ...pageOf(await compressors[encoding](this.#bytes)), encoding }
  }
}
