// What a verdict on a payer keeps of the facts by which it was reached.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KNOWN_IMPLEMENTATIONS, KNOWN_PROXIES } from '../../../src/domain/payers/known-wallets.ts'
import {
  type ContractWalletMode,
  judgePayer,
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
