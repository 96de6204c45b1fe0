// The second person: what waits for one, who may be one, and that the service judges a confirmed act again and does it once. Real parts.
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { createKey } from '../../../src/operator/acts/keys/admin-keys.ts'
import { type Desk, KEYS } from '../../support/operator.ts'
import { meetAt } from '../../support/postgres.ts'
import { ETHER, paymentOf } from '../../support/world.ts'
import { openDoor } from './door.ts'

const BASIC = ETHER / 100n
const ODD = BASIC + 1n
const LARGE = 3n * BASIC
const [, GRACE] = KEYS

describe('a second person', () => {
  const door = openDoor()
  let desk: Desk
  const as = (key: string, extra: object = {}) => ({ headers: { 'x-admin-key': key, ...extra } })
  const grace = as(GRACE?.key ?? '')
  /** A key created on the command line. */
  const keyOf = async (label: string, scopes: string): Promise<string> => {
    const actor = { name: 'cli:test', requestId: null }
    const made = await createKey({ ...desk.world, environmentKeys: [] }, actor, { label, scopes })
    return (made as { key: string }).key
  }
  const held = async (valueWei: bigint, payer = 5): Promise<string> => {
    const hash = await desk.world.pay(payer, valueWei)
    await desk.world.settle()
    return hash
  }
  const stateOf = async (hash: string) => (await paymentOf(desk.world, hash as never))?.state
  const propose = async (path: string, body: object, options = {}): Promise<number> => {
    const { status, json, text } = await desk.post(path, body, options)
    assert.equal(status, 202, text)
    return json.proposal.id
  }
  const confirm = (id: number, options: object = grace) => desk.post(`proposals/${id}/confirm`, {}, options)
  const bound = (wei: bigint) => desk.post('second-person', { aboveWei: wei.toString() })

  before(() => {
    desk = door.desk
  })

  it('is not needed before the rule is set, which takes none', async () => {
    assert.deepEqual((await desk.get('second-person')).json, { aboveWei: null })
    const hash = await held(LARGE)
    assert.equal((await desk.post(`payments/${hash}/release`, { tierId: 'basic' })).status, 200)
    assert.partialDeepStrictEqual((await bound(2n * BASIC)).json, { aboveWei: (2n * BASIC).toString(), changed: true })
  })

  it('is needed for a release above the amount: they confirm it, in one row of the audit log', async () => {
    const small = await held(ODD)
    assert.equal((await desk.post(`payments/${small}/release`, { tierId: 'basic' })).status, 200)
    const hash = await held(LARGE)
    const body = { tierId: 'basic', reason: 'a good buyer' }
    const once = { headers: { 'idempotency-key': 'p-1' } }
    const id = await propose(`payments/${hash}/release`, body, once)
    assert.equal(await propose(`payments/${hash}/release`, body, once), id, 'the same request')
    assert.equal(await propose(`payments/${hash}/release`, body), id, 'the same act')
    assert.equal(await stateOf(hash), 'held')
    const { proposals } = (await desk.get('proposals')).json
    assert.deepEqual(
      [proposals[0].id, proposals[0].act, proposals[0].proposedBy, proposals[0].state, proposals[0].scope],
      [id, 'release', 'ada', 'open', 'decide'],
    )
    assert.equal((await confirm(id)).status, 200)
    assert.equal(await stateOf(hash), 'accepted')
    const rows = await desk.world.pool<{ actor: string; detail: { confirmedBy: string; proposal: number } }[]>`
      SELECT actor, detail FROM audit WHERE action = 'released' AND subject = ${hash}`
    assert.equal(rows.length, 1)
    assert.deepEqual([rows[0]?.actor, rows[0]?.detail.confirmedBy, rows[0]?.detail.proposal], ['ada', 'grace', id])
  })

  it('confirms nothing that an ended key or passkey proposed, and the list reports that', async () => {
    const hash = await held(LARGE)
    const path = `payments/${hash}/release`
    const made = await desk.post('keys', { label: 'leaver', scopes: ['decide'] }, grace)
    const byLeaver = await propose(path, { tierId: 'basic' }, as(made.json.key))
    assert.equal((await desk.post(`keys/${made.json.id}/revoke`, {})).status, 200)
    const again = await desk.post('keys', { label: 'leaver', scopes: ['decide'] }, grace)
    const byAgain = await propose(path, { tierId: 'basic' }, as(again.json.key))
    assert.notEqual(byAgain, byLeaver)
    const byAda = await propose(path, { tierId: 'basic' })
    const { key } = await door.enrol(await door.codeFor('phone', 'decide'))
    const byPhone = await propose(path, { tierId: 'basic' }, as(key))
    const ended = async () => {
      const { proposals } = (await desk.get('proposals')).json
      return proposals.flatMap(({ id, makerEnded }: { id: number; makerEnded: boolean }) => (makerEnded ? id : []))
    }
    assert.deepEqual(await ended(), [byLeaver])
    assert.equal((await desk.post(`passkeys/${(await door.passkeyOf('phone')).id}/revoke`, {})).status, 200)
    assert.deepEqual(await ended(), [byPhone, byLeaver])
    const refused = async (id: number, options: object) => {
      const { status, json } = await confirm(id, options)
      assert.deepEqual(
        [status, json.error],
        [409, 'The key that proposed it was revoked or has expired. Propose it again.'],
      )
    }
    for (const id of [byLeaver, byPhone]) await refused(id, {})
    const ada = KEYS.shift() ?? assert.fail()
    await refused(byAda, grace)
    assert.deepEqual(await ended(), [byPhone, byAda, byLeaver])
    KEYS.unshift(ada)
    assert.equal(await stateOf(hash), 'held')
    assert.equal((await confirm(byAgain, {})).status, 200)
    assert.equal(await stateOf(hash), 'accepted')
  })

  it('is another person: not the same key, nor a maker of either, nor one without the scope', async () => {
    const hash = await held(LARGE)
    const id = await propose(`payments/${hash}/release`, { tierId: 'basic' })
    const puppet = await desk.post('keys', { label: 'puppet', scopes: ['decide', 'operate'] })
    const inner = await desk.post('keys', { label: 'inner', scopes: ['decide'], expires: '1d' }, as(puppet.json.key))
    const reader = await keyOf('reader', 'read,terms')
    const expected: [string, object, RegExp][] = [
      ['herself', {}, /you proposed it yourself/],
      ['her puppet', as(puppet.json.key), /made the other’s key/],
      ['the puppet of her puppet', as(inner.json.key), /made the other’s key/],
      ['without the scope', as(reader), /lacks the scope decide/],
    ]
    for (const [who, options, words] of expected) {
      const answer = await confirm(id, options)
      assert.equal(answer.status, 403, who)
      assert.match(answer.json.error, words)
    }
    assert.equal(await stateOf(hash), 'held')
    // Nor the other way round: the person who created both keys has both.
    const other = await propose(`payments/${hash}/release`, { tierId: 'basic' }, as(inner.json.key))
    for (const options of [{}, as(puppet.json.key)]) assert.equal((await confirm(other, options)).status, 403)
    assert.equal((await confirm(other, as(await keyOf('clerk', 'decide')))).status, 200)
    const late = await confirm(id)
    assert.equal(late.status, 409)
    assert.match(late.json.error, /can no longer be done/)
    const { proposals } = (await desk.get('proposals')).json
    const failed = proposals.find((one: { id: number }) => one.id === id)
    assert.deepEqual([failed.state, failed.settledBy], ['failed', 'grace'])
    assert.ok(failed.refusal)
  })

  it('refuses, or the first cancels it, and after seven days it expires', async () => {
    const hash = await held(LARGE)
    for (const options of [grace, {}]) {
      const id = await propose(`payments/${hash}/refund/prepare`, {})
      assert.equal((await desk.post(`proposals/${id}/refuse`, { reason: 'no' }, options)).status, 200)
      const again = await confirm(id)
      assert.equal(again.status, 409)
      assert.match(again.json.error, /was refused before/)
    }
    const id = await propose(`payments/${hash}/refund/prepare`, {})
    await desk.world.pool`UPDATE proposals SET expires_at = now() WHERE id = ${id}`
    assert.match((await confirm(id)).json.error, /has expired/)
    assert.equal((await confirm(999_999)).status, 404)
    const other = await propose(`payments/${hash}/refund/prepare`, {})
    const { status, json } = await confirm(other)
    assert.deepEqual([status, json.done.reason], [200, 'refunding'])
    const again = await desk.post(`payments/${hash}/refund/prepare`)
    assert.equal(again.status, 200, 'to ask whether it may be sent takes none')
  })

  it('is needed for several together that come to more; not for a preview, nor to dismiss', async () => {
    const payments = [await held(ODD + 1n), await held(ODD + 2n)]
    const release = { decision: 'release', payments, tierId: 'basic' }
    assert.equal((await desk.post('payments/decide', { ...release, dryRun: true })).status, 200)
    assert.equal((await desk.post('payments/decide', { ...release, payments: payments.slice(1) })).status, 200)
    const more = [payments[0] ?? '', await held(ODD + 3n)]
    const id = await propose('payments/decide', { ...release, payments: more })
    await propose('payments/refunds/prepare', { payments: more })
    assert.equal((await desk.post('payments/decide', { decision: 'dismiss', payments: more.slice(1) })).status, 200)
    const { json } = await confirm(id)
    assert.deepEqual(
      json.done.results.map(({ refusal }: { refusal: string | null }) => refusal === null),
      [true, false],
      'each is judged again',
    )
  })

  it('confirms beside another for the same payments in another order, and each gets an outcome', async () => {
    const payments = [await held(LARGE, 5), await held(LARGE, 6), await held(LARGE, 7)]
    const decide = (named: string[]) =>
      propose('payments/decide', { decision: 'release', payments: named, tierId: 'basic' })
    const [one, other] = [await decide(payments), await decide(payments.toReversed())]
    const answers = await meetAt(
      desk.world.pool,
      // The one in the middle delays both, each with a payment that the other one wants next.
      (sql) => sql`SELECT FROM payments WHERE tx_hash = ${payments[1] ?? ''} FOR UPDATE`,
      [() => confirm(one), () => confirm(other)],
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    const decided = answers.map(({ json }) => json.done.decided as number)
    assert.deepEqual(decided.sort(), [0, 3])
  })

  it('is always needed for terms and the payments wallet, which are checked before a proposal', async () => {
    assert.equal((await desk.post('terms', { maxWei: '-1' })).status, 400)
    assert.equal((await desk.post('payment-wallets', { address: '0x12' })).status, 400)
    const wallet = desk.world.at(12)
    const id = await propose('payment-wallets', { address: wallet })
    assert.equal((await desk.get('payment-wallets')).json.wallets.length, 1)
    assert.equal((await confirm(id)).status, 200)
    const { wallets } = (await desk.get('payment-wallets')).json
    assert.deepEqual([wallets.at(-1).wallet, wallets.at(-1).enteredBy], [wallet, 'ada'])
    await propose('payment-wallets/cancel', { address: wallet })
    assert.equal((await desk.post('payment-wallets/close', { address: wallet })).status, 409)
    const { terms } = (await desk.get('terms')).json
    const entered = await propose('terms', { maxWei: (BigInt(terms[0].maxWei) - 1n).toString() })
    assert.equal((await confirm(entered)).status, 200)
    assert.equal((await desk.get('terms')).json.terms.length, terms.length + 1)
  })

  it('is needed to raise the amount or to switch the rule off, not to lower it', async () => {
    assert.equal((await bound(BASIC)).status, 200)
    await propose('second-person', { aboveWei: (5n * BASIC).toString() })
    const id = await propose('second-person', { off: true })
    assert.equal((await desk.post('second-person', {})).status, 400)
    assert.deepEqual((await desk.get('second-person')).json, { aboveWei: BASIC.toString() })
    // If two confirm at once, the second waits, and learns that it was done.
    const both = await meetAt(desk.world.pool, (sql) => sql`SELECT FROM proposals WHERE id = ${id} FOR UPDATE`, [
      () => confirm(id),
      () => confirm(id),
    ])
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
    assert.deepEqual((await desk.get('second-person')).json, { aboveWei: null })
    const events = await desk.world.pool`SELECT FROM audit WHERE action = 'proposed'`
    assert.ok(events.count > 8)
  })
})
