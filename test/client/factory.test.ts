import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toEventSelector, toFunctionSelector } from 'viem'
import { factoryAbi, inWords } from '../../client/src/viem/factory.ts'
import { factoryFullAbi } from '../../contracts/factory.full.abi.ts'

test('the client’s description of the contract is that of the contract', () => {
  const selectorOf = (entry: (typeof factoryAbi)[number]) =>
    entry.type === 'event'
      ? toEventSelector(entry)
      : toFunctionSelector(entry.type === 'error' ? `${entry.name}()` : entry)
  const real = new Map(
    factoryFullAbi.flatMap((entry) => ('name' in entry ? [[`${entry.type} ${entry.name}`, entry] as const] : [])),
  )
  for (const entry of factoryAbi) {
    const theirs = real.get(`${entry.type} ${entry.name}`)
    assert.ok(theirs, `the contract has no ${entry.type} ${entry.name}`)
    assert.equal(selectorOf(entry), selectorOf(theirs as never), entry.name)
    if (entry.type === 'error') assert.ok(inWords(entry.name), `${entry.name} has no words`)
  }
})
