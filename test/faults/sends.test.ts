// Providers that lie about a send, or lose it: whatever they answer, the payment becomes one node and one transaction.
import assert from 'node:assert/strict'
import { SEND } from '../support/fault-proxy.ts'
import { DIALECTS } from '../support/faults/dialects.ts'
import { ETHER, enterTier, INTERVAL_SEC, SLOT_SEC } from '../support/world.ts'
import {
  attempt,
  attemptsOf,
  BASIC,
  BLOCK_GAS,
  blocksHold,
  isOneNode,
  lastAttempt,
  nextPayer,
  paid,
  play,
  stateOf,
  tipOf,
} from './stage.ts'

const GWEI = 10n ** 9n
const hex = (value: bigint) => `0x${value.toString(16)}`

/** Long enough for a busy machine, short enough to wait for. */
const { act } = play({ rpcTimeoutMs: 2_000, rules: { feeCapWei: 10n ** 15n } })

act(
  'F1: the reply to a send is lost after the provider took it: the same bytes again, one node',
  ['replyLost'],
  async ({ world, proxy }) => {
    const before = (await attemptsOf(world)).length
    const payment = await paid(world)
    proxy.inject('replyLost', { method: SEND })
    await world.payments()
    const sent = await lastAttempt(world)
    assert.match(sent.outcome ?? '', /^unknown/)
    assert.equal(await stateOf(world, payment), 'minting')
    await world.payments()
    assert.equal((await lastAttempt(world)).outcome, 'accepted', 'what the provider has already is no failure')
    await world.settle()
    assert.equal((await attemptsOf(world)).length, before + 1, 'nothing was signed again')
    assert.equal(await world.succeeded(sent.hash), true)
    await isOneNode(world, payment)
  },
)

act(
  'F2: a send without an answer in time may have arrived: it is never signed again',
  ['hang'],
  async ({ world, proxy }) => {
    const before = (await attemptsOf(world)).length
    const payment = await paid(world)
    proxy.inject('hang', { method: SEND })
    await world.payments()
    assert.match((await lastAttempt(world)).outcome ?? '', /^unknown.*no answer in time/)
    await world.settle()
    assert.equal((await attemptsOf(world)).length, before + 1)
    await isOneNode(world, payment)
  },
)

act(
  'F3: a send that is acknowledged and never passed on is handed over at every run',
  ['swallowed'],
  async ({ world, proxy }) => {
    const payment = await paid(world)
    proxy.inject('swallowed', { times: 3 })
    for (let i = 0; i < 3; i++) {
      await world.payments()
      await world.chain.mine()
    }
    assert.equal(await stateOf(world, payment), 'minting')
    const sent = await lastAttempt(world)
    await world.settle()
    assert.equal(await world.succeeded(sent.hash), true, 'the very bytes that were swallowed')
    await isOneNode(world, payment)
  },
)

act('F4: an unknown answer to a send counts as maybe accepted', ['sendRefused'], async ({ world, proxy }) => {
  const before = (await attemptsOf(world)).length
  const payment = await paid(world)
  proxy.inject('sendRefused')
  await world.payments()
  assert.match((await lastAttempt(world)).outcome ?? '', /^unknown.*nap/)
  await world.settle()
  assert.equal((await attemptsOf(world)).length, before + 1)
  await isOneNode(world, payment)
})

for (const fault of ['html', 'unavailable', 'tooMany', 'truncated', 'wrongId', 'reset', 'slow', 'giant'] as const) {
  act(`F5: a send answered by ${fault} is one transaction in the end`, [fault], async ({ world, proxy }) => {
    const before = (await attemptsOf(world)).length
    const payment = await paid(world)
    proxy.inject(fault, { method: SEND })
    await world.payments()
    const { outcome, hash } = await lastAttempt(world)
    assert.match(outcome ?? '', fault === 'slow' ? /^accepted$/ : /^unknown/)
    await world.settle()
    assert.equal((await attemptsOf(world)).length, before + 1)
    assert.equal(await world.succeeded(hash), true)
    await isOneNode(world, payment)
  })
}

act('F6: we understand in every client’s words that a transaction was sent before', [], async ({ world, proxy }) => {
  const payment = await paid(world)
  await world.payments()
  for (const dialect of DIALECTS) {
    proxy.dialect = dialect
    await world.payments()
    assert.equal((await lastAttempt(world)).outcome, 'accepted', dialect)
  }
  await world.settle()
  await isOneNode(world, payment)
})

act(
  'F7: we understand a lack of gas money in every client’s words, wait, and send later',
  [],
  async ({ world, proxy }) => {
    const purse = BigInt(await world.chain.rpc<string>('eth_getBalance', [world.at(1), 'latest']))
    const payment = await paid(world)
    proxy.onCall = async ({ method }) => {
      if (method === SEND) await world.chain.setBalance(world.at(1), 1_000n)
    }
    await world.payments()
    const before = (await attemptsOf(world)).length
    for (const dialect of DIALECTS) {
      proxy.dialect = dialect
      await world.payments()
      assert.equal((await lastAttempt(world)).outcome, 'insufficientFunds', dialect)
    }
    assert.equal((await attemptsOf(world)).length, before, 'no nonce is burnt')
    proxy.onCall = () => {}
    await world.chain.setBalance(world.at(1), purse)
    await world.settle()
    await isOneNode(world, payment)
  },
)

act(
  'F8: we understand a fee below the base fee in every client’s words, and raise it',
  [],
  async ({ world, proxy }) => {
    const payment = await paid(world)
    // Blocks become more expensive than each offer while it is being sent.
    proxy.onCall = async ({ method }) => {
      if (method !== SEND) return
      const { fee } = await lastAttempt(world)
      await world.chain.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${((fee * 5n) / 4n).toString(16)}`])
      await world.chain.mine()
    }
    const hashes = new Set<string>()
    for (const dialect of DIALECTS) {
      proxy.dialect = dialect
      await attempt(world.payments)
      const low = await lastAttempt(world)
      assert.equal(low.outcome, 'feeTooLow', dialect)
      hashes.add(low.hash)
    }
    assert.equal(hashes.size, DIALECTS.length, 'each refusal had it raised')
    const low = await lastAttempt(world)
    proxy.onCall = () => {}
    await world.chain.mine()
    await world.payments()
    const raised = await lastAttempt(world)
    assert.ok(!hashes.has(raised.hash) && raised.nonce === low.nonce, 'the same call at the same nonce')
    assert.equal(raised.outcome, 'accepted')
    await world.settle()
    await isOneNode(world, payment)
  },
)

act('F9: a raised fee satisfies the ten percent that real nodes ask of a replacement', [], async ({ world, proxy }) => {
  proxy.dialect = 'any'
  const payment = await paid(world)
  await world.payments()
  const first = await lastAttempt(world)
  for (let raise = 0; raise < 3; raise++) {
    const { fee } = await lastAttempt(world)
    // Blocks without our transaction, because the price has risen above its offer.
    for (let i = 0; i < 12; i++) {
      await world.chain.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(fee + 1n).toString(16)}`])
      await world.chain.mine()
    }
    await world.payments()
    assert.equal((await lastAttempt(world)).outcome, 'accepted')
  }
  assert.equal((await lastAttempt(world)).nonce, first.nonce)
  assert.equal((await attemptsOf(world)).filter((row) => row.nonce === first.nonce).length, 4)
  await world.settle()
  await isOneNode(world, payment)
})

act('F54: a transaction that offers no tip is replaced as real nodes ask', [], async ({ world, proxy }) => {
  proxy.dialect = 'any'
  const minter = world.ctx.minter ?? assert.fail('no minter')
  const fees: typeof minter.fees = async (limits) => ({ ...(await minter.fees(limits)), maxPriorityFeeWei: 0n })
  const { payments } = world.instance({ minter: { ...minter, fees } })
  const payment = await paid(world)
  await payments()
  const first = await lastAttempt(world)
  for (let i = 0; i < 12; i++) {
    await world.chain.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(first.fee + 1n).toString(16)}`])
    await world.chain.mine()
  }
  await payments()
  const second = await lastAttempt(world)
  assert.deepEqual([second.nonce, second.outcome], [first.nonce, 'accepted'])
  assert.notEqual(second.hash, first.hash)
  // The test chain drops what it finds too cheap, so the proxy has nothing to compare the second one with.
  assert.deepEqual([await tipOf(world, first.hash), await tipOf(world, second.hash)], [0n, 1n])
  await world.settle()
  await isOneNode(world, payment)
})

act(
  'F66: we offer no higher tip than followed blocks show, whichever one a provider suggests',
  ['highTip'],
  async (stage) => {
    const { world, proxy } = stage
    // A block in which others paid 1, 6 and 50 gwei: one sender's offer says nothing.
    for (const [i, tip] of [1n, 6n, 50n].entries()) {
      const from = world.at(10 + i)
      const fees = { maxPriorityFeePerGas: hex(tip * GWEI), maxFeePerGas: hex(1_000n * GWEI) }
      await world.chain.rpc('eth_sendTransaction', [{ from, to: world.at(4), value: '0x1', ...fees }])
    }
    await world.chain.mine()
    const payment = await paid(world)
    proxy.inject('highTip', { times: 100 })
    await world.payments()
    assert.equal(await tipOf(world, (await lastAttempt(world)).hash), 12n * GWEI)
    await world.settle()
    await isOneNode(world, payment)
  },
)

act('F10: mints that together need more gas than a transaction may have are split', [], async ({ world }) => {
  await blocksHold(world, 600_000)
  const payments = []
  for (let i = 0; i < 16; i++) payments.push(await world.pay(nextPayer(), BASIC))
  await world.chain.mine()
  for (let i = 0; i < 6; i++) {
    await world.payments()
    await world.chain.mine()
  }
  await world.settle()
  const mints = (await attemptsOf(world)).filter((row) => row.kind === 'mint')
  assert.ok(mints.length >= 3, `${mints.length} transactions`)
  for (const mint of mints) assert.notEqual(mint.outcome, 'overGasCap')
  for (const payment of payments) await isOneNode(world, payment)
})

act('F10: a round beyond a transaction’s gas is split, and every turn is paid once', [], async ({ world }) => {
  // Six cohorts with nodes in them.
  for (let i = 0; i < 6; i++) {
    await paid(world)
    await world.settle()
    await world.chain.increaseTime(SLOT_SEC)
  }
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  const [due] = await world.pool<{ cohorts: number }[]>`
    SELECT count(*) AS cohorts FROM cohorts WHERE size > 0 AND next_due <= (SELECT block_time FROM cursors) + ${INTERVAL_SEC}`
  assert.ok((due?.cohorts ?? 0) >= 6)
  const before = (await attemptsOf(world)).filter((row) => row.kind === 'credit').length
  await blocksHold(world, 90_000)
  for (let i = 0; i < 16; i++) {
    await world.credit()
    await world.chain.mine()
  }
  await blocksHold(world, BLOCK_GAS)
  const rounds = (await attemptsOf(world)).filter((row) => row.kind === 'credit').slice(before)
  assert.ok(rounds.length >= 2, `${rounds.length} rounds`)
  for (const round of rounds) assert.equal(round.outcome, 'accepted')
  await world.rest()
  const doubled = await world.pool`SELECT FROM turns GROUP BY cohort, due HAVING count(*) > 1`
  assert.equal(doubled.count, 0)
})

act(
  'F10: cohorts whose opening needs more gas than a transaction may have are opened in parts',
  [],
  async ({ world }) => {
    await enterTier(world, { tierId: 'split', tierNo: 7, priceWei: (ETHER * 7n) as never })
    await world.chain.mine()
    const payment = await paid(world, nextPayer(), ETHER * 7n)
    await blocksHold(world, 250_000)
    for (let i = 0; i < 12 && (await stateOf(world, payment)) !== 'minted'; i++) {
      await world.payments()
      await world.chain.mine()
    }
    await isOneNode(world, payment)
    const numbers = await world.pool<{ cohort: number }[]>`SELECT cohort FROM cohorts ORDER BY cohort`
    assert.deepEqual(
      numbers.map((row) => row.cohort),
      numbers.map((_, i) => i + 1),
    )
  },
)
