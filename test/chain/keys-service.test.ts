// The whole service with its keys in a key management service, and with a remote signer: it mints, and no log line of any kind has a key, a
// password or a signer's URL in it. If the signer goes away for a while, payments wait, and no nonce is lost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil } from 'viem/chains'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import { type Service, startService, startServiceHere } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { HANGING_MS, until } from '../support/until.ts'
import { startFalseProvider } from './false-provider.ts'
import { AWS_KEY, startKms } from './kms/double.ts'

const BASIC = 10n ** 16n
const keyOf = (account: number) => DEVELOPMENT_ACCOUNTS[account]?.privateKey ?? '0x'
const addressOf = (account: number) => privateKeyToAccount(keyOf(account)).address

async function buy(service: Service, account: number): Promise<void> {
  const document = await service.get<{ paymentAddress: `0x${string}` }>('/.well-known/node-ledger.json')
  const rpc = /http:\/\/127\.0\.0\.1:\d+(?=")/.exec(JSON.stringify(document))?.[0]
  const wallet = createWalletClient({
    account: privateKeyToAccount(keyOf(account)),
    chain: anvil,
    transport: http(rpc),
  })
  await wallet.sendTransaction({ to: document.paymentAddress, value: BASIC })
}
const owns = (service: Service, account: number) => async () =>
  (await service.get<unknown[]>(`/api/nodes/${addressOf(account)}`)).length > 0
const nothingLeaked = (service: Service, ...more: string[]) => {
  const output = service.output().toLowerCase()
  for (const secret of [keyOf(1), keyOf(2)].map((key) => key.slice(2)).concat(more))
    assert.ok(!output.includes(secret.toLowerCase()), 'a secret is in the log')
}

test('payments wait while the remote signer is away, then are minted without a lost nonce', async () => {
  const dataDir = temporaryDirectory()
  // The signer is anvil with its own unlocked accounts, behind a proxy that the test can switch off.
  const signer = await startFalseProvider()
  const url = signer.url.replace('http://', 'http://user:a-password-of-the-signer@')
  const env = { MINTER_SIGNER_URL: `${url}/path-of-the-signer`, MINTER_ADDRESS: addressOf(1), LOG_LEVEL: 'trace' }
  const service = await startService(dataDir, env)
  try {
    const rpc = /http:\/\/127\.0\.0\.1:\d+(?=")/.exec(
      JSON.stringify(await service.get('/.well-known/node-ledger.json')),
    )?.[0]
    assert.ok(rpc)
    await buy(service, 5)
    await until('it was asked while it was down', () => service.output().includes('not signed'))
    assert.equal(await owns(service, 5)(), false)
    signer.rule = async ({ method, params }) => {
      assert.equal(method, 'eth_signTransaction')
      const response = await fetch(rpc, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      return (await response.json()) as { result: string }
    }
    await until('the node is there', owns(service, 5), HANGING_MS, 1_500)
    const nonces = signer.seen.map(({ params }) => Number((params[0] as { nonce: string }).nonce))
    // The service asked for the first transaction repeatedly with the first nonce. After the signer signed it, nonces go up by one.
    assert.equal(nonces[0], 0)
    assert.deepEqual(
      [...new Set(nonces)],
      [...new Set(nonces)].map((_, index) => index),
    )
    nothingLeaked(service, 'a-password-of-the-signer', 'path-of-the-signer')
  } finally {
    await service.stop()
    await signer.close()
  }
})

test('the service mints with a key of a key management service, and waits while it denies access', async () => {
  const kms = await startKms(keyOf(1))
  kms.instead = () => ({
    status: 400,
    body: '{"__type":"AccessDeniedException","message":"not authorized to kms:Sign"}',
  })
  const env = { ...kms.variables.given, MINTER_KMS_KEY: AWS_KEY, MINTER_ADDRESS: addressOf(1), LOG_LEVEL: 'trace' }
  const service = await startServiceHere(env)
  try {
    await buy(service, 5)
    await until('it was asked while it refused', () => service.output().includes('AccessDeniedException'))
    kms.instead = null
    await until('the node is there', owns(service, 5), HANGING_MS, 1_500)
    nothingLeaked(service, kms.variables.given.AWS_SECRET_ACCESS_KEY ?? assert.fail())
  } finally {
    await service.stop()
    await kms.close()
  }
})
