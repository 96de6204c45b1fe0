import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { privateKeyToAccount } from 'viem/accounts'
import { concatHex, encodeAbiParameters, getContractAddress, keccak256 } from 'viem/utils'
import { createWalletProver, createWalletVerifier, recoverSigner } from '../../src/chain/pages/wallets.ts'
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.ts'
import { type Address, address } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { startTestChain, type TestChain } from '../support/anvil.ts'
import { startFalseProvider } from './false-provider.ts'

/** Answers ERC-1271's magic value to any call. */
const ACCEPTS = '0x631626ba7e60e01b60005260206000f3'
const REFUSES = '0x60005260206000f3'
const REVERTS = '0x60006000fd'
const WALLET = address(`0x${'a1'.repeat(20)}`)
const MESSAGE = 'example.org wants you to sign in'
const SIGNATURE: `0x${string}` = `0x${'01'.repeat(65)}`
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

/** A signature wrapped in a call to make first (ERC-6492). */
const wrapped = (to: Address, data: `0x${string}`, own: `0x${string}` = SIGNATURE) =>
  concatHex([
    encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }], [to, data, own]),
    `0x${'6492'.repeat(16)}`,
  ])
/** Deploys its calldata: CREATE2 with salt 0. */
const DEPLOYER = '0x365f5f375f365f5ff500'
/** Accepts every signature once someone has called it without data: that call sets slot 0, and it multiplies the magic value by that. */
const TOUCHED = '0x3660095760015f55005b5f54631626ba7e60e01b025f5260205ff3'

test('T42, T43: a wallet proves itself by its deployment if undeployed, else by its own word', async () => {
  const prove = createWalletProver(rpc)
  const deployer = address(`0x${'de'.repeat(20)}`)
  await chain.rpc('anvil_setCode', [deployer, DEPLOYER])
  const size = ((ACCEPTS.length - 2) / 2).toString(16)
  const initCode = `0x60${size}80600a5f395ff300${ACCEPTS.slice(2)}` as const
  const wallet = address(
    getContractAddress({
      from: deployer,
      opcode: 'CREATE2',
      salt: `0x${'0'.repeat(64)}`,
      bytecodeHash: keccak256(initCode),
    }),
  )
  assert.deepEqual(await prove(wallet, MESSAGE, wrapped(deployer, initCode)), { deployed: false })
  assert.equal(await prove(wallet, MESSAGE, SIGNATURE), null, 'nothing is there yet')
  await chain.rpc('anvil_setCode', [wallet, ACCEPTS])
  for (const signature of [SIGNATURE, wrapped(deployer, initCode)] as const)
    assert.deepEqual(await prove(wallet, MESSAGE, signature), { deployed: true })
  await chain.rpc('anvil_setCode', [WALLET, REFUSES])
  assert.equal(await prove(WALLET, MESSAGE, wrapped(deployer, initCode)), null)
})

test('a contract that accepts only after wrapped calls may sign in, and is not proven', async () => {
  await chain.rpc('anvil_setCode', [WALLET, TOUCHED])
  const signature = wrapped(WALLET, '0x')
  assert.equal(await createWalletVerifier(rpc)(WALLET, MESSAGE, signature), true)
  assert.equal(await createWalletProver(rpc)(WALLET, MESSAGE, signature), null)
})

test('if there are two providers, both must report that a wallet accepts', async () => {
  await chain.rpc('anvil_setCode', [WALLET, ACCEPTS])
  const second = await startFalseProvider(chain.rpcUrl)
  const both = createRpc({ urls: [chain.rpcUrl, second.url], log: silentLog })
  try {
    assert.deepEqual(await createWalletProver(both)(WALLET, MESSAGE, SIGNATURE), { deployed: true })
    second.rule = ({ method }) => (method === 'eth_call' ? { result: '0x00' } : undefined)
    assert.equal(await createWalletProver(both)(WALLET, MESSAGE, SIGNATURE), null)
  } finally {
    await both.close()
    await second.close()
  }
})

test('an invalid signature recovers no address', async () => {
  assert.equal(await recoverSigner(MESSAGE, `0x${'ff'.repeat(65)}`), null)
})
