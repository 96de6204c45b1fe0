// A header is as good as its block's hash: a changed field shows, an added one is not part of it, and one that cannot
// be recomputed says so.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveHeader, settlesOthers } from '../../../src/chain/prove/header.ts'
import type { Fields } from '../../../src/chain/prove/items.ts'
import { hashed, headers } from './published.ts'

const prague = headers().find(({ fork }) => fork === 'Prague')?.block as Fields
const avalanche = headers().find(({ chain, fork }) => chain.startsWith('Avalanche C') && fork === 'Granite')
  ?.block as Fields

const NOT_COVERED = ['hash', 'withdrawals']
/** Another value of the same form. */
const changed = (value: unknown) => String(value).replace(/[0-9a-f]$/, (digit) => (digit === '1' ? '2' : '1'))

test('no field can be changed without another hash', () => {
  for (const block of [prague, avalanche])
    for (const [name, value] of Object.entries(block)) {
      if (NOT_COVERED.includes(name) || value === null || value === '0x') continue
      assert.equal(proveHeader({ ...block, [name]: changed(value) }).kind, 'contradicted', name)
    }
})

test('a field that no hash covers does not say whose receipts a header carries', () => {
  const names = new Set([...headers().flatMap(({ block }) => Object.keys(block)), 'settledHeight', 'settledExcess'])
  for (const { chain, fork, block } of headers())
    for (const name of names) {
      const added = { settledHeight: '0x1', [name]: block[name] ?? changed(prague.parentHash) }
      const isSettling = settlesOthers({ ...block, ...added })
      if (isSettling) assert.notEqual(proveHeader({ ...block, ...added }).kind, 'proven', `${chain}, ${fork}: ${name}`)
    }
  assert.equal(settlesOthers({ ...avalanche, settledHeight: '0x1' }), true)
})

test('a verdict names the hash that was given and the one that was computed', () => {
  const verdict = proveHeader({ ...prague, hash: changed(prague.hash) })
  assert.deepEqual(verdict, {
    kind: 'contradicted',
    part: 'header',
    given: changed(prague.hash),
    computed: prague.hash,
  })
})

test('a field that came with a fork cannot be left out, and an older header has none of a later fork', () => {
  for (const name of ['baseFeePerGas', 'withdrawalsRoot', 'parentBeaconBlockRoot', 'requestsHash'])
    assert.equal(proveHeader({ ...prague, [name]: null }).kind, 'contradicted', name)
  const london = headers().find(({ chain, fork }) => chain === 'Ethereum' && fork === 'London')?.block
  assert.equal(proveHeader({ ...london, withdrawalsRoot: prague.withdrawalsRoot }).kind, 'contradicted')
})

test('what a provider adds changes nothing of a header that recomputes, and is named beside one that does not', () => {
  for (const extra of [{ fieldOfAFork: '0x1' }, { slotNumber: '0x1' }, { blockAccessListHash: prague.requestsHash }])
    assert.equal(proveHeader({ ...prague, ...extra }).kind, 'proven')
  const verdict = proveHeader({ ...prague, fieldOfAFork: '0x1', timestamp: changed(prague.timestamp) })
  assert.equal(verdict.kind === 'contradicted' && verdict.beside, 'unknown fields: fieldOfAFork')
})

test('fields that a fork adds are found by the hash, up to five of them, in any order of the answer', () => {
  const added = { second: '0x0', first: prague.stateRoot, fourth: '0x7', third: '0x', fifth: '0x1234' }
  const order = ['first', 'second', 'third', 'fourth', 'fifth']
  for (const names of [order.slice(0, 1), order.slice(0, 3), order]) {
    const given = hashed({ ...prague, ...added }, names)
    const verdict = proveHeader(given)
    assert.deepEqual([verdict.kind, verdict.added], ['proven', names])
    const { baseFeePerGas, ...renamed } = given
    assert.equal(proveHeader({ ...renamed, sixth: baseFeePerGas }).kind, 'contradicted')
    assert.equal(proveHeader({ ...given, [String(names[0])]: '0x9999' }).kind, 'contradicted')
    assert.equal(proveHeader({ ...given, mixHash: changed(given.mixHash) }).kind, 'contradicted')
  }
  const six = { ...added, sixth: '0x1' }
  assert.equal(proveHeader(hashed({ ...prague, ...six }, Object.keys(six))).kind, 'contradicted')
})

test('a field that is not known does not stand for the base fee', () => {
  const london = headers().find(({ chain, fork }) => chain === 'Ethereum' && fork === 'London')?.block as Fields
  const { baseFeePerGas, ...rest } = london
  assert.equal(proveHeader({ ...rest, fee: baseFeePerGas }).kind, 'contradicted')
})

test('a field of another form changes nothing of a header of Ethereum’s form', () => {
  const added = {
    extDataHash: prague.stateRoot,
    blockGasCost: '0x1',
    timestampMilliseconds: '0x1',
    minDelayExcess: '0x1',
  }
  for (const [name, value] of Object.entries(added)) {
    assert.equal(proveHeader({ ...prague, [name]: value }).kind, 'proven', name)
    const other = proveHeader({ ...prague, [name]: value, timestamp: changed(prague.timestamp) })
    assert.equal(other.kind, 'contradicted', name)
  }
  const all = { ...prague, ...added, settledHeight: '0x1' }
  assert.deepEqual([proveHeader(all).kind, settlesOthers(all)], ['proven', false])
})

test('a header of Amsterdam has the hash of its access list and its slot, and neither can be changed', () => {
  const amsterdam = headers().find(({ fork }) => fork === 'Amsterdam')?.block as Fields
  for (const name of ['blockAccessListHash', 'slotNumber'])
    for (const value of [null, changed(amsterdam[name])])
      assert.equal(proveHeader({ ...amsterdam, [name]: value }).kind, 'contradicted', name)
  assert.deepEqual(proveHeader(amsterdam), { kind: 'proven', part: 'header' })
})

test('a header that lacks a field of every header, or has one of another form, is unprovable', () => {
  for (const name of ['mixHash', 'nonce', 'sha3Uncles', 'logsBloom', 'number'])
    for (const value of [undefined, null, 7, '', '0x', '0xzz', {}, `0x${'ab'.repeat(300)}`])
      assert.equal(proveHeader({ ...prague, [name]: value }).kind, 'unprovable', `${name} ${String(value)}`)
  for (const nothing of [null, undefined, 1, 'x', []]) assert.equal(proveHeader(nothing).kind, 'unprovable')
})
