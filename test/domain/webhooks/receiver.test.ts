// What a receiver's URL means: each part of a mail server's URL right and wrong, the chats, choices of events, and signing secrets.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHOICE_FORM, choiceText, kindsOf, readChoice } from '../../../src/domain/webhooks/choice.ts'
import { KINDS } from '../../../src/domain/webhooks/kinds.ts'
import {
  chatField,
  eventsInUrl,
  isMail,
  isSigned,
  mailTargetOf,
  receiverOf,
} from '../../../src/domain/webhooks/receiver.ts'
import { isSigningSecret, SECRETS_MAX } from '../../../src/domain/webhooks/secret.ts'

const SLACK = 'https://hooks.slack.com/services/T/B/x'
const HOOK = 'https://hooks.example/a'
const QUERY = '?from=led+ger@x.example&to=ann@y.example'
const WHOLE = `smtps://ann:pass@mail.example${QUERY}`
/** The documented default: the events that ask for a person, and those that end the need. */
const MAILED = Object.keys(KINDS).filter(
  (type) => KINDS[type]?.asks === true || type === 'passes.resumed' || type === 'signer.restored',
)
const TARGET = {
  ...{ host: 'mail.example', port: 465, tls: true, user: 'ann', from: 'led+ger@x.example', to: ['ann@y.example'] },
  events: MAILED,
}
const addressed = (address: string) =>
  mailTargetOf(`smtps://mail.example?from=${encodeURIComponent(address)}&to=a@x.example`) !== null

test('a mail server’s URL gives the protocol by its scheme, and the recipients by its query', () => {
  const urls: [string, Partial<typeof TARGET> | { user: null }][] = [
    [WHOLE, {}],
    [WHOLE.replace('smtps', 'SMTPS'), {}],
    [WHOLE.replace('smtps', 'smtp'), { port: 587, tls: false }],
    [WHOLE.replace('mail.example', 'mail.example:2525'), { port: 2_525 }],
    [WHOLE.replace('mail.example', 'mail.example/'), {}],
    [WHOLE.replace('mail.example', '[::1]'), { host: '::1' }],
    [WHOLE.replace('ann:pass@', ''), { user: null }],
    [WHOLE.replace('ann:', 'a%40b:'), { user: 'a@b' }],
    [`${WHOLE}&to=bob@y.example`, { to: ['ann@y.example', 'bob@y.example'] }],
    [`${WHOLE}${'&to=bob@y.example'.repeat(9)}`, { to: ['ann@y.example', ...Array(9).fill('bob@y.example')] }],
    [`${WHOLE}&events=payment.minted, payment.held`, { events: ['payment.minted', 'payment.held'] }],
    [`${WHOLE}&events=all`, { events: Object.keys(KINDS) }],
  ]
  for (const [url, fields] of urls) assert.deepEqual(mailTargetOf(url), { ...TARGET, ...fields }, url)
})

test('a mail server’s URL with a part too few, too many or malformed is none', () => {
  const urls = [
    WHOLE.replace('smtps', 'https'),
    `x${WHOLE}`,
    ` ${WHOLE}`,
    WHOLE.replace('smtps', 'smtpss'),
    WHOLE.replace('mail.example', '[bad'),
    `smtps://${QUERY}`,
    WHOLE.replace('ann:', '%zz:'),
    WHOLE.replace('pass', '%zz'),
    WHOLE.replace('mail.example', 'mail.example/x'),
    WHOLE.replace('mail.example', 'mail.example//'),
    `${WHOLE}&from=ledger@x.example`,
    WHOLE.replace('from=led+ger@x.example&', ''),
    WHOLE.replace('&to=ann@y.example', ''),
    `${WHOLE}${'&to=bob@y.example'.repeat(10)}`,
    `${WHOLE}&to=bob`,
    `${WHOLE}&events=payment.hold`,
    `${WHOLE}&events=`,
    `${WHOLE}&cc=bob@y.example`,
  ]
  for (const url of urls) assert.equal(mailTargetOf(url), null, url)
})

test('an address is 1 to 64 characters without header punctuation, and a host of 1 to 253', () => {
  for (const [local, host, isOne] of [
    [1, 1, true],
    [64, 253, true],
    [65, 1, false],
    [1, 254, false],
    [0, 1, false],
    [1, 0, false],
  ] as const)
    assert.equal(addressed(`${'a'.repeat(local)}@${'b'.repeat(host)}`), isOne, `${local} @ ${host}`)
  for (let code = 1; code < 128; code++) {
    const one = String.fromCharCode(code)
    const isLocal = !/[\s<>()[\],;:@"\\]/.test(one)
    assert.equal(addressed(`a${one}a@b.example`), isLocal, JSON.stringify(one))
    assert.equal(addressed(`${one}@b.example`), isLocal, JSON.stringify(one))
    assert.equal(addressed(`a@b${one}b`), /[A-Za-z0-9.-]/.test(one), JSON.stringify(one))
    assert.equal(addressed(`a@b${one}`), /[A-Za-z0-9.-]/.test(one), JSON.stringify(one))
  }
})

test('a chat gets a text field, a mail server none, and only other receivers get signatures', () => {
  const rows: [string, field: string | null, mail: boolean][] = [
    [SLACK, 'text', false],
    ['https://discord.com/api/webhooks/1/x', 'content', false],
    ['https://api.telegram.org/bot1:x/sendMessage?chat_id=2', 'text', false],
    [HOOK, null, false],
    ['https://x.discord.com/', null, false],
    ['https://hooks.example/smtp://x', null, false],
    ['smtp://discord.com', 'content', true],
    ['smtps://mail.example', null, true],
    ['SMTPS://mail.example', null, true],
  ]
  for (const [url, field, mail] of rows) {
    assert.equal(chatField(url), field, url)
    assert.equal(isMail(url), mail, url)
    assert.equal(isSigned(url), !mail && field === null, url)
  }
})

test('a mail server’s password becomes its secret, a chat has no secret, others keep theirs', () => {
  const bare = `smtps://ann@mail.example${QUERY}`
  const secrets = ['whsec_a', 'whsec_b']
  assert.deepEqual(receiverOf(WHOLE, secrets), { url: bare, secrets: ['pass'] })
  assert.deepEqual(receiverOf(WHOLE.replace('pass', 'p%40ss'), []), { url: bare, secrets: ['p@ss'] })
  assert.deepEqual(receiverOf(WHOLE.replace('pass', '%zz'), []), { url: bare, secrets: [''] })
  assert.deepEqual(receiverOf(bare, []), { url: bare, secrets: [''] })
  assert.deepEqual(receiverOf(SLACK, secrets), { url: SLACK, secrets: [''] })
  assert.deepEqual(receiverOf(HOOK, secrets), { url: HOOK, secrets })
})

test('only a mail server’s URL lists events', () => {
  assert.equal(eventsInUrl(`${WHOLE}&events=a,b`), 'a,b')
  for (const url of [WHOLE, `${HOOK}?events=a`, 'smtps://[bad?events=a']) assert.equal(eventsInUrl(url), null, url)
})

test('a choice is all kinds, or known kinds, each once', () => {
  const rows: [string, kinds: string[], unknown: string[]][] = [
    ['all', ['all'], []],
    [' all , all', ['all'], []],
    ['payment.held', ['payment.held'], []],
    [' payment.held,funds.low , payment.held', ['payment.held', 'funds.low'], []],
    ['payment.held,all', ['payment.held', 'all'], ['all']],
    ['all,payment.held', ['all', 'payment.held'], ['all']],
    ['', [''], ['']],
    ['payment.held,', ['payment.held', ''], ['']],
    ['no.kind', ['no.kind'], ['no.kind']],
    ['toString,payment.held', ['toString', 'payment.held'], ['toString']],
  ]
  for (const [text, kinds, unknown] of rows) {
    assert.deepEqual(readChoice(text), { kinds, unknown }, text)
    assert.equal(choiceText(kinds), kinds.join(), text)
  }
  assert.deepEqual(kindsOf(['all']), Object.keys(KINDS))
  assert.deepEqual(kindsOf(['funds.low', 'payment.held']), ['funds.low', 'payment.held'])
  assert.equal(CHOICE_FORM, `all, or kinds of events separated by commas: ${Object.keys(KINDS).join(', ')}`)
})

test('a signing secret is the prefix and the canonical base64 of 24 to 64 bytes', () => {
  for (let length = 0; length < 80; length++) {
    const base64 = Buffer.alloc(length, 0xfb).toString('base64')
    assert.equal(isSigningSecret(`whsec_${base64}`), length >= 24 && length <= 64, `${length} bytes`)
    for (const other of [base64, `WHSEC_${base64}`, `whsec_${base64}=`, `whsec_${base64}\n`, ` whsec_${base64}`])
      assert.equal(isSigningSecret(other), false, other)
  }
  const base64 = Buffer.alloc(25, 0xff).toString('base64')
  const spelt = [base64.replace(/=+$/, ''), base64.replace('w==', 'x=='), base64.replaceAll('/', '_'), `${base64} `]
  for (const other of spelt) assert.equal(isSigningSecret(`whsec_${other}`), false, other)
  assert.equal(SECRETS_MAX, 2)
})
