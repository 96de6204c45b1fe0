// Values of settings, one by one: the texts that each parser accepts and rejects, and the signs of a guessable secret.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddress } from '../../src/chain/digest.ts'
import type { Parse } from '../../src/config/setting.ts'
import { formed, httpUrls, networks, onOff, parsePrivateKey, parseUrl, postgresUrl } from '../../src/config/values.ts'
import { isWellKnownKey, weaknessOf } from '../../src/config/weak.ts'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'

/** A parser's value for a text, and its problems. */
function told<T>(parse: Parse<T>, text: string): [T | null, string[]] {
  const mistakes: string[] = []
  const refuse = (message: string) => {
    mistakes.push(message)
    return null
  }
  const none = () => assert.fail('there is nothing to warn of, and no file')
  return [parse(text, { production: true, refuse, warn: none, file: none }), mistakes]
}

test('a switch is on or off in three words each', () => {
  for (const [words, expected] of [
    [['true', 'on', '1', 'On', 'TRUE'], true],
    [['false', 'off', '0', 'OFF', 'False'], false],
  ] as const)
    for (const word of words) assert.deepEqual(told(onOff, word), [expected, []], word)
  for (const word of ['yes', '2', 'truee', '__proto__', 'constructor']) {
    const [value, problems] = told(onOff, word)
    assert.deepEqual([value, problems.length], [null, 1], word)
  }
})

test('a text of another form is refused with its remedy', () => {
  assert.deepEqual(told(formed({ form: /^a$/, remedy: 'set it' }), 'a'), ['a', []])
  assert.deepEqual(told(formed({ form: /^a$/, remedy: 'set it' }), 'b'), [null, ['is "b": set it']])
})

test('an address, or a key, is the whole text', () => {
  const wallet = `0x${'ab'.repeat(20)}`
  assert.equal(parseAddress(wallet), wallet)
  for (const text of [`x${wallet}`, `${wallet}0`, ` ${wallet}`, `${wallet}\n`]) assert.equal(parseAddress(text), null)
  const key = 'ab'.repeat(32)
  assert.equal(parsePrivateKey(key), `0x${key}`)
  assert.equal(parsePrivateKey(`0x${key.toUpperCase()}`), `0x${key}`)
  for (const text of [`x${key}`, `0x${key}0`, `0x0x${key}`, `${key} `, `00${key}`, '0'.repeat(64), 'f'.repeat(64)])
    assert.equal(parsePrivateKey(text), null)
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  assert.equal(parsePrivateKey(order.toString(16)), null)
  assert.equal(parsePrivateKey((order - 1n).toString(16)), `0x${(order - 1n).toString(16)}`)
})

test('a URL has one of the schemes, and a host', () => {
  assert.equal(parseUrl('https://example.org/x', ['http:', 'https:'])?.hostname, 'example.org')
  for (const text of ['ftp://example.org', 'example.org', '', 'https://'])
    assert.equal(parseUrl(text, ['https:']), null)
  assert.equal(parseUrl('unix:/run/socket', ['unix:']), null)
})

test('commas separate URLs, and an invalid one is reported by its number', () => {
  const read = (text: string, countMax = 3) => told(httpUrls(countMax), text)
  assert.deepEqual(read('https://a.example, ,http://b.example,'), [['https://a.example', 'http://b.example'], []])
  assert.deepEqual(read('ftp://a.example'), [
    null,
    ['is not a URL: set it to http://… or https://…, several separated by commas'],
  ])
  assert.deepEqual(read('ftp://a.example', 1), [null, ['is not a URL: set it to http://… or https://…']])
  assert.deepEqual(read(','), [null, ['is not a URL: set it to http://… or https://…, several separated by commas']])
  const second =
    'has an entry (number 2) that is not a URL: set it to http://… or https://…, several separated by commas'
  assert.deepEqual(read('https://a.example,b.example'), [null, [second]])
  assert.deepEqual(read('http://a.example,http://b.example', 1), [null, ['has 2 URLs, but at most 1 are allowed']])
})

test('a PostgreSQL URL is one from its first character to its last', () => {
  for (const url of ['postgres://h', 'postgresql://u:p@h:5432/d', 'postgres:///d?host=/run', 'postgres://h?x=1'])
    assert.deepEqual(told(postgresUrl, url), [url, []])
  for (const url of [
    'xpostgres://h/d',
    ' postgres://h/d',
    'postgres://h/d ',
    'mysql://h/d',
    'postgres://h/d/e',
    'postgres:h',
  ])
    assert.match(told(postgresUrl, url)[1].join(), /^is no PostgreSQL URL/, url)
})

test('an unsupported parameter of a PostgreSQL URL is refused by name, without the password', () => {
  for (const [query, name] of [
    ['channel_binding=require', /channel_binding=require/],
    ['schema=sales', /parameter schema.*search_path/],
    ['service=main', /parameter service/],
    ['target_session_attrs=master', /target_session_attrs/],
  ] as const) {
    const [value, problems] = told(postgresUrl, `postgres://u:s3cret@h/d?sslmode=require&${query}`)
    assert.equal(value, null)
    assert.match(problems.join(), name)
    assert.doesNotMatch(problems.join(), /s3cret/)
  }
  assert.match(told(postgresUrl, 'postgres://a:5433,b:5434/d')[1].join(), /several hosts/)
  assert.match(told(postgresUrl, 'postgres://u:100%@h/d')[1].join(), /%25/)
})

test('commas or spaces separate networks, each with a narrowing prefix or none', () => {
  const read = (text: string) => told(networks, text)
  const fine = ['10.0.0.0/8', '192.0.2.1', 'fd00::/128', '10.0.0.0/32', '10.0.0.0/1']
  assert.deepEqual(read(fine.join(' , ')), [fine, []])
  for (const bits of ['33', '08', '8a', 'a8', '1a', '1000', '', '-1', '0x8', '1e1', '8.0', '32.5']) {
    const [, problems] = read(`10.0.0.0/${bits}`)
    assert.equal(problems.length, 1, bits)
    assert.match(problems[0] ?? '', /prefix is not between 1 and 32/, bits)
  }
  assert.match(read('fd00::/129')[1][0] ?? '', /between 1 and 128/)
  for (const none of ['x/8', '10.0.0.0/8/8', '/8', '10.0.0/8'])
    assert.match(read(none)[1][0] ?? '', /is not a network/, none)
  assert.match(read('::/0')[1][0] ?? '', /means everyone/)
})

/** Neither half is suspicious alone. */
const [HEAD, TAIL] = ['kZ8vQ2xX9pLw', 'rT4uHj7Bn6Gc']

test('a secret made of words that people write, joined or separated, is recognised', () => {
  const words = ['change|me', 'change|this', 'replace|me', 'replace|this', 'your|secret', 'your|key', 'your|password']
  words.push('your|own|secret', 'your|own|key', 'placeholder', 'example', 'not|a|secret', 'not|secret', 'super|secret')
  words.push('secret|secret', 'secret|key', 'my|secret', 'dev|secret', 'test|key', 'demo|secret', 'local|key')
  words.push('development', 'insecure', 'password', 'passw0rd', 'keyboard|cat', 'qwerty', 'abcdefgh', '01234567')
  words.push('12345678', 'deadbeef')
  for (const word of words)
    for (const between of ['', '-', '_', '.', ' ']) {
      const known = word.replaceAll('|', between)
      for (const spelling of [known, known.toUpperCase()])
        assert.match(
          weaknessOf(`${HEAD}${spelling}${TAIL}`, 16) ?? '',
          /^is or contains a well-known value: use a random/,
        )
    }
  assert.equal(weaknessOf(`${HEAD}${TAIL}`, 16), null)
})

test('a short or repetitive secret is weak, and the message explains how to make one', () => {
  const made = 'use a random one, for example from "openssl rand -hex 32"'
  assert.equal(weaknessOf(HEAD, HEAD.length), null)
  assert.equal(weaknessOf(HEAD, HEAD.length + 1), `has 12 characters, but needs at least 13: ${made}`)
  assert.equal(weaknessOf('kZ8vQ2xk', 8), `repeats itself: ${made}`)
  assert.equal(weaknessOf('kZ8vQ2xX', 8), null)
  assert.equal(weaknessOf(`${HEAD}${HEAD}`, 16), `repeats itself: ${made}`)
})

test('a published key, or one that is a small number, is recognised', () => {
  const key = (number: bigint) => `0x${number.toString(16).padStart(64, '0')}` as const
  for (const account of DEVELOPMENT_ACCOUNTS) assert.ok(isWellKnownKey(account.privateKey))
  assert.deepEqual(
    [1n, 2n ** 64n - 1n, 2n ** 64n].map((number) => isWellKnownKey(key(number))),
    [true, true, false],
  )
})
