// The settings of webhooks: refusals that name the remedy and never the secret.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ConfigError, describeConfig, loadConfig } from '../../src/config/load.ts'
import { cases } from '../support/property.ts'
import { SECRET, SECRET_BEFORE } from './receiver.ts'

const noFile = () => {
  throw Object.assign(new Error('no file'), { code: 'ENOENT' })
}
const load = (env: Record<string, string>) => loadConfig({ NODE_ENV: 'test', ...env }, { readFile: noFile })
const MAIL = 'smtps://u:a-secret-path@mail.example?from=a@x.example&to=b@x.example'
const URL_A = 'https://hooks.example.org/a-secret-path'

const REFUSED: [string, Record<string, string>, string, RegExp][] = [
  ['a URL without a secret', { WEBHOOK_URL: URL_A }, 'WEBHOOK_SECRET', /is missing.*whsec_/],
  ['a secret without a URL', { WEBHOOK_SECRET: SECRET }, 'WEBHOOK_URL', /is missing/],
  ['plain http', { WEBHOOK_URL: 'http://h.example', WEBHOOK_SECRET: SECRET }, 'WEBHOOK_URL', /is not https/],
  ['another scheme', { WEBHOOK_URL: 'file:///etc/passwd', WEBHOOK_SECRET: SECRET }, 'WEBHOOK_URL', /is not a URL/],
  ['a mail server without a recipient', { WEBHOOK_URL: `${MAIL}&to=` }, 'WEBHOOK_URL', /is not a URL.*from=/],
  ['events without a URL', { WEBHOOK_EVENTS: 'all' }, 'WEBHOOK_URL', /is missing: WEBHOOK_EVENTS needs it/],
  [
    'a kind of event that there is none of',
    { WEBHOOK_URL: URL_A, WEBHOOK_SECRET: SECRET, WEBHOOK_EVENTS: 'payment.held,payment.hold' },
    'WEBHOOK_EVENTS',
    /"payment\.hold", which is not a kind of event: write all, or .*payment\.held, payment\.minted/,
  ],
  [
    'another kind in the URL of a mail server',
    { WEBHOOK_URL: `${MAIL}&events=payment.held,payment.hold,${URL_A}`, WEBHOOK_SECRET: SECRET },
    'WEBHOOK_URL',
    /unknown events for mail: after events= write all, or .*payment\.held/,
  ],
  [
    'three choices for two endpoints',
    { WEBHOOK_URL: `${URL_A},${MAIL}`, WEBHOOK_SECRET: SECRET, WEBHOOK_EVENTS: 'all/all/all' },
    'WEBHOOK_EVENTS',
    /3 choices for 2 endpoints/,
  ],
  [
    'a second host without its scheme',
    { WEBHOOK_URL: `https://a.example,b.example`, WEBHOOK_SECRET: SECRET },
    'WEBHOOK_URL',
    /is not a URL/,
  ],
  ['one URL twice', { WEBHOOK_URL: `${URL_A},${URL_A}`, WEBHOOK_SECRET: SECRET }, 'WEBHOOK_URL', /twice/],
  [
    'a secret without its prefix',
    { WEBHOOK_URL: URL_A, WEBHOOK_SECRET: SECRET.slice(6) },
    'WEBHOOK_SECRET',
    /signing secret/,
  ],
  ['a short secret', { WEBHOOK_URL: URL_A, WEBHOOK_SECRET: 'whsec_c2hvcnQ=' }, 'WEBHOOK_SECRET', /24 to 64/],
  [
    'three secrets',
    { WEBHOOK_URL: URL_A, WEBHOOK_SECRET: [SECRET, SECRET_BEFORE, SECRET].join(',') },
    'WEBHOOK_SECRET',
    /at most 2 are allowed/,
  ],
]
for (const [what, env, setting, words] of REFUSED) {
  test(`refused: ${what}`, () => {
    assert.throws(
      () => load(env),
      (error: Error) => {
        assert.ok(error instanceof ConfigError)
        assert.deepEqual(
          error.problems.map((problem) => problem.setting),
          [setting],
        )
        assert.match(error.message, words)
        for (const secret of ['a-secret-path', SECRET.slice(6)]) assert.ok(!error.message.includes(secret))
        return true
      },
    )
  })
}

test('a signing secret is required beside mail servers and chats as soon as one URL is neither', () => {
  const all = { signed: URL_A, mail: MAIL, chat: 'https://hooks.slack.com/services/T/B/x' }
  const kinds = ['signed', 'mail', 'chat'] as const
  fc.assert(
    fc.property(fc.shuffledSubarray([...kinds], { minLength: 1 }), fc.boolean(), (some, hasSecret) => {
      const urls = some.map((kind) => all[kind])
      const env = { WEBHOOK_URL: urls.join(','), ...(hasSecret ? { WEBHOOK_SECRET: SECRET } : {}) }
      if (some.includes('signed') && !hasSecret) assert.throws(() => load(env), /WEBHOOK_SECRET is missing/)
      else assert.deepEqual(load(env).webhooks.urls, urls)
    }),
    { numRuns: cases(60) },
  )
  const config = load({ WEBHOOK_URL: `${MAIL},${all.chat}` })
  assert.equal(describeConfig(config).WEBHOOK_URL, 'smtps://***@mail.example/***,https://hooks.slack.com/***')
})

test('several URLs, and two secrets during a rotation, are accepted and shown masked', () => {
  const config = load({
    WEBHOOK_URL: `${URL_A}, https://other.example/x`,
    WEBHOOK_SECRET: `${SECRET},${SECRET_BEFORE}`,
  })
  assert.deepEqual(config.webhooks?.secrets, [SECRET, SECRET_BEFORE])
  const described = describeConfig(config)
  assert.equal(described.WEBHOOK_URL, 'https://hooks.example.org/***,https://other.example/***')
  assert.equal(described.WEBHOOK_SECRET, '***,***')
  const local = load({ WEBHOOK_URL: 'http://10.0.0.5/h', WEBHOOK_SECRET: SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' })
  assert.equal(local.webhooks?.allowPrivate, true)
})

test('one choice of events is for all endpoints, several for each in turn, beside mail commas', () => {
  const mail = `${MAIL}&events=payment.held, funds.low`
  const given = { WEBHOOK_URL: `${URL_A}, ${mail},https://hooks.slack.com/services/T/B/x`, WEBHOOK_SECRET: SECRET }
  const { webhooks } = load(given)
  assert.deepEqual([webhooks.urls.length, webhooks.urls[1], webhooks.events], [3, mail, null])
  const each = load({ ...given, WEBHOOK_EVENTS: 'payment.held,funds.low / all / signer.down' })
  assert.deepEqual(each.webhooks.events, [['payment.held', 'funds.low'], ['all'], ['signer.down']])
  assert.equal(describeConfig(each).WEBHOOK_EVENTS, 'payment.held,funds.low/all/signer.down')
  const same = load({ ...given, WEBHOOK_EVENTS: 'funds.low' })
  assert.deepEqual(same.webhooks.events, [['funds.low'], ['funds.low'], ['funds.low']])
})
