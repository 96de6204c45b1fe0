import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { privateKeyToAccount } from 'viem/accounts'
import { createWalletVerifier, recoverSigner } from '../../src/chain/read/wallets.ts'
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.ts'
import { type Address, address } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { startTestChain, type TestChain } from '../support/anvil.ts'

/** Answers ERC-1271's magic value to any call. */
const ACCEPTS = '0x631626ba7e60e01b60005260206000f3'
const REFUSES = '0x60005260206000f3'
const REVERTS = '0x60006000fd'
const WALLET = address(`0x${'a1'.repeat(20)}`)
const MESSAGE = 'example.org wants you to sign in'
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

let chain: TestChain
let rpc: Rpc
before(async () => {
  chain = await startTestChain()
  rpc = createRpc({ urls: [chain.rpcUrl], log: silentLog })
})
after(async () => {
  await rpc.close()
  await chain.stop()
})

async function verdict(
  code: string,
  wallet: Address = WALLET,
  signature: `0x${string}` = `0x${'01'.repeat(65)}`,
): Promise<boolean | null> {
  await chain.rpc('anvil_setCode', [wallet, code])
  return createWalletVerifier(rpc)(wallet, MESSAGE, signature)
}

test('a contract wallet’s own word decides', async () => {
  assert.equal(await verdict(ACCEPTS), true)
  assert.equal(await verdict(REFUSES), false)
  assert.equal(await verdict(REVERTS), false)
})

test('an address without code accepts nothing, not even what its key signed', async () => {
  const account = privateKeyToAccount(chain.accounts[5]?.privateKey ?? '0x')
  const signature = await account.signMessage({ message: MESSAGE })
  assert.equal(await recoverSigner(MESSAGE, signature), address(account.address))
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  const v = signature.endsWith('1b') ? '1c' : '1b'
  const high = `${signature.slice(0, 66)}${(ORDER - s).toString(16).padStart(64, '0')}${v}` as `0x${string}`
  assert.equal(await verdict('0x', address(account.address), high), false)
})

test('a signature of half a byte, or of megabytes, is refused without asking the chain', async () => {
  assert.equal(await verdict(ACCEPTS, WALLET, '0x123'), false)
  assert.equal(await verdict(ACCEPTS, WALLET, `0x${'00'.repeat(9_000)}`), false)
})

test('a chain that cannot be asked is no refusal', async () => {
  const dead = createRpc({ urls: ['http://127.0.0.1:1'], log: silentLog, timeoutMs: 200 })
  assert.equal(await createWalletVerifier(dead)(WALLET, MESSAGE, '0x01'), null)
  await dead.close()
})

test('an invalid signature recovers no address', async () => {
  assert.equal(await recoverSigner(MESSAGE, `0x${'ff'.repeat(65)}`), null)
})
