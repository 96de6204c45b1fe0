// Calls the operator's routes with a key that is held in this module's memory. A reload loses the key, unless the tab
// keeps it.
import { LedgerError, type Revived } from '@node-ledger/client'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import type { components } from '../../../api/admin.ts'
import { ACTS } from '../../../api/admin-acts.ts'
import { revive } from '../../../client/src/revive.ts'
import { keptForTab } from '../kept.ts'
import { queries, type Reading } from '../ledger.ts'
import { saveBlob } from '../ui/save.ts'
import type { RefusedAct } from './act-form.ts'

export { ACTS }

const EVERY_MS = 10_000
let key: string | null = null

/** The key that the operator entered: its owner, and what it allows. */
export type OwnKey = Read<'keys/self'>
let own: OwnKey | null = null
/** The entered key; null before it is entered. */
export const ownKey = (): OwnKey | null => own
/** The scope that the key lacks for an act; null if it has the scope. */
export function lacking(act: ActRoute): string | null {
  const { scope } = ACTS[act]
  return scope === 'any' || own?.scopes.includes(scope) ? null : scope
}

/** The storage name of a key kept for the tab. */
const KEPT = 'node-ledger-admin-key'

/** The key kept for this tab; null if there is none. */
export const keptKey = (): string | null => keptForTab.getItem(KEPT)

/**
 * Uses a key once the service has accepted it, and keeps it for the tab if `keep` is set. Throws a LedgerError: 401 for
 * a wrong key, 404 if the service has no key.
 */
export async function enter(candidate: string, keep: boolean): Promise<void> {
  key = candidate
  try {
    own = await call<OwnKey>('GET', 'keys/self')
    if (keep) keptForTab.setItem(KEPT, candidate)
  } catch (error) {
    key = null
    if (error instanceof LedgerError && !error.retryable) keptForTab.removeItem(KEPT)
    throw error
  }
}

/** Forgets the key and everything read with it, and ends its session. */
export function leave(): void {
  // If this request fails, the session still ends when it expires.
  if (own?.passkeyId) void call('POST', 'keys/self/sign-out').catch(() => undefined)
  forget()
}

function forget(): void {
  key = null
  own = null
  keptForTab.removeItem(KEPT)
  queries.removeQueries({ queryKey: ['admin'] })
}

let shutOut: () => void = () => undefined
/** Calls `listener` if the service rejects a key that it had accepted, because the key expired or was revoked. */
export function onShutOut(listener: () => void): void {
  shutOut = listener
}

/** Browsers have no `randomUUID` without TLS. */
const newKey = () =>
  [...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(16).padStart(8, '0')).join('')

/** Calls one of the operator's routes. Returns amounts as bigint and times as Date. */
async function call<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
  const callKey = key
  const headers = {
    'x-admin-key': callKey ?? '',
    ...(method === 'POST' && { 'idempotency-key': newKey() }),
  }
  try {
    return await request<T>(method, `/api/admin/${path}`, headers, body)
  } catch (error) {
    if (error instanceof LedgerError && error.status === 401 && own !== null && callKey === key) {
      forget()
      shutOut()
    }
    throw error
  }
}

/** Calls a route. Returns amounts as bigint and times as Date. */
export async function request<T>(
  method: 'GET' | 'POST',
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: object,
): Promise<T> {
  const response = await fetch(path, {
    method,
    credentials: 'omit',
    headers: { ...headers, ...(method === 'POST' && { 'content-type': 'application/json' }) },
    ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }),
  }).catch((cause: unknown) => {
    throw refusal(null, 'The service could not be reached.', cause)
  })
  const json = (await response.json().catch(() => ({}))) as Refused
  if (!response.ok) throw refusalOf(response, json)
  return revive(json) as T
}

type Refused = Partial<components['schemas']['Error']>

const refusalOf = ({ status }: Response, { error, problems = [] }: Refused): RefusedAct =>
  Object.assign(refusal(status, error ?? `The service answered ${status}.`), { problems })

function refusal(status: number | null, message: string, cause?: unknown): LedgerError {
  return new LedgerError(message, { status, retryable: status === null || status >= 500, retryAfter: null, cause })
}

type Schemas = components['schemas']
/** The operator's readings. */
export type ReadRoute = keyof Schemas['Readings']
/** The operator's acts. */
export type ActRoute = keyof typeof ACTS
/** The response to an act, with amounts as bigint and times as Date. */
export type Did<Route extends keyof Schemas['Acts']> = Revived<Schemas['Acts'][Route]>
/** The names of the fields that an act takes. */
export type FieldOf<Route extends ActRoute> = keyof (typeof ACTS)[Route]['fields'] & string

/** A field of the body of an act: of its form, or one that the page alone may set. */
export type BodyFieldOf<Route extends ActRoute> =
  | FieldOf<Route>
  | ((typeof ACTS)[Route] extends { leavesOut: readonly (infer Name extends string)[] } ? Name : never)
/** The names in braces in a route's path. */
export type ParamOf<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamOf<Rest>
  : never
/** The response to a reading, with amounts as bigint and times as Date. */
export type Read<Route extends ReadRoute> = Revived<Schemas['Readings'][Route]>

/** One of the operator's readings, refreshed while the page is open. Fields that are not in the route's path go into the query. */
export function useAdmin<Route extends ReadRoute>(
  route: Route,
  fields: Readonly<Record<string, string>> = {},
): Reading<Read<Route>> {
  const query = new URLSearchParams(fields)
  for (const [, name = ''] of route.matchAll(PARAM)) query.delete(name)
  const place = placeOf(route, fields)
  const path = query.size > 0 ? `${place}?${query}` : place
  return useQuery<Read<Route>, Error>({
    queryKey: ['admin', path],
    queryFn: () => call<Read<Route>>('GET', path),
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  })
}

const PARAM = /\{(\w+)\}/g

/** A route's path, with its names in braces replaced by values. */
export const placeOf = (route: string, params: Readonly<Record<string, string>>): string =>
  route.replaceAll(PARAM, (_, name: string) => params[name] ?? '')

/** The response if an act waits for a second person. */
export interface Waiting {
  proposal: { id: number; says: string }
}
export const isWaiting = (answer: object): answer is Waiting => 'proposal' in answer

/**
 * One of the operator's acts. When it is done, every reading refreshes. If the act waits for a second person, this
 * counts as an error, unless `mayWait`.
 */
export function useAct<T extends object>({ mayWait = false } = {}) {
  return useMutation<T, Error, { path: string; body?: object }>({
    mutationFn: async ({ path, body }) => {
      const answer = await call<T>('POST', path, body)
      if (!mayWait && isWaiting(answer)) throw new Error(answer.proposal.says)
      return answer
    },
    onSuccess: () => queries.invalidateQueries(),
  })
}

/** Saves a file from the operator's routes. Resolves once it is complete. */
export async function download(path: string): Promise<void> {
  const response = await fetch(`/api/admin/${path}`, { credentials: 'omit', headers: { 'x-admin-key': key ?? '' } })
  if (!response.ok) throw refusalOf(response, (await response.json().catch(() => ({}))) as Refused)
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'export.csv'
  saveBlob(await response.blob(), name)
}

/** A shape of api/admin.yaml with amounts as bigint and times as Date. */
export type Shape<Name extends keyof Schemas> = Revived<Schemas[Name]>

/** A payment without the fields that only occur in the list. */
export type PaymentFacts = Omit<Shape<'Payment'>, 'verdict'>
export type EnteredMode = Shape<'ContractWallets'>['modes'][number]
export type TrendBin = Shape<'Trends'>['bins'][number]
