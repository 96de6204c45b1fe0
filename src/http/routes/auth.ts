// Signs wallets in and out: a nonce with the text to sign, then the signature over that text.
import { createHash } from 'node:crypto'
import { proveWallet } from '../../db/payments/payers.ts'
import { spendNonce } from '../../db/sends/nonces.ts'
import type { Address } from '../../domain/units.ts'
import { inTimeOrNull } from '../../lib/deadline.ts'
import type { JsonObject } from '../edge/body.ts'
import { parseAddress } from '../edge/guards.ts'
import { isRefusal, type Refusal, refuse } from '../refusals.ts'
import type { Call, Outcome, Route } from '../route.ts'
import type { Nonce } from '../session/session.ts'
import { signInMessage } from '../session/sign-in-message.ts'
import { canonicalSignature } from '../session/signature.ts'
import type { Tools } from '../tools.ts'

const DEADLINE_MS = 10_000
/** How long we wait for a contract wallet's proof. Without the proof the wallet still signs in, and we try again at its next sign-in. */
const PROOF_MS = 4_000
/** How long we remember a spent nonce. It is longer than a nonce is valid, so that a clock that steps back does not revive it. */
const KEPT_SEC = 24 * 60 * 60

const RULES = { cache: 'no-store', cors: false } as const

/** GET|POST /api/auth/nonce: a one-time nonce and the exact text to sign with it. We later verify the signature against the cookie that comes with it. */
export const authNonce = ({ deps, sessions }: Tools): Route => ({
  ...RULES,
  path: '/api/auth/nonce',
  methods: ['GET', 'POST'],
  limitPerMinute: 20,
  deadlineMs: null,
  handle: ({ query }) => {
    const boundTo = query.address === undefined ? null : parseAddress(query.address, deps.checksum)
    if (isRefusal(boundTo)) return boundTo
    const { nonce, cookie } = sessions.issueNonce(boundTo)
    const message = signInMessage({ ...deps.settings, checksum: deps.checksum }, nonce)
    return { json: JSON.stringify({ nonce: nonce.nonce, message }), cookies: [cookie] }
  },
})

/**
 * POST /api/auth/logout: ends the session and any half-finished sign-in of this browser. Always succeeds. A page of another origin gets the same
 * answer, but ends no session.
 */
export const authLogout = ({ sessions, isOwnOrigin }: Tools): Route => ({
  ...RULES,
  path: '/api/auth/logout',
  methods: ['POST'],
  limitPerMinute: 30,
  deadlineMs: null,
  handle: ({ raw }) => ({
    json: '{"ok":true}',
    cookies: isOwnOrigin(raw.headers.origin) ? sessions.signOut() : [],
  }),
})

/**
 * POST /api/auth/verify: signs in the wallet that signed this browser's nonce. Every attempt spends the nonce on all instances, successful or not. We
 * accept the address only if the signature recovers to it. If a contract wallet signs in, the ledger records for all instances that someone controls
 * it. So it may buy even if the sale requires that proof.
 */
export const authVerify = (tools: Tools): Route => ({
  ...RULES,
  path: '/api/auth/verify',
  methods: ['POST'],
  limitPerMinute: 20,
  takesJson: true,
  deadlineMs: DEADLINE_MS,
  handle: async (call) => {
    const attempt = parseAttempt(call.body, tools.deps.checksum)
    if (isRefusal(attempt)) return attempt
    const nonce = await takeNonce(tools, call)
    if (nonce === null) return refuse('nonceLapsed', [tools.sessions.forgetNonce()])
    const signerKind = await isSignedBy(tools, attempt, nonce)
    if (signerKind === 'contract') await noteProof(tools, attempt, nonce)
    return answer(tools, attempt, signerKind)
  },
})

interface SignInAttempt {
  wallet: Address
  signature: `0x${string}`
}

function parseAttempt(
  { address, signature }: JsonObject,
  checksum: (address: Address) => string,
): SignInAttempt | Refusal {
  const wallet = parseAddress(address, checksum)
  if (isRefusal(wallet)) return wallet
  if (typeof signature !== 'string' || !/^0x[0-9a-fA-F]*$/.test(signature)) return refuse('badSignature')
  return { wallet, signature: signature as `0x${string}` }
}

/** The nonce in the request's cookie, spent by this call; null if it is not ours, has expired, or was spent before. */
async function takeNonce(
  { queryPrimary, sessions, isOwnOrigin }: Tools,
  { cookies, raw }: Call,
): Promise<Nonce | null> {
  const nonce = isOwnOrigin(raw.headers.origin) ? sessions.readNonce(cookies) : null
  if (nonce === null) return null
  const hash = createHash('sha256').update(nonce.nonce).digest('base64url')
  return (await queryPrimary((sql) => spendNonce(sql, hash, KEPT_SEC))) ? nonce : null
}

/**
 * True if the wallet's key signed or, if the wallet is a contract, if the contract accepts the signature. Null if we needed to ask the chain and
 * could not.
 */
async function isSignedBy(
  { deps }: Tools,
  { wallet, signature }: SignInAttempt,
  nonce: Nonce,
): Promise<'key' | 'contract' | false | null> {
  if (nonce.boundTo !== null && nonce.boundTo !== wallet) return false
  const message = signInMessage({ ...deps.settings, checksum: deps.checksum }, nonce)
  const canonical = canonicalSignature(signature)
  if (canonical !== null) {
    // The library may throw if a signature recovers to no point. Such a signature is invalid, which is not our fault.
    const signer = await deps.recoverSigner(message, canonical).catch(() => null)
    if (signer === wallet) return 'key'
  }
  const isAccepted =
    deps.verifyContractWallet === null ? false : await deps.verifyContractWallet(wallet, message, signature)
  return isAccepted && 'contract'
}

async function noteProof(
  { deps, queryPrimary }: Tools,
  { wallet, signature }: SignInAttempt,
  nonce: Nonce,
): Promise<void> {
  const { proveContractWallet: prove } = deps
  if (prove === null) return
  const message = signInMessage({ ...deps.settings, checksum: deps.checksum }, nonce)
  const proof = await inTimeOrNull(PROOF_MS, () => prove(wallet, message, signature))
  if (proof !== null) await queryPrimary((sql) => proveWallet(sql, wallet, proof))
}

function answer(
  { sessions }: Tools,
  { wallet }: SignInAttempt,
  signerKind: Awaited<ReturnType<typeof isSignedBy>>,
): Outcome {
  if (signerKind === null) return refuse('noChain', [sessions.forgetNonce()])
  if (!signerKind) return refuse('signatureRefused', [sessions.forgetNonce()])
  return { json: JSON.stringify({ address: wallet }), cookies: [sessions.signIn(wallet), sessions.forgetNonce()] }
}
