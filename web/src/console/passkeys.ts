// Signs in with a passkey, and creates one from an invitation. Both yield an admin key, which the console uses like any
// other. The library that talks to the browser loads when someone presses a button.
import type { LedgerError } from '@node-ledger/client'
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { useQuery } from '@tanstack/react-query'
import type { Reading } from '../ledger.ts'
import { part } from '../ui/part.ts'
import { type Did, enter, type Read, request } from './admin.ts'

type Offer = Read<'/api/passkeys'>
type Session = Did<'/api/passkeys/sign-in'>
/** The person whom an invitation is for, and the options for the browser. */
export type Invited = Did<'/api/passkeys/invitation'>

const post = <T>(path: string, body: object) => request<T>('POST', `/api/passkeys${path}`, {}, body)

/** Whether people can sign in with a passkey here. */
export function usePasskeyOffer(): Reading<Offer> {
  return useQuery<Offer, Error>({ queryKey: ['passkeys'], queryFn: () => request<Offer>('GET', '/api/passkeys') })
}

/** The invitation behind a code. */
export function useInvitation(code: string): Reading<Invited> {
  return useQuery<Invited, Error>({
    queryKey: ['invitation', code],
    queryFn: () => post<Invited>('/invitation', { code }),
    // The options are valid for a few minutes. We fetch them again before use.
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
}

/** Signs in. If `keep` is set, the tab keeps the key. */
export async function signIn(keep: boolean): Promise<void> {
  const optionsJSON = await post<PublicKeyCredentialRequestOptionsJSON>('/challenge', {})
  const { startAuthentication } = await part(() => import('@simplewebauthn/browser'))
  const credential = await startAuthentication({ optionsJSON }).catch(inWords(optionsJSON.rpId))
  const { key } = await post<Session>('/sign-in', { credential })
  await enter(key, keep)
}

/** The invitation for which this page created a passkey that the service may have stored although its answer was lost. */
let madeFor: string | null = null

/** Creates the passkey for an invitation, and signs in with it. If an earlier try used the invitation up, only signs in. */
export async function makePasskey(code: string, keep: boolean): Promise<void> {
  const invitation = await post<Invited>('/invitation', { code }).catch((error: LedgerError) => {
    if (madeFor === code && error.status === 409) return null
    throw error
  })
  if (invitation === null) return signIn(keep)
  const { options } = invitation
  const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON
  const { startRegistration } = await part(() => import('@simplewebauthn/browser'))
  const credential = await startRegistration({ optionsJSON }).catch(inWords(optionsJSON.rp.id))
  madeFor = code
  const { key } = await post<Session>('/make', { code, credential })
  await enter(key, keep)
}

/** Turns a browser's refusal into words. */
const inWords =
  (name = '') =>
  (cause: unknown): never => {
    const { name: kind, message } = cause as Error
    if (kind === 'NotAllowedError')
      throw new Error('No passkey was used: it was cancelled, took too long, or this device has none.', { cause })
    if (kind === 'SecurityError' || kind === 'WebAuthnError')
      throw new Error(`Passkeys of this service work only under the name “${name}”: open the console there.`, {
        cause,
      })
    if (!isSecureContext)
      throw new Error('Browsers use passkeys only over https: open the console by its https address.', { cause })
    throw new Error(`The browser could not use a passkey: ${message}`, { cause })
  }

const CODE = /^#invite=(nli_[\w-]+)$/
/** The invitation code in the page's address; null if there is none. */
export const codeInPage = (): string | null => CODE.exec(location.hash)?.[1] ?? null
/** Removes the code from the page's address, once it is used or declined. */
export const forgetCode = (): void => history.replaceState(history.state, '', location.pathname)
