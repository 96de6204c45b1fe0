// Errors about a wallet's states: only a provider's known texts mean that it has pruned the state. After any other
// error the next run retries, and once the states can be read, it locates again what it filed over several blocks.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.ts'
import { silentLog } from '../../src/lib/log.ts'
import { type Answer, type Call, type FalseProvider, startFalseProvider } from '../chain/false-provider.ts'
import { forwardTo, leakOf, payInside, putForwarder } from '../support/forwarder.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, startWorld, type World } from '../support/world.ts'

const PAID = ETHER / 100n

let world: World
let provider: FalseProvider
let rpc: Rpc
before(async () => {
  world = await startWorld()
  provider = await startFalseProvider(world.chain.rpcUrl)
  rpc = createRpc({ urls: [provider.url], log: silentLog, retryPauseMs: 1 })
  await putForwarder(world)
  await world.settle()
})
afterEach(async () => {
  provider.rule = () => undefined
  await world.settle()
  await checkInvariants(world)
})
after(async () => {
  await rpc.close()
  await provider.close()
  await world.close()
})

/** Passes through the provider. */
const pass = async () => {
  const wallets = [{ wallet: world.at(3), watchedFrom: 0, closedBlock: null }]
  const watched = { factory: world.factory, wallets, signers: [world.at(1), world.at(2)] }
  await world.instance({ chain: createChainReader(rpc, watched) }).payments()
}

interface Inner {
  block: number
  state: string
  traced: boolean
}
const inner = async (from: number): Promise<Inner[]> => {
  const rows = await world.pool<Inner[]>`
    SELECT block_number AS block, state, tx_hash IS NOT NULL AS traced FROM payments
    WHERE block_number >= ${from} AND state <> 'orphaned' ORDER BY id`
  return rows.map((row) => ({ ...row }))
}

/** Moves value by a contract amid other blocks, and refuses the states of all but the last. @returns the block of it, and the last. */
async function moveUnseen(refusal: Answer, move: () => Promise<unknown>): Promise<{ block: number; last: number }> {
  const from = Number((await world.chain.block()).number)
  await world.chain.mine(3)
  await move()
  const block = Number((await world.chain.block()).number)
  await world.chain.mine(6)
  const last = block + 6
  const hashes = new Map<string, number>()
  for (let number = from + 1; number < last; number++)
    hashes.set((await world.chain.rpc<{ hash: string }>('eth_getBlockByNumber', [hex(number), false])).hash, number)
  const isHidden = (at: unknown) =>
    typeof at === 'string'
      ? Number(at) > from && Number(at) < last
      : hashes.has((at as { blockHash: string } | undefined)?.blockHash ?? '')
  provider.rule = ({ method, params }: Call) =>
    ['eth_getBalance', 'eth_getProof'].includes(method) && isHidden(params.at(-1)) ? refusal : undefined
  return { block, last }
}
const payUnseen = (refusal: Answer) => moveUnseen(refusal, () => payInside(world, PAID))
const hex = (number: number) => `0x${number.toString(16)}`

const PASSING: Record<string, Answer> = {
  'an internal error': { error: { code: -32603, message: 'Internal error' } },
  'a header that is not there yet': { error: { code: -32000, message: 'header not found' } },
  'no word': { error: { code: -32000, message: '' } },
  'one that is busy': { error: { code: -32005, message: 'rate limit exceeded' } },
}
for (const [name, refusal] of Object.entries(PASSING))
  test(`${name} is no word on a state: nothing is filed, and the next run finds the block of the payment`, async () => {
    const { block } = await payUnseen(refusal)
    await pass()
    assert.deepEqual(await inner(block), [])
    provider.rule = () => undefined
    await pass()
    assert.deepEqual(
      (await inner(block)).map(({ block, traced }) => ({ block, traced })),
      [{ block, traced: true }],
    )
  })

const GONE: Answer[] = [
  { error: { code: -32000, message: 'missing trie node 5c3d (path ) state 0x5c3d is not available' } },
  { error: { code: -32000, message: 'historical state 5c3d is not available' } },
  { error: { code: -32000, message: 'required historical state unavailable (reexec=128)' } },
  { error: { code: -32002, message: 'No state available for block 0x12' } },
  { error: { code: -32000, message: 'state at block #12 is pruned' } },
  { error: { code: -32000, message: 'World state unavailable' } },
  { error: { code: 4444, message: 'old blocks are not served' } },
  { error: { code: -32000, message: 'Archive node required for this request' } },
  { error: { code: -32000, message: 'distance to target block exceeds maximum proof window' } },
]
for (const [at, refusal] of GONE.entries())
  test(`missing states (${at}) hold a residue of several blocks, which is located once they return`, async () => {
    const { block, last } = await payUnseen(refusal)
    await pass()
    assert.deepEqual(await inner(block), [{ block: last, state: 'held', traced: false }])
    await pass()
    assert.deepEqual(await inner(block), [{ block: last, state: 'held', traced: false }], 'still gone')
    provider.rule = () => undefined
    await world.pool`UPDATE residue_traces SET prove_at = now() WHERE prove_at IS NOT NULL`
    await pass()
    const [found, ...others] = await inner(block)
    assert.deepEqual([found?.block, found?.traced, others], [block, true, []])
  })

test('so does value that left by an inner call, which is then its transaction’s outflow', async () => {
  const outflows = async () =>
    (await world.pool`SELECT block_number AS block, tx_hash IS NOT NULL AS traced FROM wallet_outflows`).map((row) => ({
      ...row,
    }))
  const { block, last } = await moveUnseen(GONE[0] as Answer, async () => {
    await world.chain.rpc('anvil_setCode', [world.at(3), leakOf(PAID)])
    await world.chain.mine()
    assert.equal(await world.succeeded(await world.call(9, world.at(3), forwardTo(world.at(8)), 0n)), true)
  })
  await pass()
  assert.deepEqual(await outflows(), [{ block: last, traced: false }])
  provider.rule = () => undefined
  await world.pool`UPDATE residue_traces SET prove_at = now() WHERE prove_at IS NOT NULL`
  await pass()
  assert.deepEqual(await outflows(), [{ block, traced: true }])
  await world.chain.rpc('anvil_setCode', [world.at(3), '0x'])
  await world.chain.mine()
})
