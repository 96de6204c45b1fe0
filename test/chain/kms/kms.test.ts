// Keys in key management services, through their vendors' own clients: their signatures equal the key's own, whatever the source of credentials. The
// service rejects a signature that is not the account's, and shows no credential anywhere.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { privateKeyToAccount } from 'viem/accounts'
import { parseTransaction } from 'viem/utils'
import { ClientMissing, loadClient } from '../../../src/chain/send/kms/client.ts'
import { parseKmsKey } from '../../../src/chain/send/kms/key.ts'
import { accountOfKmsKey, kmsSigner } from '../../../src/chain/send/kms/signer.ts'
import { localSigner, type UnsignedTransaction } from '../../../src/chain/send/signer.ts'
import { ConfigError, describeConfig, loadConfig } from '../../../src/config/load.ts'
import { address } from '../../../src/domain/units.ts'
import { SignerFault } from '../../../src/ports/faults.ts'
import { runHere } from '../../support/cli.ts'
import { AWS_KEY, GOOGLE_KEY, type KmsDouble, letIn, startKms, type Way } from './double.ts'

const KEY = `0x${'8f3c21d5e6b7a904'.repeat(4)}` as const
const OTHER = `0x${'1d5e6b7a9048f3c2'.repeat(4)}` as const
const ACCOUNT = address(privateKeyToAccount(KEY).address)
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const TX: UnsignedTransaction = {
  chainId: 31337,
  nonce: 7,
  to: ACCOUNT,
  data: '0x1234',
  valueWei: 5n,
  gasLimit: 100_000n,
  maxFeeWei: 30_000_000_000n,
  maxPriorityFeeWei: 1_000_000_000n,
}

let kms: KmsDouble
let letNobodyIn = () => {}
before(async () => {
  kms = await startKms(KEY)
})
after(() => kms.close())
beforeEach(() => {
  Object.assign(kms, { privateKey: KEY, forge: (der: Uint8Array) => der, instead: null, lentSec: 3_600 })
  kms.seen.length = 0
})
afterEach(() => letNobodyIn())

function letInBy(way: Way, changes: Record<string, string> = {}): void {
  letNobodyIn()
  letNobodyIn = letIn({ ...kms.variables[way], ...changes })
}
const keyFor = (way: Way) => (way === 'metadata' || way === 'federation' ? GOOGLE_KEY : AWS_KEY)
const parsed = (name: string) => parseKmsKey(name) ?? assert.fail(name)
function signerFor(way: Way, options: { timeoutMs?: number } = {}) {
  letInBy(way)
  return kmsSigner(parsed(keyFor(way)), ACCOUNT, { googleUrl: kms.url, ...options })
}
const fault = (words: RegExp) => (error: Error) => {
  assert.ok(error instanceof SignerFault, String(error))
  assert.match(error.message, words)
  assert.ok(!/secret|a-token|PRIVATE KEY|ya29/i.test(error.message), error.message)
  assert.ok(error.cause === undefined || error.cause instanceof SignerFault)
  return true
}

for (const way of ['given', 'profile', 'webIdentity', 'container', 'metadata', 'federation'] as const) {
  test(`signs what the key itself would have signed, let in by: ${way}`, async () => {
    const signer = await signerFor(way)
    assert.equal(signer.address, ACCOUNT)
    // The services choose their own nonces for a signature, and do not keep to the lower half. Twelve signatures contain both halves.
    for (let nonce = 0; nonce < 12; nonce++) {
      const raw = await signer.sign({ ...TX, nonce })
      const { r, s, yParity, v, ...signed } = parseTransaction(raw as `0x02${string}`)
      const own = parseTransaction((await localSigner(KEY).sign({ ...TX, nonce })) as `0x02${string}`)
      assert.deepEqual({ ...signed, r: own.r, s: own.s, v: own.v, yParity: own.yParity }, own)
      assert.ok(BigInt(s ?? 0) <= HALF_ORDER && r && v !== undefined && yParity !== undefined)
    }
    const handed = kms.seen.filter((line) => !/TrentService|asymmetricSign/.test(line))
    assert.ok(handed.length <= 3, `what lets it in is fetched once: ${handed.join(', ')}`)
    assert.equal(await accountOfKmsKey(parsed(keyFor(way)), { googleUrl: kms.url }), ACCOUNT)
  })
}

test('the command prints the account of a key', async () => {
  letInBy('webIdentity')
  const { code, out, err } = await runHere(['keys', 'address', AWS_KEY], {})
  assert.equal(code, 0, err)
  assert.equal(out.trim().toLowerCase(), ACCOUNT)
})

test('a missing client is reported with the command that installs it', async () => {
  const absent: string = '@node-ledger/no-such-client'
  await assert.rejects(
    loadClient(`${absent}@1`, () => import(absent)),
    (error: Error) =>
      error instanceof ClientMissing && /npm install --no-save @node-ledger\/no-such-client@1/.test(error.message),
  )
  const broken = () => Promise.reject(new TypeError('it is there, and does not load'))
  await assert.rejects(loadClient('broken@1', broken), TypeError)
})

describe('not taken', () => {
  const refusals: [string, (double: KmsDouble) => void, RegExp][] = [
    [
      'another key',
      (double) => Object.assign(double, { privateKey: OTHER }),
      /key belongs to another account.*keys address/,
    ],
    [
      'a torn signature',
      (double) => Object.assign(double, { forge: (der: Uint8Array) => der.slice(2) }),
      /did not return a secp256k1 signature/,
    ],
    [
      'no signature',
      (double) => Object.assign(double, { instead: () => ({ status: 200, body: '{}' }) }),
      /answered without what we asked for/,
    ],
    ['a page', (double) => Object.assign(double, { instead: () => ({ status: 200, body: '<html>' }) }), /KMS/],
    ['a redirection', (double) => Object.assign(double, { instead: () => ({ status: 302, body: '' }) }), /KMS/],
  ]
  for (const way of ['given', 'metadata'] as const) {
    for (const [what, spoil, words] of refusals) {
      test(`${way}: ${what}`, async () => {
        const signer = await signerFor(way)
        await signer.sign(TX)
        spoil(kms)
        await assert.rejects(signer.sign(TX), fault(words))
      })
    }
  }
})

test('a denied caller learns why, without the credentials that they tried', async () => {
  letInBy('given', { AWS_SECRET_ACCESS_KEY: 'secret-of-nobody-secret-of-nobody-secret' })
  const stranger = await kmsSigner(parsed(AWS_KEY), ACCOUNT)
  await assert.rejects(
    stranger.sign(TX),
    fault(/AWS KMS: InvalidSignatureException: The request signature does not match/),
  )
  letInBy('given')
  const absent = AWS_KEY.replace('1234abcd', '9999abcd')
  const asked = await runHere(['keys', 'address', absent], {})
  assert.equal(asked.code, 3)
  assert.match(asked.err, /NotFoundException: Key .* does not exist/)
  assert.match((await runHere(['keys', 'address', 'alias/minter'], {})).err, /Not the name of a key/)
  letInBy('given', { AWS_ACCESS_KEY_ID: '' })
  const nobody = await kmsSigner(parsed(AWS_KEY), ACCOUNT)
  await assert.rejects(nobody.sign(TX), fault(/AWS KMS: Could not load credentials/))
})

test('a service that does not answer ends the wait', async () => {
  for (const way of ['given', 'metadata'] as const) {
    const signer = await signerFor(way, { timeoutMs: 200 })
    kms.instead = () => null
    await assert.rejects(signer.sign(TX), fault(/KMS does not answer in time/))
    kms.instead = null
  }
})

const NAMED = { NODE_ENV: 'test', MINTER_KMS_KEY: AWS_KEY, MINTER_ADDRESS: ACCOUNT }
const configFor = (env: Record<string, string>) => loadConfig(env, { readFile: (path) => assert.fail(path) })

describe('settings', () => {
  test('a key needs its full name, with its account, in one setting only', () => {
    for (const name of [
      AWS_KEY,
      GOOGLE_KEY,
      AWS_KEY.replace('arn:aws:', 'arn:aws-cn:').replace('eu-central-1', 'cn-north-1'),
    ])
      assert.ok(parseKmsKey(name), name)
    for (const name of [
      'alias/minter',
      '1234abcd',
      AWS_KEY.replace(':kms:', ':s3:'),
      GOOGLE_KEY.replace(/\/cryptoKeyV.*/, ''),
      `${AWS_KEY}\n`,
    ])
      assert.equal(parseKmsKey(name), null, name)
    const refused = (change: Record<string, string>, words: RegExp) =>
      assert.throws(
        () => configFor({ ...NAMED, ...change }),
        (error: Error) => {
          assert.ok(error instanceof ConfigError)
          assert.match(error.message, words)
          return true
        },
      )
    refused({ MINTER_KMS_KEY: 'alias/minter' }, /MINTER_KMS_KEY is "alias\/minter": set it to the ARN/)
    refused({ MINTER_ADDRESS: '' }, /MINTER_ADDRESS is missing: MINTER_KMS_KEY needs it/)
    refused({ MINTER_PRIVATE_KEY: KEY }, /MINTER_KMS_KEY and MINTER_PRIVATE_KEY are both set/)
    refused(
      { DISTRIBUTOR_KMS_KEY: GOOGLE_KEY, DISTRIBUTOR_ADDRESS: ACCOUNT },
      /DISTRIBUTOR_ADDRESS is also MINTER_ADDRESS/,
    )
  })

  test('a key’s name is shown', () => {
    assert.equal(describeConfig(configFor(NAMED)).MINTER_KMS_KEY, AWS_KEY)
  })
})
