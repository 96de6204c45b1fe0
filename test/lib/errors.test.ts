// Errors and what can be done about them (src/lib/errors.ts).
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { codeOf, KnownError, kindOf, messageOf } from '../../src/lib/errors.ts'

class Away extends KnownError {
  override readonly name = 'Away'

  constructor(cause: unknown) {
    super('retryable', 'away', { cause })
  }
}

test('an error keeps its kind, its name and its cause', () => {
  const cause = new Error('no route')
  const error = new Away(cause)
  assert.equal(kindOf(error), 'retryable')
  assert.equal(error.retryable, true)
  assert.equal(new KnownError('fatal', 'another chain').retryable, false)
  assert.equal(`${error}`, 'Away: away')
  assert.equal(error.cause, cause)
})

test('an error of unknown kind has none, even if it looks like one', () => {
  for (const error of [new Error('x'), Object.assign(new Error('x'), { kind: 'fatal', retryable: true }), null, 'text'])
    assert.equal(kindOf(error), null)
})

test('a code is read if there is one', () => {
  assert.throws(
    () => readFileSync('/nowhere'),
    (error) => codeOf(error) === 'ENOENT',
  )
  for (const error of [new Error('x'), { code: 4 }, null, undefined, 'text']) assert.equal(codeOf(error), null)
})

test('everything that is thrown has a message', () => {
  assert.equal(messageOf(new TypeError('no')), 'no')
  assert.equal(messageOf('text'), 'text')
  assert.equal(messageOf(null), 'null')
})
