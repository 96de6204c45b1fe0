// The challenges that passkeys sign. The service signs each challenge, as it does nonces. So an unused challenge takes no memory, however many
// callers ask for one, and every instance can verify it. The ledger remembers the used challenges.
import { createHash, randomBytes } from 'node:crypto'
import type { HttpSettings } from '../deps.ts'
import { derivedKeys, type SigningKeys, sign, verify } from './signed.ts'

/** Long enough to find the device. Browsers give their user no more time than this. */
const HOLDS_SEC = 300
const RANDOM_BYTES = 16
const FORM = /^(signIn|invitation-[1-9][0-9]{0,15})\.([0-9a-f]{32})\.([1-9][0-9]{0,11})$/

/** What a challenge is for: to sign in, or to make the passkey of one invitation. */
export type ChallengePurpose = 'signIn' | `invitation-${number}`

export class Challenges {
  readonly #keys: SigningKeys
  readonly #clock: () => number

  constructor(settings: Pick<HttpSettings, 'sessionSecret' | 'previousSessionSecret'>, clock: () => number) {
    this.#keys = derivedKeys(settings, 'passkey challenge')
    this.#clock = clock
  }

  issue(purpose: ChallengePurpose): string {
    return sign(`${purpose}.${randomBytes(RANDOM_BYTES).toString('hex')}.${this.#now()}`, this.#keys)
  }

  /**
   * Reads a challenge of ours for this purpose, with the hash under which we remember it once used. Null if the text is not a challenge of ours, or
   * if it has expired.
   */
  read(text: string, purpose: ChallengePurpose): { text: string; hash: string } | null {
    const [payload = '', meant, , issuedAt] = verify(text, this.#keys, FORM) ?? []
    const age = this.#now() - Number(issuedAt)
    // If its issue time is in the future, the clock stepped back, so its age is unknown.
    if (meant !== purpose || !(age >= 0 && age < HOLDS_SEC)) return null
    return { text, hash: createHash('sha256').update(payload).digest('base64url') }
  }

  #now(): number {
    return Math.floor(this.#clock() / 1000)
  }
}
