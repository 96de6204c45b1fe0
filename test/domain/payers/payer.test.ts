// Who may buy by an internal call: a table of codes, modes and proofs; which mode applies to a payment; and that unread facts never pass.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KNOWN_IMPLEMENTATIONS, KNOWN_PROXIES } from '../../../src/domain/payers/known-wallets.ts'
import {
  type ContractWalletMode,
  judgePayer,
  modeAt,
  modeFor,
  type PayerCode,
  type PayerFacts,
} from '../../../src/domain/payers/payer.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'

const RETRY_SEC = 3600
const codeHash = `0x${'1'.repeat(64)}` as Hash
const unknown: PayerCode = { kind: 'contract', codeHash, implementation: null }
const [safeProxy] = KNOWN_PROXIES.filter(({ at }) => at === 'slot0')
const [safe] = KNOWN_IMPLEMENTATIONS.filter(({ at }) => at === 'slot0')
assert.ok(safeProxy && safe)
const known: PayerCode = {
  kind: 'contract',
  codeHash: safeProxy.codeHash,
  implementation: { at: 'slot0', address: safe.address },
}
const delegating: PayerCode = { kind: 'delegation', to: safe.address }
const facts = (code: PayerCode, mode: ContractWalletMode, shown: object = {}): PayerFacts => ({
  kind: 'inner',
  mode,
  signedIn: false,
  allowed: false,
  code: { kind: 'read', code },
  ...shown,
})
const verdictOf = (payer: PayerFacts) => judgePayer(payer, RETRY_SEC).kind
const inModes = (code: PayerCode, shown = {}) =>
  (['hold', 'proven', 'all'] as const).map((mode) => verdictOf(facts(code, mode, shown)))

/** Its outcome in the modes hold, proven and all. */
const TABLE: [string, PayerCode, object, string[]][] = [
  ['a contract that nothing shows', unknown, {}, ['held', 'held', 'passes']],
  ['a contract that has signed in', unknown, { signedIn: true }, ['held', 'passes', 'passes']],
  ['a contract that the operator allows', unknown, { allowed: true }, ['held', 'passes', 'passes']],
  ['a known wallet', known, {}, ['held', 'passes', 'passes']],
  ['an account that delegates', delegating, {}, ['passes', 'passes', 'passes']],
  ['an address without code', { kind: 'none' }, {}, ['held', 'held', 'held']],
  [
    'an address without code that has signed in and is allowed',
    { kind: 'none' },
    { signedIn: true, allowed: true },
    ['held', 'held', 'held'],
  ],
]
for (const [name, code, shown, verdicts] of TABLE)
  test(`${name}: ${verdicts.join(', ')} in the modes hold, proven, all`, () =>
    assert.deepEqual(inModes(code, shown), verdicts))

test('a known proxy of something else is no known wallet', () => {
  const other = { at: 'slot0', address: `0x${'2'.repeat(40)}` as Address } as const
  assert.equal(verdictOf(facts({ ...known, implementation: other } as PayerCode, 'proven')), 'held')
})

test('an unsigned payment is held, with its sender’s address on the parent chain', () => {
  const held = (from: string) => judgePayer({ kind: 'unsigned', type: 126, from: from as Address }, RETRY_SEC)
  for (const [from, onParentChain] of [
    [`0x1111${'0'.repeat(32)}1112`, `0x${'0'.repeat(39)}1`],
    [`0x${'0'.repeat(40)}`, `0xeeee${'f'.repeat(32)}eeef`],
  ] as const)
    assert.deepEqual(held(from).kind === 'held' && held(from), {
      kind: 'held',
      evidence: { unsignedType: 126, onParentChain },
    })
})

test('a plain sender passes in any mode', () => assert.equal(verdictOf({ kind: 'plain' }), 'passes'))

test('unread code is undecided, and if it stays unreadable it is held in every mode', () => {
  for (const mode of ['hold', 'proven', 'all'] as const) {
    const of = (code: Extract<PayerFacts, { kind: 'inner' }>['code']) =>
      verdictOf({ kind: 'inner', mode, signedIn: true, allowed: true, code })
    assert.equal(of({ kind: 'unread' }), 'undecided')
    assert.equal(of({ kind: 'unreadable', sinceSec: RETRY_SEC - 1 }), 'undecided')
    assert.equal(of({ kind: 'unreadable', sinceSec: RETRY_SEC }), 'held')
  }
})

test('a held contract keeps the evidence of its judgement', () => {
  const verdict = judgePayer(facts(known, 'hold', { signedIn: true }), RETRY_SEC)
  assert.deepEqual(verdict, {
    kind: 'held',
    evidence: {
      mode: 'hold',
      signedIn: true,
      allowed: false,
      knownWallets: 1,
      payerCode: 'contract',
      codeHash: safeProxy.codeHash,
      implementation: safe.address,
      knownWallet: `Safe ${safe.version}`,
    },
  })
})

test('each verdict keeps the mode, the evidence of the payer, and what was found', () => {
  const looked = { mode: 'proven', signedIn: false, allowed: true, knownWallets: 1 }
  const evidenceOf = (payer: PayerFacts) => {
    const verdict = judgePayer(payer, RETRY_SEC)
    return 'evidence' in verdict ? { kind: verdict.kind, ...verdict.evidence } : verdict
  }
  const of = (code: PayerCode, shown: object = {}) => facts(code, 'proven', { allowed: true, ...shown })
  const delegated = { payerCode: 'delegation', delegatesTo: safe.address }
  const found = { payerCode: 'contract', codeHash, implementation: null, knownWallet: null }
  const unreadable = { code: { kind: 'unreadable', sinceSec: RETRY_SEC } }
  const rows: [PayerFacts, object][] = [
    [{ kind: 'plain' }, { kind: 'passes' }],
    [of(delegating), { kind: 'passes', ...delegated }],
    [of(delegating, { oneProvider: true }), { kind: 'held', ...looked, oneProvider: true, ...delegated }],
    [of({ kind: 'none' }), { kind: 'held', ...looked, payerCode: 'none', noCode: true }],
    [of(unknown), { kind: 'passes', ...looked, ...found }],
    [of(unknown, { oneProvider: true }), { kind: 'held', ...looked, oneProvider: true, ...found }],
    [of(unknown, unreadable), { kind: 'held', ...looked, payerCode: null, unreadable: true }],
    [of(unknown, { code: { kind: 'unread' } }), { kind: 'undecided' }],
  ]
  for (const [payer, evidence] of rows) assert.deepEqual(evidenceOf(payer), evidence)
})

test('the mode of its block judges a payment, or the present one if it lets more buy', () => {
  const entries = [
    { mode: 'proven', fromBlock: 10 },
    { mode: 'all', fromBlock: 20 },
    { mode: 'hold', fromBlock: 30 },
  ] as const
  assert.deepEqual(
    [9, 10, 19, 20, 29, 30].map((block) => modeAt(entries, block)),
    [...['hold', 'proven', 'proven', 'all', 'all', 'hold']],
  )
  assert.equal(modeFor(entries, 9, 15), 'proven', 'what waits is judged by a change for more')
  assert.equal(modeFor(entries, 25, 40), 'all', 'a change for less does not reach back')
  assert.equal(modeFor(entries, 35, 40), 'hold')
  assert.equal(modeFor([], 1, 2), 'hold')
})
