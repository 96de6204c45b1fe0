// GET|POST /api/auth/nonce: a one-time nonce and the exact text to sign with it. We later verify the signature against the cookie that comes with it.
import { parseAddress } from '../edge/guards.ts'
import { isRefusal } from '../refusals.ts'
import type { Route } from '../route.ts'
import { signInMessage } from '../session/sign-in-message.ts'
import type { Tools } from '../tools.ts'

export const authNonce = ({ deps, sessions }: Tools): Route => ({
  path: '/api/auth/nonce',
  methods: ['GET', 'POST'],
  limitPerMinute: 20,
  cache: 'no-store',
  cors: false,
  deadlineMs: null,
  handle: ({ query }) => {
    const boundTo = query.address === undefined ? null : parseAddress(query.address, deps.checksum)
    if (isRefusal(boundTo)) return boundTo
    const { nonce, cookie } = sessions.issueNonce(boundTo)
    const message = signInMessage({ ...deps.settings, checksum: deps.checksum }, nonce)
    return { json: JSON.stringify({ nonce: nonce.nonce, message }), cookies: [cookie] }
  },
})
