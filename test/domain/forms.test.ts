// The forms of names: which characters may come first, which after it, and how many there may be.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LABEL_FORM } from '../../src/domain/keys/admin-key.ts'
import { CODE_FORM } from '../../src/domain/payers/referrals.ts'
import { TIER_ID_FORM } from '../../src/domain/tiers.ts'

const LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789'
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const FORMS: [string, RegExp, first: string, rest: string][] = [
  ['a label of a key', LABEL_FORM, LOWER + UPPER, `${LOWER}${UPPER}._-`],
  ['a code of a referral', CODE_FORM, `${LOWER}${UPPER}_-`, `${LOWER}${UPPER}_-`],
  ['a tier’s id', TIER_ID_FORM, LOWER, `${LOWER}-`],
]
/** Each character of ASCII and of Latin-1. */
const CHARACTERS = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))

for (const [what, form, first, rest] of FORMS)
  test(`${what} has 1 to 32 permitted characters, and no others`, () => {
    for (const one of CHARACTERS) {
      assert.equal(form.test(one), first.includes(one), JSON.stringify(one))
      assert.equal(form.test(`${one}aa`), first.includes(one), `${JSON.stringify(one)} first`)
      assert.equal(form.test(`a${one}a`), rest.includes(one), `${JSON.stringify(one)} within`)
      assert.equal(form.test(`aa${one}`), rest.includes(one), `${JSON.stringify(one)} last`)
    }
    for (const length of [0, 1, 2, 31, 32, 33, 64])
      assert.equal(form.test('a'.repeat(length)), length >= 1 && length <= 32, `${length} characters`)
  })
