// Seeds on a chain whose headers prove nothing: one of two providers must not choose what a turn pays.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { lowerProof } from '../../src/db/blocks/proofs.ts'
import { inTransaction } from '../../src/db/core/sql.ts'
import { readDistributions } from '../../src/db/reads/public-api.ts'
import type { Hash } from '../../src/domain/units.ts'
import type { FalseProvider, Rule } from '../chain/false-provider.ts'
import { startTwoProviders } from '../support/two-providers.ts'
import { ETHER, INTERVAL_SEC, type World } from '../support/world.ts'
import { other, type Wire } from './lies.ts'

let world: World
let first: FalseProvider
let second: FalseProvider
before(async () => {
  ;({ world, first, second } = await startTwoProviders())
  await world.pay(5, ETHER / 100n)
  await world.settle()
  await inTransaction(world.pool, (sql) => lowerProof(sql, 'header', { blockNumber: 1, by: 'test' }))
})
after(() => world.close())

const headers = (change: (header: Wire) => Wire): Rule => {
  return async ({ method }, forward) => {
    const answer = await forward()
    if (!method.startsWith('eth_getBlockBy') || !('result' in answer) || !answer.result) return answer
    const header = answer.result as Wire
    return { result: { ...header, ...change(header) } }
  }
}
const LIES: Record<string, (header: Wire) => Wire> = {
  'T35: another mixHash by one of two providers pays no turn; once both tell the block alike its turn is paid by the chain’s seed':
    ({ mixHash }) => ({ mixHash: other(mixHash) }),
  'another time by one of two providers pays no turn; once both tell the block alike its turn is paid by the chain’s seed':
    ({ timestamp }) => ({ timestamp: `0x${(Number(timestamp) - 1).toString(16)}` }),
}
const newestTurn = async () => JSON.parse(await readDistributions(world.pool, 1))[0]?.turns[0]

for (const [name, lie] of Object.entries(LIES))
  test(name, async () => {
    const before = await world.read<bigint>('round')
    await world.chain.increaseTime(INTERVAL_SEC)
    for (const liar of [first, second]) liar.rule = liar === first ? headers(lie) : () => undefined
    for (let run = 0; run < 3; run++) {
      await world.chain.mine()
      await world.payments()
      await world.credit().catch(() => undefined)
    }
    assert.equal(await world.read<bigint>('round'), before)
    first.rule = () => undefined
    await world.rest()
    const turn = await newestTurn()
    assert.deepEqual([await world.read<bigint>('round'), turn?.assurance], [before + 1n, 'agreed'])
    const at = (number: number) => world.chain.rpc<Wire>('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
    const [block, parent] = [await at(turn.seedBlock), await at(turn.seedBlock - 1)]
    assert.equal(turn.seed, block.mixHash as Hash)
    assert.ok(Number(parent.timestamp) < turn.dueSec && turn.dueSec <= Number(block.timestamp))
  })
