// Known wallets and who may buy by an inner call: src/domain/payers and the second readings agree over codes near those of the lists.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { KNOWN_IMPLEMENTATIONS, KNOWN_PROXIES, knownWalletOf } from '../../../src/domain/payers/known-wallets.ts'
import { judgePayer, type PayerFacts } from '../../../src/domain/payers/payer.ts'
import { cases } from '../../support/property.ts'
import { contractMayBuy } from '../wallets.ts'
import * as model from './known.ts'

const LISTS = { proxies: KNOWN_PROXIES, implementations: KNOWN_IMPLEMENTATIONS }
const PLACES = ['eip1167', 'eip1967', 'slot0'] as const

/** The same hex but for its last digit. */
const nextTo = (hex: string): string => hex.slice(0, -1) + (hex.endsWith('0') ? '1' : '0')

/** A code of the lists, in which at most one field is of another entry, one digit off, or of another place. */
const codes = fc
  .record({
    proxy: fc.constantFrom(...KNOWN_PROXIES),
    target: fc.constantFrom(...KNOWN_IMPLEMENTATIONS),
    other: fc.constantFrom(...PLACES),
    change: fc.constantFrom('none', 'none', 'match', 'match', 'hash', 'address', 'at', 'implementation'),
  })
  .map(({ proxy, target, other, change }): model.Code => {
    const fits = KNOWN_PROXIES.find(({ at }) => at === target.at) ?? proxy
    const codeHash = change === 'match' || change === 'hash' || change === 'address' ? fits.codeHash : proxy.codeHash
    if (change === 'implementation') return { codeHash, implementation: null }
    const address = change === 'address' ? nextTo(target.address) : target.address
    const at = change === 'at' ? other : target.at
    return { codeHash: change === 'hash' ? nextTo(codeHash) : codeHash, implementation: { at, address } }
  })

test('code and implementation together identify a wallet, each at its place', () => {
  const compare = (code: model.Code) => {
    const known = knownWalletOf({ kind: 'contract', ...code } as Parameters<typeof knownWalletOf>[0])
    assert.equal(known !== null, model.isKnown(code, LISTS))
  }
  fc.assert(fc.property(codes, compare), { numRuns: cases(3_000) })
})

test('a contract buys by the mode, its sign-in, the list of wallets, or the operator’s word', () => {
  const code = fc.oneof(
    fc.constant({ kind: 'none' as const }),
    fc.constant({ kind: 'delegation' as const, to: `0x${'01'.repeat(20)}` }),
    codes.map((one) => ({ kind: 'contract' as const, ...one })),
  )
  const payer = fc.record({
    mode: fc.constantFrom('hold' as const, 'proven' as const, 'all' as const),
    code,
    ...{ signedIn: fc.boolean(), allowed: fc.boolean(), oneProvider: fc.boolean() },
  })
  const compare = ({ code: read, ...facts }: typeof payer extends fc.Arbitrary<infer T> ? T : never) => {
    const isKnown = read.kind === 'contract' && model.isKnown(read, LISTS)
    const { mode, signedIn, allowed: isAllowed } = facts
    const buys = contractMayBuy({ code: read.kind, signedIn, isKnown, isAllowed }, mode) && !facts.oneProvider
    const given = { kind: 'inner', ...facts, code: { kind: 'read', code: read } } as unknown as PayerFacts
    assert.equal(judgePayer(given, 600).kind, buys ? 'passes' : 'held')
    // A transfer without a signature is held in every mode.
    const unsigned = { kind: 'unsigned', type: 126, from: `0x${'02'.repeat(20)}` } as unknown as PayerFacts
    assert.equal(judgePayer(unsigned, 600).kind, 'held')
  }
  fc.assert(fc.property(payer, compare), { numRuns: cases(4_000) })
})
