// The shape of an endpoint: a path, its rules as data, and a handler. The handler parses the input, calls a function and maps its result. The
// pipeline applies the rules in one order for all routes, so no handler can forget one.
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { KeyHolder, Scope } from '../domain/keys/admin-key.ts'
import type { Address } from '../domain/units.ts'
import type { JsonObject } from './edge/body.ts'
import type { Client } from './edge/client-address.ts'
import type { Query } from './edge/guards.ts'
import type { CachedResponse } from './edge/memo.ts'
import type { EventStream } from './events/stream.ts'
import type { Refusal } from './refusals.ts'
import type { Cookies } from './session/cookies.ts'

export interface Route {
  /** The path in the router's syntax: `:name` is a parameter. */
  path: string
  /** The allowed methods. GET includes HEAD, unless `noHead`. `any` leaves methods to the handler. */
  methods: readonly ('GET' | 'POST')[] | 'any'
  /** True for a GET with an effect, which HEAD must not have. */
  noHead?: boolean
  /** Requests per minute and caller; null for no limit. */
  limitPerMinute: number | null
  /** `cache-control` of a success. Errors and answers in a session are never cached. */
  cache: string
  /** The type of the content; JSON by default. */
  contentType?: string
  /** `content-security-policy`, for pages. */
  policy?: string
  /** True if pages of any origin may read it. Never together with a session. */
  cors: boolean
  /** Refuses if the endpoint is not configured. Called before everything else. */
  configured?: () => Refusal | null
  /**
   * Refuses a caller without the right key. Called before we check the method, the input, and whether the thing exists. `isLimited` is true if the
   * caller has sent too many wrong keys; we then look up only keys that have been valid before.
   */
  authorize?: (call: Call, isLimited: () => boolean) => Refusal | null | Promise<Refusal | null>
  /** The scope that a key needs, by method. Null if any key is allowed. Only for routes under /api/admin. */
  scopes?: Readonly<Partial<Record<'GET' | 'POST', Scope>>> | null
  /**
   * Limits wrong keys in this header, per minute and caller, summed over all routes with this field. A caller over the limit gets 429. The right key
   * is never refused. `tell` is called for each wrong key.
   */
  wrongKeys?: { header: string; perMinute: number; tell?: () => void }
  /** The name under which we count the route's requests; by default its path. */
  countedAs?: string
  /** The name under which we count requests without the right key, so that they create few series. */
  countedUnkeyedAs?: string
  /** True if the route needs a session. The call then carries the wallet's address. */
  session?: boolean
  /** If set, the body must be a JSON object; with `orNothing` it may also be absent. If not set, any body up to 16 KiB is ignored. */
  takesJson?: true | 'orNothing'
  /** The largest JSON body that the route takes, in bytes; 16 KiB if not set. */
  bodyBytesMax?: number
  /** Milliseconds after which the answer is 503; null for routes without a time limit. */
  deadlineMs: number | null
  handle(call: Call): Promise<Outcome> | Outcome
}

/** A request's parsed path and query. */
export interface Target {
  readonly params: Readonly<{
    id?: string
    address?: string
    hash?: string
    root?: string
    code?: string
    block?: string
  }>
  readonly query: Readonly<Query>
}

/** One request, as a handler sees it. */
export interface Call extends Target {
  method: string
  cookies: Cookies
  /** Empty unless the route accepts JSON. */
  body: JsonObject
  /** The signed-in wallet, if the route needs a session. */
  wallet: Address
  /** The caller as the limits count them, if the route has a limit. */
  client: Client
  /** Who holds the admin key; null outside /api/admin. */
  holder: KeyHolder | null
  raw: IncomingMessage
  requestId: string
}

/**
 * Ready bytes, JSON text made for this caller, a file that we send while making it, events until either side ends the stream, or a refusal. 202 means
 * that an act waits for a second person. Ready bytes never come with a cookie.
 */
export type Outcome =
  | CachedOutcome
  | { json: string; cookies?: string[]; status?: 202 }
  | Download
  | { events: EventStream }
  | Refusal

/** Ready bytes. A file that never changes is worth the best compression, and holds nothing of a session. */
export type CachedOutcome = CachedResponse & { encoding?: 'br' | 'gzip' | 'identity'; isFixed?: true; status?: 404 }

/**
 * A file of any length, sent while it is read. If the stream fails, we break the connection, so that no caller mistakes a part for the whole file.
 */
export interface Download {
  stream: Readable
  /** The file name that browsers suggest. */
  filename: string
  contentType: string
}

/** How long reads may take. A database that needs longer is not answering. */
export const READ_DEADLINE_MS = 5_000
