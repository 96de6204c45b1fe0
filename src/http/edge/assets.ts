// Files that are served unchanged: the files of the pages and of the reference. Owns their compression (once per encoding, at its first request),
// their rate limits, and the content security policy of every page. Uses no path from a request.
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { CachedOutcome, Route } from '../route.ts'
import { type Encoding, encodingFor } from './encoding.ts'
import { cachedResponseOf } from './memo.ts'

/** How often one caller may request a file per minute. A page loads each file once; then browsers cache it. */
const LIMIT_PER_MINUTE = 120
/**
 * Up to this size we use the best compression. It takes ten seconds per megabyte, three times as long as the quality that we use for larger
 * files.
 */
const BEST_BYTES_MAX = 256 * 1024
const GOOD_BROTLI_QUALITY = 10

export interface AssetRoute {
  path: string
  contentType: string
  cache: string
  asset: Asset
  /** The content security policy, for pages. */
  policy?: string
  /** True if pages of any origin may read the file. False by default. */
  cors?: boolean
  /** The name under which we count the file's requests; many files share one name. */
  countedAs: string
}

export function assetRoute({ asset, cors = false, ...route }: AssetRoute): Route {
  return {
    ...route,
    methods: ['GET'],
    limitPerMinute: LIMIT_PER_MINUTE,
    cors,
    deadlineMs: null,
    handle: ({ raw }) => asset.in(encodingFor(raw.headers['accept-encoding']?.toString() ?? '')),
  }
}

/**
 * The policy of all pages. A page loads only from this service, runs no inline script, and uses no inline style but `style`, which the policy names
 * by its digest. Only pages of `ancestors` may frame it. A page may connect to this service and the public RPC. Wallets' icons and the face are
 * data: URLs.
 */
export function pagePolicy(
  publicRpcUrl: string | null,
  ancestors: readonly string[] = [],
  style: string | null = null,
): string {
  const rpc = publicRpcUrl ? ` ${new URL(publicRpcUrl).origin}` : ''
  const frames = ancestors.length > 0 ? ancestors.join(' ') : "'none'"
  const own = style === null ? '' : ` ${style}`
  return `default-src 'none'; script-src 'self'; style-src 'self'${own}; font-src data:; img-src 'self' data:; connect-src 'self'${rpc}; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors ${frames}`
}

const compressors = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]:
          bytes.length > BEST_BYTES_MAX ? GOOD_BROTLI_QUALITY : constants.BROTLI_MAX_QUALITY,
      },
    }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
  identity: async (bytes: Buffer) => bytes,
}

/** A file in each encoding that a caller has requested so far. */
export class Asset {
  readonly #read: () => Buffer
  #bytes: Buffer | null = null
  readonly #forms = new Map<Encoding, Promise<CachedOutcome>>()

  /** `read` is called only once, at the first request for the file. */
  constructor(read: () => Buffer) {
    this.#read = read
  }

  /** The file in an encoding. */
  async in(encoding: Encoding): Promise<CachedOutcome> {
    const form = this.#forms.get(encoding) ?? this.#make(encoding)
    this.#forms.set(encoding, form)
    return await form.catch((error: unknown) => {
      // The next request tries again.
      this.#forms.delete(encoding)
      throw error
    })
  }

  async #make(encoding: Encoding): Promise<CachedOutcome> {
    this.#bytes ??= this.#read()
    return { ...cachedResponseOf(await compressors[encoding](this.#bytes)), encoding }
  }
}
