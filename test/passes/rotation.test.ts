// A change of keys: the new key makes, once, the mints that a replaced key had signed; and calls of one key are settled
// even if an instance without it followed the block.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { localSigner } from '../../src/chain/send/signer.ts'
import { createSignerAccount } from '../../src/chain/send/signer-account.ts'
import type { Hash } from '../../src/domain/units.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { setModeTo } from '../support/two-providers.ts'
import { ETHER, type Instance, paymentOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const NEW_MINTER = 9

let world: World
let renewed: Instance
before(async () => {
  world = await startWorld()
  await world.settle()
})
after(() => world.close())

const setMinter = (account: number) => world.act(0, 'setMinter', [world.at(account), 1_000n, 1_000n])
const stateOf = async (txHash: Hash) => (await paymentOf(world, txHash))?.state

/** The service started with another account's key. */
function withKeyOf(account: number): Instance {
  const { chain, rpc, factory, at } = world
  const signer = localSigner(chain.accounts[account]?.privateKey ?? assert.fail())
  return world.instance({
    minter: createSignerAccount({ rpc, signer, chainId: chain.chainId, factory }),
    chain: createChainReader(rpc, { factory, wallets: [], signers: [at(account), at(2)] }),
  })
}

async function isMintedByTheNewKey(paid: Hash): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await renewed.payments()
    await world.chain.mine()
  }
  assert.equal(await stateOf(paid), 'minted')
}

test('a mint that the old key had signed, and that no provider took, is made by the new one', async () => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  const { minter } = world.ctx
  assert.ok(minter)
  await world.instance({ minter: { ...minter, broadcast: async () => ({ kind: 'accepted' }) } }).payments()
  assert.equal(await stateOf(paid), 'minting')
  await setMinter(NEW_MINTER)
  renewed = withKeyOf(NEW_MINTER)
  await isMintedByTheNewKey(paid)
  assert.equal(await world.read('lastId'), 1n)
})

test('the new key mints a node of the old key that a reorg removed', async () => {
  const paid = await world.pay(6, BASIC)
  await setMinter(1)
  await world.settle()
  assert.equal(await stateOf(paid), 'minted')
  await world.chain.mine()
  await world.chain.reorg(2)
  await setMinter(NEW_MINTER)
  await isMintedByTheNewKey(paid)
  assert.equal(await world.read('lastId'), 2n)
})

test('a call that an instance without keys has followed is settled for the one that sent it', async () => {
  const { factory, rpc } = world
  const keyless = world.instance({
    minter: null,
    distributor: null,
    chain: createChainReader(rpc, { factory, wallets: [], signers: [] }),
  })
  const paid = await world.pay(7, BASIC)
  await world.chain.mine()
  await renewed.payments()
  assert.equal(await stateOf(paid), 'minting')
  await world.chain.mine()
  await keyless.payments()
  const later = await world.pay(8, BASIC)
  await isMintedByTheNewKey(later)
  assert.equal(await stateOf(paid), 'minted')
})

test('a key that returns after another use waits, doctor reports it, and the operator frees it', async () => {
  // Where blocks are proven, the ledger would find what the key sent in them.
  await setModeTo(world.pool, 'agreed')
  await renewed.payments()
  await setMinter(1)
  await world.settle()
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  const { minter } = world.ctx
  assert.ok(minter)
  await world.instance({ minter: { ...minter, broadcast: async () => ({ kind: 'accepted' }) } }).payments()
  const told = async (check: string, env = {}) => {
    const { out } = await runHere(['doctor', '--json'], { ...worldEnv(world), ...env })
    const findings: { check: string; verdict: string; todo: string | null }[] = JSON.parse(out).findings
    return findings.find((finding) => finding.check === check)
  }
  assert.equal((await told('nonce.minter'))?.verdict, 'ok', 'it is only on its way')
  // Replaced, with its mint in no block; then it sends elsewhere, and the follower does not watch its sends.
  await setMinter(NEW_MINTER)
  await isMintedByTheNewKey(paid)
  // The service does not wait for the former key's transactions, and only the doctor of that key's instance reports them.
  await world.pool`UPDATE outbox SET created_at = now() - interval '1 hour' WHERE state = 'pending'`
  const env = { MINTER_PRIVATE_KEY: world.chain.accounts[NEW_MINTER]?.privateKey }
  assert.equal((await told('transactions.pending'))?.verdict, 'warn')
  assert.equal(await told('transactions.pending', env), undefined)
  // The first takes the nonce of the stored mint, so the follower checks it; it ignores the second.
  for (let i = 0; i < 2; i++) {
    await world.chain.send({ from: world.at(1), to: world.at(9), value: '0x1' })
    await world.chain.mine()
    await renewed.payments()
  }
  await setMinter(1)
  const later = await world.pay(6, BASIC)
  await world.chain.mine()
  for (let i = 0; i < 3; i++) {
    await world.payments()
    await world.chain.mine()
  }
  assert.equal(await stateOf(later), 'accepted')
  const { verdict, todo } = (await told('nonce.minter')) ?? assert.fail('not looked at')
  assert.equal(verdict, 'fail')
  assert.match(todo ?? '', /transactions free/)
  assert.equal((await runHere(['transactions', 'free', world.at(1)], worldEnv(world))).code, 0)
  await world.payments()
  await world.settle()
  assert.equal(await stateOf(later), 'minted')
  assert.equal((await told('nonce.minter'))?.verdict, 'ok')
})
