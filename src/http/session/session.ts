// The session and nonce cookies: how they are named, signed and read back. Stateless, except that the ledger remembers which nonces were used. Each
// purpose has its own key, so that neither cookie can pass for the other. For the message that the wallet signs, see sign-in-message.ts.
import { randomBytes } from 'node:crypto'
import type { Address } from '../../domain/units.ts'
import type { HttpSettings } from '../deps.ts'
import { type Cookies, writeCookie } from './cookies.ts'
import { derivedKeys, sign, verify } from './signed.ts'

/** Seven days from sign-in. */
const SESSION_SEC = 7 * 24 * 60 * 60
/** How long a nonce is valid: long enough to find the wallet, short enough that a stolen nonce is stale. A nonce has 128 bits. */
const NONCE_SEC = 10 * 60
const NONCE_BYTES = 16
/** How many expired sessions we remember. We remember only sessions that we signed. */
const EXPIRED_MAX = 10_000
/** Means "no address" in a nonce cookie; the message then names no address. */
const ANYONE = '-'
/** The only texts that we sign. A session's has its address and expiry; a nonce's has its value, time of issue and address. */
const SESSION_FORM = /^(0x[0-9a-f]{40})\.([1-9][0-9]{0,11})$/
const NONCE_FORM = /^([0-9a-f]{32})\.([1-9][0-9]{0,11})\.(-|0x[0-9a-f]{40})$/

/** A nonce that its cookie vouches for. Times are unix seconds. */
export interface Nonce {
  nonce: string
  issuedAt: number
  expiresAt: number
  /** The address that the message names, or null if it names none. */
  boundTo: Address | null
}

type SessionSettings = Pick<HttpSettings, 'sessionSecret' | 'previousSessionSecret' | 'production'>

export class Sessions {
  readonly sessionCookie: string
  readonly nonceCookie: string
  readonly #secure: boolean
  readonly #clock: () => number
  /** The signing keys, newest first. The newest signs; all are accepted. */
  readonly #sessionKeys: readonly (string | Buffer)[]
  readonly #nonceKeys: readonly (string | Buffer)[]
  /** Sessions that we refused as expired, oldest first. We remember them, so that a clock that steps back does not revive them. */
  readonly #expired = new Set<string>()

  constructor(settings: SessionSettings, clock: () => number) {
    const prefix = settings.production ? '__Host-' : ''
    this.sessionCookie = `${prefix}nl_session`
    this.nonceCookie = `${prefix}nl_nonce`
    this.#secure = settings.production
    this.#clock = clock
    const secrets = [settings.sessionSecret, settings.previousSessionSecret].filter((secret) => secret !== null)
    this.#sessionKeys = secrets
    this.#nonceKeys = derivedKeys(settings, 'sign-in nonce')
  }

  /** A `set-cookie` that signs the address in for seven days: `address.expiry.hmac`. */
  signIn(wallet: Address): string {
    const value = sign(`${wallet}.${this.#now() + SESSION_SEC}`, this.#sessionKeys)
    return writeCookie(this.sessionCookie, value, SESSION_SEC, this.#secure)
  }

  /** `set-cookie` values that end the session and any half-finished sign-in. */
  signOut(): string[] {
    return [writeCookie(this.sessionCookie, '', 0, this.#secure), this.forgetNonce()]
  }

  /** The signed-in address, or null. */
  read(cookies: Cookies): Address | null {
    const session = verify(cookies.get(this.sessionCookie), this.#sessionKeys, SESSION_FORM)
    if (session === null || this.#expired.has(session[0])) return null
    const [payload, wallet, expiry] = session
    if (Number(expiry) > this.#now()) return wallet as Address
    this.#expired.add(payload)
    for (const oldest of this.#expired) {
      if (this.#expired.size <= EXPIRED_MAX) break
      this.#expired.delete(oldest)
    }
    return null
  }

  /** A new nonce and the `set-cookie` that vouches for it. */
  issueNonce(boundTo: Address | null): { nonce: Nonce; cookie: string } {
    const issuedAt = this.#now()
    const nonce = randomBytes(NONCE_BYTES).toString('hex')
    const value = sign(`${nonce}.${issuedAt}.${boundTo ?? ANYONE}`, this.#nonceKeys)
    return {
      nonce: { nonce, issuedAt, expiresAt: issuedAt + NONCE_SEC, boundTo },
      cookie: writeCookie(this.nonceCookie, value, NONCE_SEC, this.#secure),
    }
  }

  /** The nonce that the request's cookie vouches for. Null if there is no cookie, if it is not ours, or if it has expired. */
  readNonce(cookies: Cookies): Nonce | null {
    const match = verify(cookies.get(this.nonceCookie), this.#nonceKeys, NONCE_FORM)
    if (match === null) return null
    const [nonce, issueTime, bound] = match.slice(1) as [string, string, string]
    const issuedAt = Number(issueTime)
    const now = this.#now()
    // If its issue time is in the future, the clock stepped back, so its age is unknown.
    if (now >= issuedAt + NONCE_SEC || now < issuedAt) return null
    return { nonce, issuedAt, expiresAt: issuedAt + NONCE_SEC, boundTo: bound === ANYONE ? null : (bound as Address) }
  }

  /** A `set-cookie` that deletes the nonce. */
  forgetNonce(): string {
    return writeCookie(this.nonceCookie, '', 0, this.#secure)
  }

  #now(): number {
    return Math.floor(this.#clock() / 1000)
  }
}
