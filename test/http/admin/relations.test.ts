// Who counts as one person for the rule of the second person: a person who created another's key, or invitation, and
// everyone with the same creator, in any way and over any number of steps. Real parts; the device is one in software.
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { createKey } from '../../../src/operator/acts/keys/admin-keys.ts'
import { KEYS } from '../../support/operator.ts'
import { as, CLI, codeIn, openDoor } from './door.ts'

const SCOPES = ['read', 'operate']

describe('of one person’s keys', () => {
  const door = openDoor()
  /** Keys by the label of their person. */
  const keys: Record<string, string> = { ada: KEYS[0]?.key ?? '', grace: KEYS[1]?.key ?? '' }

  /** No key outlives its creator's. */
  const days: Record<string, number> = { ada: 60, zoe: 60 }
  const gift = (from: string, label: string) => {
    days[label] = (days[from] ?? 0) - 10
    return { label, scopes: SCOPES, expires: `${days[label]}d` }
  }

  const makes = async (maker: string, label: string): Promise<void> => {
    const given = gift(maker, label)
    const { status, json, text } = await door.desk.post('keys', given, as(keys[maker] ?? ''))
    assert.equal(status, 200, text)
    keys[label] = json.key
  }
  const invites = async (host: string, label: string): Promise<void> => {
    const given = gift(host, label)
    const { status, json, text } = await door.desk.post('keys/invite', given, as(keys[host] ?? ''))
    assert.equal(status, 200, text)
    keys[label] = (await door.enrol(codeIn(json.link))).key
  }
  const onTheMachine = async (label: string): Promise<void> => {
    const deps = { ...door.desk.world, environmentKeys: [] }
    keys[label] = ((await createKey(deps, CLI, { label, scopes: SCOPES })) as { key: string }).key
  }
  const propose = async (by: string): Promise<number> =>
    (await door.desk.post('second-person', { off: true }, as(keys[by] ?? ''))).json.proposal.id
  const confirm = (id: number, by: string) => door.desk.post(`proposals/${id}/confirm`, {}, as(keys[by] ?? ''))

  /** Everyone from ada, and everyone from zoe. */
  const families = [
    ['ada', 'made', 'made-too', 'invited', 'invited-too', 'made-of-made', 'invited-of-made', 'made-of-invited'],
    ['zoe', 'made-of-zoe', 'invited-of-zoe'],
  ]

  before(async () => {
    await makes('ada', 'made')
    await makes('ada', 'made-too')
    await invites('ada', 'invited')
    await invites('ada', 'invited-too')
    await makes('made', 'made-of-made')
    await invites('made', 'invited-of-made')
    await makes('invited', 'made-of-invited')
    await invites('invited-of-made', 'third')
    await makes('made-of-invited', 'third-too')
    families[0]?.push('third', 'third-too')
    await onTheMachine('zoe')
    await onTheMachine('yan')
    await makes('zoe', 'made-of-zoe')
    await invites('zoe', 'invited-of-zoe')
    assert.equal((await door.desk.post('second-person', { aboveWei: '1' })).status, 200)
  })

  it('none confirms what another has proposed: maker, host, siblings, cousins, grandchildren', async () => {
    for (const family of families)
      for (const one of family) {
        const id = await propose(one)
        for (const other of family) {
          const { status, json } = await confirm(id, other)
          assert.equal(status, 403, `${other} confirms ${one}: ${json.error}`)
          assert.match(json.error, one === other ? /you proposed it yourself/ : /the same person/)
        }
        assert.equal((await door.desk.post(`proposals/${id}/refuse`, {}, as(keys[one] ?? ''))).status, 200)
      }
    assert.notEqual((await door.desk.get('second-person')).json.aboveWei, null)
  })

  it('any of another family does, as do those who were made on the command line', async () => {
    for (const [one, other] of [
      ['third', 'invited-of-zoe'],
      ['made-of-zoe', 'invited-too'],
      ['made', 'grace'],
      ['zoe', 'yan'],
    ] as const) {
      assert.equal((await confirm(await propose(one), other)).status, 200, `${other} confirms ${one}`)
      assert.equal((await door.desk.post('second-person', { aboveWei: '1' })).status, 200)
    }
  })

  it('a key’s maker is one person with the owner of its label from then on', async () => {
    const id = await propose('made')
    // Keys of the settings may create a key with any label. Theirs is that person's key, and so its creator's.
    const { json } = await door.desk.post('keys', { label: 'yan', scopes: SCOPES }, as(keys.ada ?? ''))
    assert.equal((await confirm(id, 'yan')).status, 403)
    assert.equal((await door.desk.post(`proposals/${id}/confirm`, {}, as(json.key))).status, 403)
    assert.equal((await confirm(id, 'zoe')).status, 200)
  })
})
