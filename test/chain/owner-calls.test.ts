// The owner's calls as transactions to sign: each has the contract's encoding, and no code that sends can reach them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeFunctionData } from 'viem'
import { factoryFullAbi } from '../../contracts/factory.full.abi.ts'
import { type OwnerCall, ownerTransaction } from '../../src/chain/factory/owner-calls.ts'
import { address, hash } from '../../src/domain/units.ts'

const FACTORY = address(`0x${'fa'.repeat(20)}`)
const KEY = address(`0x${'ab'.repeat(20)}`)
const CALLS: OwnerCall[] = [
  { name: 'capTier', tier: 3n, most: 500n },
  { name: 'setMinter', newMinter: KEY, former: FACTORY, nodes: 1n, cohorts: 2n },
  { name: 'refillMinter', minter: KEY, nodes: 1n, nodesMost: 2n, cohorts: 3n, cohortsMost: 4n },
  { name: 'setDistributor', newDistributor: KEY, former: FACTORY, floorGwei: 5n, ceilingGwei: 6n },
  { name: 'setBounds', distributor: KEY, floorGwei: 5n, ceilingGwei: 6n },
  { name: 'setSwapsAllowance', distributor: KEY, allowance: 2n ** 255n, former: 2n ** 254n },
  { name: 'setInterval', cohort: 7n, interval: 8n },
  { name: 'addNotOwed', window: 1n, from: 9n, until: 10n },
  { name: 'endNotOwed', window: 1n, until: 10n },
  { name: 'expel', refs: [hash(`0x${'11'.repeat(32)}`), hash(`0x${'22'.repeat(32)}`)] },
  { name: 'pause' },
  { name: 'unpause' },
]

for (const call of CALLS) {
  test(`${call.name} is encoded as the contract decodes it`, () => {
    const { to, valueWei, data, call: words } = ownerTransaction(FACTORY, call)
    assert.deepEqual([to, valueWei], [FACTORY, 0n])
    const decoded = decodeFunctionData({ abi: factoryFullAbi, data })
    const { name, ...named } = call
    assert.equal(decoded.functionName, name)
    const item = factoryFullAbi.find((entry) => entry.type === 'function' && entry.name === name)
    assert.ok(item?.type === 'function')
    assert.equal(item.inputs.length, Object.keys(named).length)
    const lower = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value)
    const given = Object.values(named)
    assert.deepEqual(((decoded.args ?? []) as readonly unknown[]).map(lower), given)
    for (const value of given) assert.ok(words.includes(String(value)), words)
  })
}
