// Payments wallets and contract wallets: src/domain/{payment-wallets,payers/payer}.ts and the second reading agree over random histories.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { judgePayer, modeAt, modeFor as modeForOf, type PayerCode } from '../../src/domain/payers/payer.ts'
import { isOldWallet, type PaymentWallet, walletAt } from '../../src/domain/payment-wallets.ts'
import { cases } from '../support/property.ts'
import * as model from './wallets.ts'

const change = fc.record({
  gap: fc.constantFrom(0, 1, 300, 900),
  blocks: fc.constantFrom(1, 64),
  /** Blocks by which the height is reached after the time, or before it. */
  late: fc.constantFrom(-3, 0, 3),
  stolen: fc.constantFrom(false, false, false, true),
  graceSec: fc.constantFrom(0, 120, 900),
})

test('a replaced wallet sells until its grace is over, and the last in force is quoted', () => {
  const compare = (changes: { gap: number; blocks: number; late: number; stolen: boolean; graceSec: number }[]) => {
    let [time, height] = [1_000, 10]
    const wallets = changes.map(({ gap, blocks, late, stolen, graceSec }, i) => {
      time += gap
      height += blocks
      return { wallet: `0x${i}`, fromBlock: height + late, fromTime: time, stolen, graceSec }
    })
    const known = wallets as unknown as PaymentWallet[]
    const times = wallets.flatMap(({ fromTime, graceSec }) => [fromTime, fromTime + graceSec])
    const heights = wallets.map(({ fromBlock }) => fromBlock)
    for (const at of new Set(times.flatMap((one) => [one - 1, one, one + 1]))) {
      for (const number of new Set(heights.flatMap((one) => [one - 1, one, one + 1]))) {
        const block = { number, time: at }
        assert.equal(walletAt(known, block)?.wallet ?? null, model.quotedWallet(wallets, block))
        for (const { wallet } of [...known, { wallet: '0xff' as unknown as PaymentWallet['wallet'] }])
          assert.equal(!isOldWallet(known, wallet, block), model.walletSells(wallets, wallet, block), `${wallet} ${at}`)
      }
    }
  }
  fc.assert(fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), compare), { numRuns: cases(400) })
})

const MODES = ['hold', 'proven', 'all'] as const

test('the mode of a payment is its block’s, or the present one if that lets more contracts buy', () => {
  const entries = fc
    .array(fc.record({ gap: fc.integer({ min: 1, max: 3 }), mode: fc.constantFrom(...MODES) }), { maxLength: 4 })
    .map((all) => {
      let fromBlock = 10
      return all.map(({ gap, mode }) => {
        fromBlock += gap
        return { mode, fromBlock }
      })
    })
  const compare = (modes: { mode: model.Mode; fromBlock: number }[], paidIn: number, later: number) => {
    assert.equal(modeForOf(modes, paidIn, paidIn + later), model.modeFor(modes, paidIn, paidIn + later))
    assert.equal(modeAt(modes, paidIn), model.modeFor(modes, paidIn, paidIn))
  }
  fc.assert(fc.property(entries, fc.integer({ min: 9, max: 24 }), fc.nat(12), compare), { numRuns: cases(1_000) })
})

test('a contract buys by the mode, with its sign-in or the operator’s word', () => {
  const codes: Record<string, PayerCode> = {
    none: { kind: 'none' },
    delegation: { kind: 'delegation', to: '0x01' as never },
    contract: { kind: 'contract', codeHash: `0x${'22'.repeat(32)}`, implementation: null } as never,
  }
  for (const code of ['none', 'delegation', 'contract'] as const)
    for (const mode of MODES)
      for (const bits of [0, 1, 2, 3]) {
        const [signedIn, isAllowed] = [(bits & 1) !== 0, (bits & 2) !== 0]
        const read = { kind: 'read' as const, code: codes[code] as PayerCode }
        const facts = { kind: 'inner' as const, mode, signedIn, allowed: isAllowed, code: read }
        const buys = model.contractMayBuy({ code, signedIn, isAllowed, isKnown: false }, mode)
        assert.equal(judgePayer(facts, 600).kind === 'passes', buys, `${code} ${mode} ${bits}`)
        // One provider's trace is no proof of who paid.
        assert.equal(judgePayer({ ...facts, oneProvider: true }, 600).kind, 'held')
      }
})
