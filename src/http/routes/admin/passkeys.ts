// /api/passkeys: how people get an admin key with a passkey. These routes are not under /api/admin, because routes there require a key. They are for
// operators, so only api/admin.yaml describes them. First we check that a browser's answer belongs to one of our own challenges.

import { countLivePasskeys } from '../../../db/operator/passkeys.ts'
import { type RelyingParty, relyingPartyAt } from '../../../domain/keys/passkey.ts'
import { shared } from '../../../lib/cache.ts'
import { toJson } from '../../../lib/json.ts'
import { isOperatorRefusal, type OperatorRefusal, refuseAct } from '../../../operator/act.ts'
import { PASSKEYS_OFF } from '../../../operator/acts/keys/passkeys.ts'
import {
  type Attempt,
  makePasskey,
  type NotLetIn,
  readInvitation,
  type Session,
  signIn,
} from '../../../operator/acts/keys/sign-in.ts'
import { challengeIn, creationOptions, requestOptions } from '../../../operator/acts/keys/webauthn.ts'
import { isRefusal, type Refusal, refuse, refuseAs } from '../../refusals.ts'
import { type Call, type Outcome, READ_DEADLINE_MS, type Route } from '../../route.ts'
import type { ChallengePurpose } from '../../session/challenges.ts'
import type { Tools } from '../../tools.ts'

/** The limit for attempts, the same as for signing in with a wallet. */
const ATTEMPTS_PER_MINUTE = 20
const ASKED_PER_MINUTE = 60
/** What devices call this service if the operator has not set a name. */
const SITE = 'Node Ledger'
/** How old the cached answer to "can anyone sign in?" may be. */
const AGE_MAX_MS = 3_000

const RULES = { cache: 'private, no-store', cors: false, deadlineMs: READ_DEADLINE_MS } as const
const POSTED = { ...RULES, methods: ['POST'], takesJson: true, limitPerMinute: ATTEMPTS_PER_MINUTE } as const

/** Whether people can sign in here with a passkey. */
const offer = (tools: Tools): Route => {
  const count = shared(() => tools.queryPrimary(countLivePasskeys), {
    ageMaxMs: AGE_MAX_MS,
    clock: tools.deps.monotonicClock,
  })
  return {
    ...RULES,
    path: '/api/passkeys',
    methods: ['GET'],
    limitPerMinute: ASKED_PER_MINUTE,
    handle: async () => {
      const isOn = partyOf(tools) !== null
      return { json: toJson({ offered: isOn && (await count()) > 0, whyNot: isOn ? null : PASSKEYS_OFF }) }
    },
  }
}

/** What the browser needs to sign in. */
const challenge = (tools: Tools): Route => ({
  ...POSTED,
  path: '/api/passkeys/challenge',
  handle: () => {
    const party = partyOf(tools)
    if (party === null) return off()
    return { json: toJson(requestOptions(party, tools.challenges.issue('signIn'))) }
  },
})

const enter = (tools: Tools): Route => ({
  ...POSTED,
  path: '/api/passkeys/sign-in',
  handle: async (call) => {
    const attempt = attemptOf(tools, call, 'signIn')
    if (isRefusal(attempt)) return attempt
    return outcomeOf(tools, await signIn({ pool: tools.deps.sql, log: tools.deps.log }, attempt))
  },
})

/** Returns whom an invitation is for, and what the browser needs to make the passkey. */
const invitation = (tools: Tools): Route => ({
  ...POSTED,
  path: '/api/passkeys/invitation',
  handle: async ({ body }) => {
    const party = partyOf(tools)
    if (party === null) return off()
    const openInvitation = await tools.queryPrimary((sql) => readInvitation(sql, body.code))
    if (isOperatorRefusal(openInvitation)) return refuseAs(openInvitation)
    const { id, label, scopes, passkeyExpiresAt } = openInvitation
    const site = tools.deps.settings.site?.brand.name ?? SITE
    const options = creationOptions(party, { label, site, challenge: tools.challenges.issue(`invitation-${id}`) })
    return { json: toJson({ label, scopes, passkeyExpiresAt, options }) }
  },
})

const make = (tools: Tools): Route => ({
  ...POSTED,
  path: '/api/passkeys/make',
  handle: async (call) => {
    const openInvitation = await tools.queryPrimary((sql) => readInvitation(sql, call.body.code))
    if (isOperatorRefusal(openInvitation)) return refuseAs(openInvitation)
    const attempt = attemptOf(tools, call, `invitation-${openInvitation.id}`)
    if (isRefusal(attempt)) return attempt
    return outcomeOf(tools, await makePasskey({ pool: tools.deps.sql }, openInvitation, attempt))
  },
})

const partyOf = ({ deps }: Tools): RelyingParty | null => relyingPartyAt(deps.settings.publicUrl)

const off = (): Refusal => refuseAs(refuseAct('unavailable', PASSKEYS_OFF))

/** A browser's answer, with the challenge that it names. Refused if the challenge is not ours. */
function attemptOf(tools: Tools, { body, raw, requestId }: Call, purpose: ChallengePurpose): Attempt | Refusal {
  const party = partyOf(tools)
  if (party === null) return off()
  // A page of another origin must not use an answer that it received from the browser.
  if (!tools.isOwnOrigin(raw.headers.origin)) return refuse('passkeyRefused')
  const { credential } = body
  const challengeText = challengeIn(credential)
  if (challengeText === null) return refuse('badCredential')
  const ours = tools.challenges.read(challengeText, purpose)
  return ours ? { party, credential, challenge: ours, requestId } : refuse('challengeLapsed')
}

function outcomeOf({ tellWrongKey }: Tools, answer: Session | NotLetIn | OperatorRefusal): Outcome {
  if (answer === 'lapsed') return refuse('challengeLapsed')
  if (answer === 'refused') {
    tellWrongKey()
    return refuse('passkeyRefused')
  }
  return isOperatorRefusal(answer) ? refuseAs(answer) : { json: toJson(answer) }
}

export const passkeyRoutes = [offer, challenge, enter, invitation, make]
