// The scopes of admin keys and the service's own names, as the operator's document and the ledger's schema have them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { LABEL_FORM, missingScopes, OUR_NAMES, SCOPES, type Scope } from '../../../src/domain/keys/admin-key.ts'

const { schemas } = parse(readFileSync(new URL('../../../api/admin.yaml', import.meta.url), 'utf8')).components

test('scopes and labels are those of the operator’s document', () => {
  assert.deepEqual([...SCOPES], schemas.Scopes.items.enum)
  assert.equal(LABEL_FORM.source, schemas.KeyLabel.pattern)
})

test('the service’s own names in the ledger are these', () => {
  assert.deepEqual([...OUR_NAMES].sort(), ['pass', 'rebuild', 'refundCheck', 'seed', 'start'])
})

test('the missing scopes are those wanted and not held, in the order in which they are wanted', () => {
  const subsets = Array.from({ length: 2 ** SCOPES.length }, (_, bits) => SCOPES.filter((_scope, i) => bits & (1 << i)))
  for (const held of subsets)
    for (const wanted of subsets) {
      const expected: Scope[] = []
      for (const scope of wanted) if (held.indexOf(scope) < 0) expected.push(scope)
      assert.deepEqual(missingScopes(held, wanted), expected)
    }
})
