// The accounts to which an act of the contract's owner gives a role.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountsNamed, OWNER_ACTS } from '../../src/domain/observed.ts'

test('only the acts that set the minter or the distributor give a role, each to its own account', () => {
  const named = OWNER_ACTS.map((name) => [
    name,
    accountsNamed(name, { minter: '0x1', distributor: '0x2', owner: '0x3' }),
  ])
  assert.deepEqual(
    named.filter(([, accounts]) => accounts?.length !== 0),
    [
      ['MinterSet', ['0x1']],
      ['DistributorSet', ['0x2']],
    ],
  )
})
