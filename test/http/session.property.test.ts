// Session cookies, however forged: the service reads only what it signed, only for its time, only for its purpose.
import assert from 'node:assert/strict'
import { createHmac, hkdfSync } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import fc from 'fast-check'
import { getAddress } from 'viem'
import { type Address, address } from '../../src/domain/units.ts'
import { headerOnce, sameSecret } from '../../src/http/secrets.ts'
import { readCookies, writeCookie } from '../../src/http/session/cookies.ts'
import { originCheck } from '../../src/http/session/origin.ts'
import { Sessions } from '../../src/http/session/session.ts'
import { signInMessage } from '../../src/http/session/sign-in-message.ts'
import { canonicalSignature } from '../../src/http/session/signature.ts'
import { cases } from '../support/property.ts'

const SECRET = 'session-secret-of-the-properties-01234'
const PREVIOUS = 'the-session-secret-before-that-0123456'
const START_SEC = 1_800_000_000
const WEEK_SEC = 7 * 24 * 60 * 60
const NONCE_SEC = 600

const settings = { sessionSecret: SECRET, previousSessionSecret: null, production: false }
const sessionsOf = (fields: Partial<typeof settings & { previousSessionSecret: string | null }> = {}) => {
  const clock = { ms: START_SEC * 1000 }
  return { clock, sessions: new Sessions({ ...settings, ...fields }, () => clock.ms) }
}
const cookieValue = (setCookie: string) => setCookie.slice(setCookie.indexOf('=') + 1, setCookie.indexOf(';'))
const mac = (payload: string, key: string | Buffer) => createHmac('sha256', key).update(payload).digest('base64url')
const nonceKey = (secret: string) => Buffer.from(hkdfSync('sha256', secret, 'node-ledger', 'sign-in nonce', 32))
const wallets = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((b) => address(`0x${Buffer.from(b).toString('hex')}`))
const WALLET = address(`0x${'5a'.repeat(20)}`)

const { clock, sessions } = sessionsOf()
const readSession = (value: string, by = sessions) => by.read(new Map([[by.sessionCookie, value]]))
const readNonce = (value: string, by = sessions) => by.readNonce(new Map([[by.nonceCookie, value]]))
const SESSION = cookieValue(sessions.signIn(WALLET))
const NONCE = cookieValue(sessions.issueNonce(WALLET).cookie)

test('a session is its wallet’s for seven days to the second, even if the clock steps back', () => {
  fc.assert(
    fc.property(
      wallets,
      fc.integer({ min: 0, max: 2 * WEEK_SEC }),
      fc.integer({ min: 0, max: 999 }),
      (wallet, later, ms) => {
        const { clock, sessions } = sessionsOf()
        const value = cookieValue(sessions.signIn(wallet))
        clock.ms += later * 1000 + ms
        assert.equal(readSession(value, sessions), later < WEEK_SEC ? wallet : null)
        clock.ms = START_SEC * 1000
        assert.equal(readSession(value, sessions), later < WEEK_SEC ? wallet : null)
      },
    ),
    { numRuns: cases(500) },
  )
  for (const [later, expected] of [
    [WEEK_SEC - 1, WALLET],
    [WEEK_SEC, null],
  ] as const) {
    const { clock, sessions } = sessionsOf()
    clock.ms += later * 1000
    assert.equal(readSession(SESSION, sessions), expected)
  }
})

test('ten thousand sessions that ended are remembered, the latest of them', () => {
  const { clock, sessions } = sessionsOf()
  const values = Array.from({ length: 10_001 }, (_, i) =>
    cookieValue(sessions.signIn(address(`0x${i.toString(16).padStart(40, '0')}`))),
  )
  clock.ms += WEEK_SEC * 1000
  for (const value of values) readSession(value, sessions)
  clock.ms = START_SEC * 1000
  const revived = values.map((value) => readSession(value, sessions) !== null)
  assert.deepEqual([revived.indexOf(true), revived.lastIndexOf(true)], [0, 0])
})

test('a text that was never a session takes no place among those that ended', () => {
  const { clock, sessions } = sessionsOf()
  const values = Array.from({ length: 10_000 }, (_, i) =>
    cookieValue(sessions.signIn(address(`0x${i.toString(16).padStart(40, '0')}`))),
  )
  clock.ms += WEEK_SEC * 1000
  for (const value of values) readSession(value, sessions)
  // Forged; and signed, but not in a session's format.
  for (const value of ['forged', 'forged.as.well', `a.b.${mac('a.b', SECRET)}`]) readSession(value, sessions)
  clock.ms = START_SEC * 1000
  assert.deepEqual(
    values.filter((value) => readSession(value, sessions) !== null),
    [],
  )
})

test('a nonce is valid for ten minutes to the second from its issue, and never before', () => {
  fc.assert(
    fc.property(fc.option(wallets), fc.integer({ min: -900, max: 900 }), (boundTo, later) => {
      const { clock, sessions } = sessionsOf()
      const { nonce, cookie } = sessions.issueNonce(boundTo)
      assert.deepEqual(
        { ...nonce, nonce: '' },
        { nonce: '', issuedAt: START_SEC, expiresAt: START_SEC + NONCE_SEC, boundTo },
      )
      assert.match(nonce.nonce, /^[0-9a-f]{32}$/)
      clock.ms += later * 1000
      assert.deepEqual(readNonce(cookieValue(cookie), sessions), later >= 0 && later < NONCE_SEC ? nonce : null)
    }),
    { numRuns: cases(500) },
  )
  for (const [later, good] of [
    [-1, false],
    [0, true],
    [NONCE_SEC - 1, true],
    [NONCE_SEC, false],
  ] as const) {
    const { clock, sessions } = sessionsOf()
    clock.ms += later * 1000
    assert.equal(readNonce(NONCE, sessions) !== null, good, `${later}`)
  }
})

test('no two nonces are the same', () => {
  const made = Array.from({ length: 1_000 }, () => sessions.issueNonce(null).nonce.nonce)
  assert.equal(new Set(made).size, made.length)
})

/** Ways to tamper with a cookie: a character changed, left out or inserted, a part from another cookie, another spelling of its bytes. */
const bent = (whole: string, other: string) => {
  const at = fc.nat({ max: whole.length - 1 })
  const character = fc.constantFrom(...'0123456789abcdefxABCXYZ-_.=+/ %\u0663\n')
  const [parts, others] = [whole.split('.'), other.split('.')]
  return fc.oneof(
    fc.tuple(at, character).map(([i, c]) => whole.slice(0, i) + c + whole.slice(i + 1)),
    fc.tuple(at, fc.integer({ min: 0, max: 7 })).map(([i, bit]) => {
      const bytes = Buffer.from(whole)
      bytes[i] = (bytes[i] ?? 0) ^ (1 << bit)
      return bytes.toString('latin1')
    }),
    fc.tuple(at, character).map(([i, c]) => whole.slice(0, i) + c + whole.slice(i)),
    at.map((i) => whole.slice(0, i) + whole.slice(i + 1)),
    at.map((i) => whole.slice(0, i)),
    at.map((i) => whole.slice(i + 1)),
    fc.nat({ max: parts.length - 1 }).map((i) => parts.map((part, j) => (i === j ? others[j] : part)).join('.')),
    fc.constantFrom('=', '==', ' ', '\n', '!').map((tail) => whole + tail),
    fc.constantFrom(other, whole.toUpperCase(), `${whole}.${whole}`, `.${whole}`, '', '.', 'null'),
  )
}

test('nothing that was changed signs a wallet in', () => {
  const other = cookieValue(sessionsOf({ sessionSecret: PREVIOUS }).sessions.signIn(address(`0x${'a5'.repeat(20)}`)))
  fc.assert(
    fc.property(bent(SESSION, other), (value) => {
      fc.pre(value !== SESSION)
      assert.equal(readSession(value), null)
    }),
    { numRuns: cases(20_000) },
  )
})

test('nothing that was bent is a nonce', () => {
  const other = cookieValue(sessionsOf({ sessionSecret: PREVIOUS }).sessions.issueNonce(null).cookie)
  fc.assert(
    fc.property(bent(NONCE, other), (value) => {
      fc.pre(value !== NONCE)
      assert.equal(readNonce(value), null)
    }),
    { numRuns: cases(20_000) },
  )
})

test('another spelling of the same signature is another signature', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const bytes = Buffer.from(SESSION.slice(-43), 'base64url')
  const spellings = [...alphabet].map((last) => SESSION.slice(0, -1) + last)
  const equal = spellings.filter((value) => Buffer.from(value.slice(-43), 'base64url').equals(bytes))
  assert.equal(equal.length, 4, 'base64url has four')
  assert.deepEqual(
    spellings.filter((value) => readSession(value) !== null),
    [SESSION],
  )
})

test('a signed text that is not exactly in our form is no session and no nonce', () => {
  const end = START_SEC + 100
  const sessionForms = [
    `${WALLET}.1e15`,
    `${WALLET}.+${end}`,
    `${WALLET}.0${end}`,
    `${WALLET}. ${end}`,
    `${WALLET}.${end} `,
    `${WALLET}.\u0663${end}`,
    `${WALLET}.${end}.5`,
    `${WALLET}.`,
    `.${end}`,
    `${WALLET}.1234567890123`,
    `x${WALLET}.${end}`,
    `${WALLET}5a.${end}`,
    `${end}`,
    '',
    `${WALLET.toUpperCase()}.${end}`,
    `${WALLET.slice(0, -1)}.${end}`,
    `${WALLET}.-${end}`,
    `\n${WALLET}.${end}`,
    `${WALLET}.${end}\n`,
    `${WALLET}.${end}x`,
  ]
  for (const payload of sessionForms) assert.equal(readSession(`${payload}.${mac(payload, SECRET)}`), null, payload)
  const payload = `${WALLET}.${end}`
  assert.equal(readSession(`${payload}.${mac(payload, SECRET)}`), WALLET, 'the form itself')

  const nonce = 'ab'.repeat(16)
  const nonceForms = [
    `${nonce}.${START_SEC}.`,
    `${nonce}.${START_SEC}`,
    `${nonce}.0${START_SEC}.-`,
    `${nonce}.${START_SEC}.--`,
    `${nonce}.${START_SEC}.0x`,
    `${nonce}0.${START_SEC}.-`,
    `${nonce.slice(1)}.${START_SEC}.-`,
    `${nonce.toUpperCase()}.${START_SEC}.-`,
    `x${nonce}.${START_SEC}.-`,
    `${nonce}.${START_SEC}.${WALLET}x`,
    `${nonce}.1234567890123.-`,
    `${nonce}.1e9.-`,
    '',
  ]
  for (const form of nonceForms) assert.equal(readNonce(`${form}.${mac(form, nonceKey(SECRET))}`), null, form)
  const form = `${nonce}.${START_SEC}.-`
  assert.equal(readNonce(`${form}.${mac(form, nonceKey(SECRET))}`)?.boundTo, null, 'the form itself')
})

test('a cookie is good for its own purpose only, even in the other one’s form', () => {
  assert.equal(readSession(NONCE), null)
  assert.equal(readNonce(SESSION), null)
  const session = `${WALLET}.${START_SEC + 100}`
  assert.equal(readSession(`${session}.${mac(session, nonceKey(SECRET))}`), null)
  const nonce = `${'ab'.repeat(16)}.${START_SEC}.-`
  assert.equal(readNonce(`${nonce}.${mac(nonce, SECRET)}`), null)
})

test('the secret before is still read while it is configured, and signs nothing', () => {
  const old = sessionsOf({ sessionSecret: PREVIOUS }).sessions
  const [session, nonce] = [cookieValue(old.signIn(WALLET)), cookieValue(old.issueNonce(WALLET).cookie)]
  const rotating = sessionsOf({ previousSessionSecret: PREVIOUS } as object).sessions
  assert.equal(readSession(session, rotating), WALLET)
  assert.equal(readNonce(nonce, rotating)?.boundTo, WALLET)
  assert.equal(readSession(session), null)
  assert.equal(readNonce(nonce), null)
  assert.equal(readSession(cookieValue(rotating.signIn(WALLET))), WALLET)
  assert.notEqual(readNonce(cookieValue(rotating.issueNonce(null).cookie)), null)
})

test('a missing cookie, one that came twice and one of another name sign no wallet in', () => {
  assert.equal(sessions.read(new Map()), null)
  assert.equal(sessions.readNonce(new Map()), null)
  assert.equal(sessions.read(readCookies(`nl_session=${SESSION}; nl_session=${SESSION}`)), null)
  assert.equal(sessions.read(readCookies(`nl_sessions=${SESSION}`)), null)
  assert.equal(sessions.read(readCookies(`a=b; nl_session=${SESSION}`)), WALLET)
  assert.equal(clock.ms, START_SEC * 1000)
})

test('cookies have the names, attributes and deletion that browsers need', () => {
  const session = `nl_session=${SESSION}; Path=/; Max-Age=${WEEK_SEC}; HttpOnly; SameSite=Lax`
  assert.equal(sessions.signIn(WALLET), session)
  assert.deepEqual(sessions.signOut(), [
    'nl_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    'nl_nonce=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
  ])
  const { sessions: production } = sessionsOf({ production: true })
  assert.equal(production.signIn(WALLET), `__Host-${session}; Secure`)
  assert.match(
    production.issueNonce(null).cookie,
    /^__Host-nl_nonce=[0-9a-f]{32}\.\d+\.-\.[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  )
  assert.equal(production.signOut()[0], '__Host-nl_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure')
  assert.equal(writeCookie('a', 'b', 5, false), 'a=b; Path=/; Max-Age=5; HttpOnly; SameSite=Lax')
})

test('a cookie header gives each name its value, and none to a name that came twice', () => {
  assert.deepEqual([...readCookies(undefined)], [])
  assert.deepEqual(
    [...readCookies('a=1;b = 2 ; c ;=3; d==4;a=5')],
    [
      ['a', null],
      ['b', '2'],
      ['', '3'],
      ['d', '=4'],
    ],
  )
  const name = fc.constantFrom('a', 'b', 'nl_session')
  const value = fc.string({ unit: fc.constantFrom(...'ab=.%"'), maxLength: 5 })
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 6 }), (pairs) => {
      const cookies = readCookies(pairs.map(([n, v]) => `${n}=${v}`).join('; '))
      for (const wanted of ['a', 'b', 'nl_session']) {
        const values = pairs.filter(([n]) => n === wanted).map(([, v]) => v)
        assert.equal(cookies.get(wanted), values.length === 0 ? undefined : values.length === 1 ? values[0] : null)
      }
    }),
  )
})

test('secrets are the same exactly when their texts are', () => {
  const text = fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('', SECRET, `${SECRET} `, SECRET.slice(1)))
  fc.assert(fc.property(text, text, (a, b) => sameSecret(a, b) === (a === b)))
  assert.equal(sameSecret(SECRET, SECRET), true)
})

test('a header has a value when it was sent once', () => {
  const request = (headersDistinct: Record<string, string[]>) => ({ headersDistinct }) as unknown as IncomingMessage
  assert.equal(headerOnce(request({ 'x-key': ['a'] }), 'x-key'), 'a')
  assert.equal(headerOnce(request({ 'x-key': [''] }), 'x-key'), '')
  for (const values of [{}, { 'x-key': [] }, { 'x-key': ['a', 'a'] }, { 'x-other': ['a'] }])
    assert.equal(headerOnce(request(values as Record<string, string[]>), 'x-key'), null)
})

const BOUND = `ledger.example wants you to sign in with your Ethereum account:
${getAddress(WALLET)}

Sign in to Node Ledger. This costs no gas, sends nothing and gives no permission to move funds.

URI: https://ledger.example
Version: 1
Chain ID: 5
Nonce: abc
Issued At: 2027-01-15T08:00:00.000Z
Expiration Time: 2027-01-15T08:10:00.000Z`

test('the message to sign has the configured origin, chain, nonce and time, word for word', () => {
  const message = {
    publicUrl: 'https://ledger.example/path?x',
    chainId: 5,
    checksum: (wallet: Address) => getAddress(wallet),
  }
  const nonce = { nonce: 'abc', issuedAt: START_SEC, expiresAt: START_SEC + NONCE_SEC, boundTo: WALLET }
  assert.equal(signInMessage(message, nonce), BOUND)
  assert.equal(
    signInMessage(message, { ...nonce, boundTo: null }),
    BOUND.replace(`account:\n${getAddress(WALLET)}`, 'account.'),
  )
  assert.match(
    signInMessage({ ...message, publicUrl: 'http://localhost:3000' }, nonce),
    /^localhost:3000 wants .*\nURI: http:\/\/localhost:3000\n/s,
  )
})

test('a page is our own by the configured origin, or by a loopback name on one’s own machine', () => {
  const deployed = originCheck('https://ledger.example/some/path')
  for (const [origin, own] of [
    [undefined, true],
    ['https://ledger.example', true],
    ['http://ledger.example', false],
    ['https://ledger.example:444', false],
    ['https://evil.example', false],
    ['https://ledger.example.evil.example', false],
    ['null', false],
    ['', false],
    ['http://localhost:3000', false],
    ['https://ledger.example/', false],
  ] as const)
    assert.equal(deployed(origin), own, String(origin))
  const local = originCheck('http://127.0.0.1:3000')
  for (const [origin, own] of [
    [undefined, true],
    ['http://127.0.0.1:3000', true],
    ['http://localhost:3000', true],
    ['http://[::1]:3000', true],
    ['http://localhost:3001', false],
    ['https://localhost:3000', false],
    ['http://localhost:3000/', false],
    ['http://evil.example:3000', false],
    ['null', false],
    ['', false],
    ['http://localhost', false],
  ] as const)
    assert.equal(local(origin), own, String(origin))
})

test('a signature has one spelling: 65 bytes, v 27, 28, 0 or 1, r and s in range, s low', () => {
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const word = (n: bigint) => n.toString(16).padStart(64, '0')
  const edges = [0n, 1n, ORDER / 2n - 1n, ORDER / 2n, ORDER / 2n + 1n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 256n - 1n]
  for (const r of edges)
    for (const s of edges)
      for (const v of ['1b', '1c', '1B', '1C', '00', '01', '02', '1a', '1d', '23', '0', '']) {
        const spelt = ({ '00': '1b', '01': '1c' } as Record<string, string>)[v] ?? v.toLowerCase()
        const isGood = r > 0n && r < ORDER && s > 0n && s <= (ORDER - 1n) / 2n && /^1[bc]$/.test(spelt)
        const expected = isGood ? `0x${word(r)}${word(s)}${spelt}` : null
        assert.equal(canonicalSignature(`0x${word(r)}${word(s)}${v}`), expected, `${r} ${s} ${v}`)
      }
  const good = `${word(1n)}${word(1n)}1b`
  for (const text of [good, `0X${good}`, `0x${good}00`, `x0x${good}`, `0x${good}\n`, `0x${good.replace('1', 'g')}`, ''])
    assert.equal(canonicalSignature(text), null, text)
  assert.equal(canonicalSignature(`0x${good.toUpperCase()}`)?.toLowerCase(), `0x${good}`)
})
