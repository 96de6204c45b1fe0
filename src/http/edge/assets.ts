// Files that are served unchanged: the files of the pages and of the reference. Owns their rate limits, and the content security policy of every page.
// Uses no path from a request.
import type { CachedOutcome, Route } from '../route.ts'
import { cachedResponseOf } from './memo.ts'

/** How often one caller may request a file per minute. A page loads each file once; then browsers cache it. */
const LIMIT_PER_MINUTE = 120

export interface AssetRoute {
  path: string
  contentType: string
  cache: string
  content: string | Buffer
  /** The content security policy, for pages. */
  policy?: string
  /** True if pages of any origin may read the file. False by default. */
  cors?: boolean
  /** The name under which we count the file's requests; many files share one name. */
  countedAs: string
}

export function assetRoute({ content, cors = false, ...route }: AssetRoute): Route {
  const file: CachedOutcome = { ...cachedResponseOf(content), isFixed: true }
  return {
    ...route,
    methods: ['GET'],
    limitPerMinute: LIMIT_PER_MINUTE,
    cors,
    deadlineMs: null,
    handle: () => file,
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
