// Keys in key management services: their signatures equal the key's own, whatever the source of credentials. The
// service rejects a signature that is not the account's, and shows no credential anywhere.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { privateKeyToAccount } from 'viem/accounts'
import { parseTransaction } from 'viem/utils'
import { openKeys } from '../../../src/boot/keys.ts'
import { parseKmsKey } from '../../../src/chain/send/kms/key.ts'
import { localSigner, type UnsignedTransaction } from '../../../src/chain/send/signer.ts'
import { ConfigError, describeConfig, loadConfig } from '../../../src/config/load.ts'
import { address } from '../../../src/domain/units.ts'
import { SignerFault } from '../../../src/ports/faults.ts'
import { runHere } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { AWS_KEY, GOOGLE_KEY, type KmsDouble, startKms } from './double.ts'

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
let directory: string
before(async () => {
  kms = await startKms(KEY)
  directory = temporaryDirectory()
  for (const [name, text] of Object.entries(kms.files)) writeFileSync(join(directory, name), text)
})
after(() => kms.close())
beforeEach(() => {
  Object.assign(kms, { privateKey: KEY, forge: (der: Uint8Array) => der, instead: null, lentSec: 3_600 })
  kms.seen.length = 0
})

/** Settings, with the files that they name in the test's directory. */
const settingsFor = (way: keyof KmsDouble['settings']) =>
  Object.fromEntries(
    Object.entries(kms.settings[way]).map(([name, value]) => [
      name,
      value in kms.files ? join(directory, value) : value,
    ]),
  )
const keyFor = (way: string) => (way === 'account' || way === 'metadata' ? GOOGLE_KEY : AWS_KEY)
const envFor = (way: keyof KmsDouble['settings']) => ({
  NODE_ENV: 'test',
  MINTER_KMS_KEY: keyFor(way),
  MINTER_ADDRESS: ACCOUNT,
  ...settingsFor(way),
})
const readFile = (path: string) => kms.files[path.split('/').at(-1) ?? ''] ?? assert.fail(path)
const configFor = (env: Record<string, string>) => loadConfig(env, { readFile })
async function signerFor(way: keyof KmsDouble['settings']) {
  return (await openKeys(configFor(envFor(way)))).minter ?? assert.fail('no signer')
}
const fault = (words: RegExp) => (error: Error) => {
  assert.ok(error instanceof SignerFault, String(error))
  assert.match(error.message, words)
  assert.ok(!/secret|a-token|PRIVATE KEY|ya29/i.test(error.message), error.message)
  return true
}

for (const way of ['given', 'container', 'machine', 'account', 'metadata'] as const) {
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
    const { code, out, err } = await runHere(['keys', 'address', keyFor(way)], settingsFor(way))
    assert.equal(code, 0, err)
    assert.equal(out.trim().toLowerCase(), ACCOUNT)
  })
}

test('keys of a role and tokens are fetched again before they lapse, and old ones used while there are no new ones', async () => {
  kms.lentSec = 200
  const container = await signerFor('container')
  await container.sign(TX)
  await container.sign(TX)
  assert.equal(kms.seen.filter((line) => line === 'GET /v1/credentials').length, 2)
  kms.instead = (path) => (path === '/v1/credentials' ? { status: 500, body: '' } : undefined)
  await container.sign(TX)
  kms.lentSec = 3_600
  kms.instead = null
  await container.sign(TX)
  await container.sign(TX)
  assert.equal(kms.seen.filter((line) => line === 'GET /v1/credentials').length, 4)
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
      /without [Ss]ignature/,
    ],
    [
      'an answer without end',
      (double) => Object.assign(double, { instead: () => ({ status: 200, body: 'x'.repeat(200_000) }) }),
      /too long/,
    ],
    [
      'a page',
      (double) => Object.assign(double, { instead: () => ({ status: 200, body: '<html>' }) }),
      /did not return a JSON object/,
    ],
    ['a redirection', (double) => Object.assign(double, { instead: () => ({ status: 302, body: '' }) }), /\(302\)/],
  ]
  for (const way of ['given', 'account'] as const) {
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

test('who is not let in is told why, without what they tried', async () => {
  const stranger = { ...envFor('given'), AWS_SECRET_ACCESS_KEY: 'secret-of-nobody-secret-of-nobody-secret' }
  const { minter } = await openKeys(configFor(stranger))
  await assert.rejects(
    minter?.sign(TX) ?? assert.fail(),
    fault(/InvalidSignatureException: The request signature.*\(400\)/),
  )
  const absent = AWS_KEY.replace('1234abcd', '9999abcd')
  const asked = await runHere(['keys', 'address', absent], settingsFor('given'))
  assert.equal(asked.code, 3)
  assert.match(asked.err, /NotFoundException: Key .* does not exist/)
  assert.match((await runHere(['keys', 'address', 'alias/minter'], {})).err, /Not the name of a key/)
})

describe('settings', () => {
  test('a key is named in full, with its account, and in one place', () => {
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
        () => configFor({ ...envFor('given'), ...change }),
        (error: Error) => {
          assert.ok(error instanceof ConfigError)
          assert.match(error.message, words)
          return true
        },
      )
    refused({ MINTER_KMS_KEY: 'alias/minter' }, /MINTER_KMS_KEY is "alias\/minter": set it to the ARN/)
    refused({ MINTER_ADDRESS: '' }, /MINTER_ADDRESS is missing: MINTER_KMS_KEY needs it/)
    refused({ MINTER_PRIVATE_KEY: KEY }, /MINTER_KMS_KEY and MINTER_PRIVATE_KEY are both set/)
    refused({ AWS_SECRET_ACCESS_KEY: '' }, /AWS_SECRET_ACCESS_KEY is missing/)
    refused(
      { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://roles.example/x' },
      /FULL_URI is plain http to another machine/,
    )
    refused(
      { DISTRIBUTOR_KMS_KEY: GOOGLE_KEY, DISTRIBUTOR_ADDRESS: ACCOUNT },
      /DISTRIBUTOR_ADDRESS is also MINTER_ADDRESS/,
    )
  })

  test('what lets one in is masked, and means nothing where no key is in a service', () => {
    const described = describeConfig(configFor(envFor('given')))
    assert.equal(described.MINTER_KMS_KEY, AWS_KEY)
    assert.equal(described.AWS_SECRET_ACCESS_KEY, '***')
    const text = JSON.stringify([described, describeConfig(configFor(envFor('account')))])
    assert.ok(!text.includes('given/secret') && !text.includes('PRIVATE KEY'))
    assert.equal(described.AWS_ENDPOINT_URL_KMS, kms.url)
    assert.doesNotThrow(() =>
      configFor({ NODE_ENV: 'test', AWS_ACCESS_KEY_ID: 'x', AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://a.example' }),
    )
  })
})
