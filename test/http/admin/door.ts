// Sign-in for people at an operator's desk, for tests of passkeys: invitations, devices, sign-ins. Real parts; the device is one in software.
import assert from 'node:assert/strict'
import { after, before, beforeEach } from 'node:test'
import { invite } from '../../../src/operator/acts/keys/passkeys.ts'
import { type AskOptions, PUBLIC_URL, type Service } from '../../support/http.ts'
import { type Desk, startDesk } from '../../support/operator.ts'
import { Authenticator, type Said } from './authenticator.ts'

/** How long an instance caches what it has read of a key. */
export const HOLDS_MS = 3_000
export const MINUTE_MS = 60_000
/** The command line, whose invitations relate no person to another. */
export const CLI = { name: 'cli:test', requestId: null }

export const as = (key: string) => ({ headers: { 'x-admin-key': key } })
export const codeIn = (link: string) => new URL(link).hash.replace('#invite=', '')

/** Opens a desk for the tests of this describe, and its sign-in. */
export function openDoor() {
  const opened = {} as { desk: Desk }
  before(async () => {
    opened.desk = await startDesk()
  })
  after(() => opened.desk.close())
  // Each test has its own minute, because limits are a separate case.
  beforeEach(() => {
    opened.desk.service.clock.now += MINUTE_MS
  })
  const post = (path: string, body: unknown, options: AskOptions = {}, at: Service = opened.desk.service) =>
    at.post(`/api/passkeys${path}`, body, options)
  const challenge = async (at?: Service) => (await post('/challenge', {}, {}, at)).json
  const begin = async (code: string) => {
    const { status, json, text } = await post('/invitation', { code })
    assert.equal(status, 200, text)
    return json
  }
  return Object.assign(opened, {
    post,
    challenge,
    begin,
    lapse: () => {
      opened.desk.service.clock.now += HOLDS_MS
    },
    /** The code of an invitation from the command line. */
    codeFor: async (label: string, scopes: string, expires = '30d'): Promise<string> => {
      const deps = { ...opened.desk.world, environmentKeys: [], publicUrl: PUBLIC_URL }
      return codeIn(((await invite(deps, CLI, { label, scopes, expires })) as { link: string }).link)
    },
    /** Creates the passkey of an invitation: the answer, and the device. */
    enrol: async (code: string, said: Said = {}, device = new Authenticator(PUBLIC_URL)) => {
      const { options } = await begin(code)
      const answer = await post('/make', { code, credential: device.make(options, said) })
      return { device, answer, key: answer.json.key as string }
    },
    signIn: async (device: Authenticator, said: Said = {}, options: AskOptions = {}) =>
      post('/sign-in', { credential: device.sign(await challenge(), said) }, options),
    passkeyOf: async (label: string) => {
      const { passkeys } = (await opened.desk.get('keys')).json
      return passkeys.find((row: { label: string }) => row.label === label)
    },
    audit: async (action: string) =>
      (await opened.desk.get(`audit?action=${action}`)).json.entries as { actor: string; subject: string }[],
  })
}
