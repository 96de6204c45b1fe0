// POST /api/auth/logout: ends the session and any half-finished sign-in of this browser. Always succeeds. A page of another origin gets the same
// answer, but ends no session.
import type { Route } from '../route.ts'
import type { Tools } from '../tools.ts'

export const authLogout = ({ sessions, isOwnOrigin }: Tools): Route => ({
  path: '/api/auth/logout',
  methods: ['POST'],
  limitPerMinute: 30,
  cache: 'no-store',
  cors: false,
  deadlineMs: null,
  handle: ({ raw }) => ({
    json: '{"ok":true}',
    cookies: isOwnOrigin(raw.headers.origin) ? sessions.signOut() : [],
  }),
})
