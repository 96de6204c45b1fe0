// Signing in: the message, the nonce that works once on every instance, the signature matrix, and cookies that no one
// can forge, tamper with or keep too long.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { parseSiweMessage, validateSiweMessage } from 'viem/siwe'
import { PUBLIC_URL, SESSION_SECRET, type Service, startService } from '../support/http.ts'
import type { Answer } from '../support/http-contract.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const WEEK_SEC = 7 * 24 * 60 * 60
const account = privateKeyToAccount(generatePrivateKey())
const wallet = account.address.toLowerCase()

const cookiesOf = (answer: Answer) => answer.headers['set-cookie'] ?? []
/** The cookies that a browser would send back. */
const jar = (answer: Answer) =>
  cookiesOf(answer)
    .map((cookie) => cookie.split(';')[0])
    .filter((pair) => !pair?.endsWith('='))
    .join('; ')
const cookieOf = (answer: Answer, name: string) =>
  cookiesOf(answer)
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.split(';')[0]
    ?.slice(name.length + 1) ?? ''

describe('signing in', () => {
  let service: Service
  let other: Service
  before(async () => {
    service = await startService()
    other = await startService({ sql: service.sql, readSql: service.sql })
  })
  after(async () => {
    await other.close()
    await service.close()
  })
  beforeEach(() => {
    service.clock.now += 60_000
    other.clock.now = service.clock.now
  })

  const nonce = (query = '', on = service) => on.get(`/api/auth/nonce${query}`)
  const verify = (cookie: string, body: unknown, on = service) =>
    on.post('/api/auth/verify', body, { headers: { cookie } })
  const signIn = async (on = service) => {
    const asked = await nonce('', on)
    const signature = await account.signMessage({ message: asked.json.message })
    return verify(jar(asked), { address: wallet, signature }, on)
  }
  const me = (cookie: string, on = service) => on.get('/api/me', { headers: { cookie } })

  it('works with a wallet: nonce, signature, session, me', async () => {
    const asked = await nonce()
    assert.equal(asked.status, 200)
    assert.match(asked.json.nonce, /^[0-9a-f]{32}$/)
    const { hostname } = new URL(PUBLIC_URL)
    for (const part of [hostname, PUBLIC_URL, 'Chain ID: 31337', asked.json.nonce, 'Issued At: ', 'Expiration Time: '])
      assert.ok(asked.json.message.includes(part), part)
    const signature = await account.signMessage({ message: asked.json.message })
    const signedIn = await verify(jar(asked), { address: account.address, signature })
    assert.equal(signedIn.status, 200)
    assert.deepEqual(signedIn.json, { address: wallet })
    const own = await me(jar(signedIn))
    assert.equal(own.status, 200)
    assert.equal(own.json.address, wallet)
    assert.equal(own.headers['cache-control'], 'private, no-store')
  })

  it('sets cookies that scripts cannot read and other sites cannot send', async () => {
    const asked = await nonce()
    assert.match(cookiesOf(asked)[0] ?? '', /^nl_nonce=[^;]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/)
    const signedIn = await signIn()
    const [session, forgotten] = cookiesOf(signedIn)
    assert.match(
      session ?? '',
      /^nl_session=0x[0-9a-f]{40}\.\d+\.[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/,
    )
    assert.equal(forgotten, 'nl_nonce=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax')
    const production = await startService({ settings: { production: true } })
    const answers = [await nonce('', production), await signIn(production)]
    for (const cookie of answers.flatMap(cookiesOf))
      assert.match(cookie, /^__Host-nl_(nonce|session)=.*; Path=\/;.*; Secure$/)
    assert.equal((await me(jar(answers[1] as Answer), production)).status, 200)
    await production.close()
  })

  it('gives the session the form of the specification: address, expiry, HMAC over both', async () => {
    const value = cookieOf(await signIn(), 'nl_session')
    const [address, expiry, mac] = value.split('.')
    assert.equal(address, wallet)
    assert.equal(Number(expiry), Math.floor(service.clock.now / 1000) + WEEK_SEC)
    assert.equal(mac, createHmac('sha256', SESSION_SECRET).update(`${address}.${expiry}`).digest('base64url'))
  })

  it('issues the exact EIP-4361 text for the given address', async () => {
    const asked = await nonce(`?address=${wallet}`)
    const message = parseSiweMessage(asked.json.message)
    assert.ok(
      validateSiweMessage({
        address: account.address,
        message,
        domain: 'ledger.example',
        nonce: asked.json.nonce,
        time: new Date(service.clock.now),
      }),
    )
    assert.deepEqual([message.uri, message.chainId, message.version], [PUBLIC_URL, 31337, '1'])
    const signature = await account.signMessage({ message: asked.json.message })
    assert.equal((await verify(jar(asked), { address: wallet, signature })).status, 200)
    for (const address of ['0x12', '', wallet.slice(2)]) assert.equal((await nonce(`?address=${address}`)).status, 400)
    const twice = await nonce(`?address=${wallet}&address=${wallet}`)
    assert.equal(twice.status, 400)
  })

  it('uses the configured domain with any Host in the request', async () => {
    const { json } = await service.get('/api/auth/nonce', {
      headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
    })
    assert.match(json.message, /^ledger\.example wants you/)
    assert.doesNotMatch(json.message, /evil/)
  })

  it('spends a nonce by its first use, on every instance, and deletes its cookie', async () => {
    const asked = await nonce()
    const body = { address: wallet, signature: await account.signMessage({ message: asked.json.message }) }
    const first = await verify(jar(asked), body)
    assert.equal(first.status, 200)
    for (const on of [service, other]) {
      const again = await verify(jar(asked), body, on)
      assert.equal(again.status, 401)
      assert.match(cookiesOf(again).join(), /nl_nonce=; Path=\/; Max-Age=0/)
    }
    const asked2 = await nonce()
    const wrong = { address: wallet, signature: await account.signMessage({ message: 'another text' }) }
    assert.equal((await verify(jar(asked2), wrong)).status, 401)
    const right = { address: wallet, signature: await account.signMessage({ message: asked2.json.message }) }
    assert.equal((await verify(jar(asked2), right)).status, 401, 'a failed attempt spends it too')
  })

  it('lets one of many simultaneous uses of a nonce through', async () => {
    const asked = await nonce()
    const body = { address: wallet, signature: await account.signMessage({ message: asked.json.message }) }
    const answers = await Promise.all(
      [service, other, service, other, service].map((on) => verify(jar(asked), body, on)),
    )
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 401, 401, 401, 401])
  })

  it('refuses a nonce after ten minutes, and one from the future', async () => {
    for (const [laterMs, status] of [
      [599_000, 200],
      [600_000, 401],
      [-2_000, 401],
    ] as const) {
      const asked = await nonce()
      const body = { address: wallet, signature: await account.signMessage({ message: asked.json.message }) }
      service.clock.now += laterMs
      assert.equal((await verify(jar(asked), body)).status, status, `${laterMs}`)
      service.clock.now += 600_000
    }
  })

  it('refuses a nonce that is not ours', async () => {
    const asked = await nonce()
    const value = cookieOf(asked, 'nl_nonce')
    const [text, issued, bound, mac] = value.split('.') as [string, string, string, string]
    const chosen = 'a'.repeat(32)
    const payload = `${chosen}.${issued}.${bound}`
    const forged = [
      '',
      'x',
      chosen,
      `${payload}.${mac}`,
      `${payload}.`,
      `${payload}.${createHmac('sha256', '').update(payload).digest('base64url')}`,
      // Signed with the session's key, because keys are separate.
      `${payload}.${createHmac('sha256', SESSION_SECRET).update(payload).digest('base64url')}`,
      `${text}.${Number(issued) + 1}.${bound}.${mac}`,
      `${text}.${issued}.${wallet}.${mac}`,
      `${value}=`,
      `${value} x`,
      value.slice(0, -1),
      cookieOf(await signIn(), 'nl_session'),
    ]
    for (const cookie of forged) {
      service.clock.now += 4_000
      const message = asked.json.message.replace(asked.json.nonce, chosen)
      const body = { address: wallet, signature: await account.signMessage({ message }) }
      assert.equal((await verify(`nl_nonce=${cookie}`, body)).status, 401, cookie)
    }
    const right = { address: wallet, signature: await account.signMessage({ message: asked.json.message }) }
    assert.equal((await verify(`nl_nonce=${value}; nl_nonce=${value}`, right)).status, 401, 'two of one name')
    assert.equal((await verify('', right)).status, 401)
    assert.equal((await verify(`nl_nonce=${value}`, right)).status, 200)
  })

  it('refuses a signature of another domain, chain, nonce, time or address', async () => {
    const bend: ((message: string) => string)[] = [
      (m) => m.replace('ledger.example wants', 'evil.example wants'),
      (m) => m.replace('URI: https://ledger.example', 'URI: https://evil.example'),
      (m) => m.replace('Chain ID: 31337', 'Chain ID: 1'),
      (m) => m.replace(/Nonce: \w/, 'Nonce: g'),
      (m) => m.replace(/Expiration Time: 2026/, 'Expiration Time: 2027'),
      (m) => `${m}\n`,
    ]
    for (const change of bend) {
      const asked = await nonce()
      const body = { address: wallet, signature: await account.signMessage({ message: change(asked.json.message) }) }
      assert.equal((await verify(jar(asked), body)).status, 401, change.toString())
    }
    const stranger = privateKeyToAccount(generatePrivateKey())
    const asked = await nonce()
    const signature = await stranger.signMessage({ message: asked.json.message })
    assert.equal((await verify(jar(asked), { address: wallet, signature })).status, 401)
    const bound = await nonce(`?address=${wallet}`)
    const byStranger = {
      address: stranger.address,
      signature: await stranger.signMessage({ message: bound.json.message }),
    }
    assert.equal((await verify(jar(bound), byStranger)).status, 401, 'the nonce was for another wallet')
  })

  it('accepts one spelling of a signature only, and breaks over none', async () => {
    const hex64 = (value: bigint) => value.toString(16).padStart(64, '0')
    const bends: [name: string, bend: (r: bigint, s: bigint, v: number) => string, status: number][] = [
      ['as signed', (r, s, v) => `0x${hex64(r)}${hex64(s)}${v.toString(16)}`, 200],
      ['upper case', (r, s, v) => `0x${`${hex64(r)}${hex64(s)}${v.toString(16)}`.toUpperCase()}`, 200],
      ['high s', (r, s, v) => `0x${hex64(r)}${hex64(ORDER - s)}${(55 - v).toString(16)}`, 401],
      ['v 0 or 1, as a Ledger signs', (r, s, v) => `0x${hex64(r)}${hex64(s)}0${v - 27}`, 200],
      ['v the other of 0 and 1', (r, s, v) => `0x${hex64(r)}${hex64(s)}0${28 - v}`, 401],
      ['v 35', (r, s, v) => `0x${hex64(r)}${hex64(s)}${(v + 8).toString(16)}`, 401],
      ['truncated to 64 bytes', (r, s) => `0x${hex64(r)}${hex64(s)}`, 401],
      ['compact', (r, s, v) => `0x${hex64(r)}${hex64(s | (BigInt(v - 27) << 255n))}`, 401],
      ['r zero', (_r, s, v) => `0x${hex64(0n)}${hex64(s)}${v.toString(16)}`, 401],
      ['s zero', (r, _s, v) => `0x${hex64(r)}${hex64(0n)}${v.toString(16)}`, 401],
      ['r the order', (_r, s, v) => `0x${hex64(ORDER)}${hex64(s)}${v.toString(16)}`, 401],
      ['s the order', (r, _s, v) => `0x${hex64(r)}${hex64(ORDER)}${v.toString(16)}`, 401],
      ['all ones', () => `0x${'f'.repeat(130)}`, 401],
      ['r on no point', (_r, s, v) => `0x${hex64(5n)}${hex64(s)}${v.toString(16)}`, 401],
      ['trailing bytes', (r, s, v) => `0x${hex64(r)}${hex64(s)}${v.toString(16)}00`, 401],
      ['empty', () => '0x', 401],
      ['an ERC-6492 one', () => `0x${'00'.repeat(200)}${'6492'.repeat(16)}`, 401],
      ['no hex', () => 'hello', 400],
      ['no 0x', (r, s, v) => `${hex64(r)}${hex64(s)}${v.toString(16)}`, 400],
      ['nothing', () => '', 400],
    ]
    for (const [name, bend, status] of bends) {
      service.clock.now += 4_000
      const asked = await nonce()
      const signature = await account.signMessage({ message: asked.json.message })
      const [r, s, v] = [
        BigInt(signature.slice(0, 66)),
        BigInt(`0x${signature.slice(66, 130)}`),
        Number.parseInt(signature.slice(130), 16),
      ]
      assert.equal((await verify(jar(asked), { address: wallet, signature: bend(r, s, v) })).status, status, name)
    }
  })

  it('refuses malformed bodies with 400 without spending the nonce', async () => {
    const asked = await nonce()
    const signature = await account.signMessage({ message: asked.json.message })
    const bodies = [
      {},
      { address: wallet },
      { signature },
      { address: 1, signature },
      { address: wallet, signature: [signature] },
      { address: '0x12', signature },
    ]
    for (const body of [...bodies, 'x', '[]', 'null'])
      assert.equal(
        (await service.post('/api/auth/verify', body, { headers: { cookie: jar(asked) } })).status,
        400,
        JSON.stringify(body),
      )
    assert.equal((await verify(jar(asked), { address: wallet, signature })).status, 200)
  })

  it('refuses every bent session', async () => {
    const signedIn = await signIn()
    const value = cookieOf(signedIn, 'nl_session')
    const [address, expiry, mac] = value.split('.') as [string, string, string]
    const sign = (payload: string, key: string) =>
      `${payload}.${createHmac('sha256', key).update(payload).digest('base64url')}`
    const last = mac.at(-1) ?? ''
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const index = alphabet.indexOf(last)
    // Other spellings of the same bytes.
    const synonyms = [1, 2, 3].map((i) => mac.slice(0, -1) + alphabet[(index & ~3) | ((index + i) & 3)])
    const bent = [
      ...synonyms.map((other) => `${address}.${expiry}.${other}`),
      `${value}=`,
      `${value}%3D`,
      `${value} x`,
      `"${value}"`,
      value.slice(0, -1),
      `${address}.${expiry}.`,
      `${address}.${expiry}`,
      `${address}..${mac}`,
      `${address}.1000000000000000.${mac}`,
      `${address}.+${expiry}.${mac}`,
      `${address}.${Number(expiry) + 1}.${mac}`,
      `${address}${expiry}..${mac}`,
      `0x${'1'.repeat(40)}.${expiry}.${mac}`,
      `${address.toUpperCase()}.${expiry}.${mac}`,
      sign(`${address}.٣`, SESSION_SECRET),
      sign(`${address}.1e15`, SESSION_SECRET),
      sign(`${address}.0${expiry}`, SESSION_SECRET),
      sign(`${account.address}.${expiry}`, SESSION_SECRET),
      sign(`${address}.${expiry}`, 'another secret'),
      sign(`${address}.${expiry}`, ''),
      sign(`${address}.${Math.floor(service.clock.now / 1000)}`, SESSION_SECRET),
      'eyJhbGciOiJub25lIn0.eyJzdWIiOiIweDEyMyJ9.',
      '',
      cookieOf(await nonce(), 'nl_nonce'),
    ]
    for (const cookie of bent)
      assert.equal(
        (
          await me(
            `nl_session=${encodeURIComponent(cookie).replaceAll(/%(2C|3A|20|22|2B|3D|25)/g, (_, h) => String.fromCharCode(Number.parseInt(h, 16)))}`,
          )
        ).status,
        401,
        cookie,
      )
    for (let i = 0; i < value.length; i += 3) {
      service.clock.now += 2_000
      const flipped = value.slice(0, i) + (value[i] === 'a' ? 'b' : 'a') + value.slice(i + 1)
      assert.equal((await me(`nl_session=${flipped}`)).status, 401, flipped)
    }
    assert.equal((await me(`nl_session=${value}; nl_session=${value}`)).status, 401, 'two of one name')
    assert.equal((await me(`nl_session=${value}`)).status, 200)
  })

  it('ends a session after seven days', async () => {
    const cookie = jar(await signIn())
    service.clock.now += (WEEK_SEC - 1) * 1000
    assert.equal((await me(cookie)).status, 200)
    service.clock.now += 1_000
    assert.equal((await me(cookie)).status, 401)
  })

  it('accepts sessions and nonces signed with the previous secret, and signs with the new one', async () => {
    const oldCookie = jar(await signIn())
    const asked = await nonce()
    const rotated = await startService({
      sql: service.sql,
      readSql: service.sql,
      settings: { sessionSecret: 'the-secret-that-came-after-0123456789', previousSessionSecret: SESSION_SECRET },
      clock: () => service.clock.now,
    })
    assert.equal((await me(oldCookie, rotated)).status, 200)
    const body = { address: wallet, signature: await account.signMessage({ message: asked.json.message }) }
    const signedIn = await verify(jar(asked), body, rotated)
    assert.equal(signedIn.status, 200)
    assert.equal((await me(jar(signedIn))).status, 401, 'the old instance does not know the new secret')
    await rotated.close()
  })

  it('signs out always, and ends the session and a half-finished sign-in', async () => {
    for (const headers of [{}, { cookie: 'nl_session=lapsed' }, { cookie: jar(await signIn()) }]) {
      const answer = await service.post('/api/auth/logout', undefined, { headers })
      assert.equal(answer.status, 200)
      assert.deepEqual(answer.json, { ok: true })
      assert.deepEqual(
        cookiesOf(answer).map((cookie) => cookie.split(';').slice(0, 3).join(';')),
        ['nl_session=; Path=/; Max-Age=0', 'nl_nonce=; Path=/; Max-Age=0'],
      )
    }
  })

  it('lets pages of another origin do nothing with a session', async () => {
    const signedIn = await signIn()
    for (const origin of [
      'https://evil.example',
      'null',
      'http://ledger.example',
      'https://ledger.example:8443',
      'https://ledger.example.evil.example',
    ]) {
      const headers = { cookie: jar(signedIn), origin }
      assert.equal((await service.post('/api/nodes/sync', { nodeId: '1' }, { headers })).status, 401, origin)
      const out = await service.post('/api/auth/logout', undefined, { headers })
      assert.deepEqual([out.status, cookiesOf(out)], [200, []], origin)
      const asked = await nonce()
      const body = { address: wallet, signature: await account.signMessage({ message: asked.json.message }) }
      assert.equal(
        (await service.post('/api/auth/verify', body, { headers: { cookie: jar(asked), origin } })).status,
        401,
      )
      service.clock.now += 60_000
    }
    const own = { cookie: jar(signedIn), origin: PUBLIC_URL }
    assert.equal((await service.post('/api/nodes/sync', {}, { headers: own })).status, 400)
  })

  it('reads contract wallets from the chain only if that is allowed', async () => {
    const asked: string[] = []
    for (const [word, status] of [
      [true, 200],
      [false, 401],
      [null, 503],
    ] as const) {
      const smart = await startService({
        verifyContractWallet: async (address) => {
          asked.push(address)
          return word
        },
      })
      const begun = await nonce('', smart)
      const signature = `0x${'12'.repeat(300)}`
      assert.equal((await verify(jar(begun), { address: wallet, signature }, smart)).status, status)
      assert.equal((await signIn(smart)).status, 200, 'a plain wallet needs no chain')
      await smart.close()
    }
    assert.deepEqual(asked, [wallet, wallet, wallet])
  })

  it('is not shaken by a signer recovery that throws', async () => {
    const broken = await startService({ recoverSigner: () => Promise.reject(new Error('point is not on curve')) })
    assert.equal((await signIn(broken)).status, 401)
    await broken.close()
  })
})
