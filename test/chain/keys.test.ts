// Sources of the keys that send: settings, a remote signer. The remote ones get real JSON-RPC calls:
// anvil signs with its own accounts, and a false signer in between shows what the service rejects.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { parseTransaction, recoverTransactionAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { openKeys } from '../../src/boot/keys.ts'
import { localSigner, remoteSigner, type UnsignedTransaction } from '../../src/chain/send/signer.ts'
import { ConfigError, loadConfig } from '../../src/config/load.ts'
import { type Address, address } from '../../src/domain/units.ts'
import { SignerFault } from '../../src/ports/faults.ts'
import { startFalseProvider } from './false-provider.ts'
import { type Stage, startStage } from './stage.ts'

const KEY_A = `0x${'8f3c21d5e6b7a904'.repeat(4)}` as const
const KEY_B = `0x${'1d5e6b7a9048f3c2'.repeat(4)}` as const
const ADDRESS_A = address(privateKeyToAccount(KEY_A).address)
const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://ledger:pa55@db.internal:5432/ledger',
  RPC_URL: 'https://rpc.example.org/v1/apikey-1234',
  CHAIN_ID: '1',
  FACTORY_ADDRESS: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  START_BLOCK: '19000000',
  SESSION_SECRET: 'f1d3e5a7c9b8064215738a9c0bde4f62',
}

function configOf(env: Record<string, string>, files: Record<string, string> = {}) {
  const readFile = (path: string) => {
    const text = files[path]
    if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
    return text
  }
  return loadConfig({ ...PRODUCTION, ...env }, { readFile })
}

function refused(
  env: Record<string, string>,
  setting: string,
  words: RegExp,
  files: Record<string, string> = {},
): void {
  assert.throws(
    () => configOf(env, files),
    (error: Error) => {
      assert.ok(error instanceof ConfigError, String(error))
      assert.ok(
        error.problems.some((problem) => problem.setting === setting && words.test(problem.message)),
        error.message,
      )
      return true
    },
  )
}

describe('settings', () => {
  test('one account for both is refused wherever its key is', async () => {
    const signer = { MINTER_SIGNER_URL: 'https://s.example', MINTER_ADDRESS: ADDRESS_A }
    await assert.rejects(openKeys(configOf({ ...signer, DISTRIBUTOR_PRIVATE_KEY: KEY_A })), /use two accounts/)
    const signers = { MINTER_SIGNER_URL: 'https://s.example', DISTRIBUTOR_SIGNER_URL: 'https://s.example' }
    refused(
      { ...signers, MINTER_ADDRESS: ADDRESS_A, DISTRIBUTOR_ADDRESS: ADDRESS_A },
      'DISTRIBUTOR_ADDRESS',
      /two accounts/,
    )
  })

  test('a key in two places, half a place, or an earlier release’s file is reported by name', () => {
    const signer = { MINTER_SIGNER_URL: 'https://s.example', MINTER_ADDRESS: ADDRESS_A }
    refused({ MINTER_PRIVATE_KEY: KEY_A, ...signer }, 'MINTER_SIGNER_URL', /and MINTER_PRIVATE_KEY are both set/)
    refused({ MINTER_SIGNER_URL: 'https://s.example' }, 'MINTER_ADDRESS', /MINTER_SIGNER_URL needs it/)
    refused({ MINTER_ADDRESS: ADDRESS_A }, 'MINTER_ADDRESS', /MINTER_SIGNER_URL is not/)
    refused({ MINTER_KEYSTORE: '/k' }, 'MINTER_KEYSTORE', /is removed.*decryptKeystore.*_PRIVATE_KEY_FILE/)
    refused({ ...signer, MINTER_SIGNER_URL: 'ftp://s.example' }, 'MINTER_SIGNER_URL', /is not a URL/)
  })
})

describe('a remote signer', () => {
  let stage: Stage
  let tx: UnsignedTransaction
  let minter: Address
  before(async () => {
    stage = await startStage()
    minter = stage.at(1)
    tx = {
      chainId: stage.chain.chainId,
      nonce: 7,
      to: stage.factory,
      data: '0x1234',
      valueWei: 5n,
      gasLimit: 100_000n,
      maxFeeWei: 30_000_000_000n,
      maxPriorityFeeWei: 1_000_000_000n,
    }
  })
  after(() => stage.close())

  /** A signer that forwards requests to anvil and may change the answer. */
  async function behind(answer: (raw: string) => unknown) {
    const provider = await startFalseProvider(stage.chain.rpcUrl)
    provider.rule = async (_call, forward) => {
      const { result } = (await forward()) as { result: string }
      return { result: answer(result) }
    }
    return { provider, signer: remoteSigner({ url: provider.url, address: minter, timeoutMs: 2_000 }) }
  }

  test('signs the very bytes that the key itself would have', async () => {
    const raw = await remoteSigner({ url: stage.chain.rpcUrl, address: minter }).sign(tx)
    assert.equal(address(await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })), minter)
    assert.equal(raw, await localSigner(stage.keyOf(1)).sign(tx))
    // The comparison includes fields that are zero.
    const bare = { ...tx, nonce: 0, valueWei: 0n, data: '0x' as const }
    assert.equal(
      await remoteSigner({ url: stage.chain.rpcUrl, address: minter }).sign(bare),
      await localSigner(stage.keyOf(1)).sign(bare),
    )
  })

  test('may answer as geth and Clef do, with an object around the bytes', async () => {
    const { provider, signer } = await behind((raw: string) => ({ raw, tx: {} }))
    assert.equal(await signer.sign(tx), await localSigner(stage.keyOf(1)).sign(tx))
    await provider.close()
  })

  const lies: [string, (other: UnsignedTransaction) => UnsignedTransaction, RegExp][] = [
    ['another recipient', (t) => ({ ...t, to: minter }), /\(to\)/],
    ['another value', (t) => ({ ...t, valueWei: t.valueWei + 1n }), /\(value\)/],
    ['other data', (t) => ({ ...t, data: '0x1235' }), /\(data\)/],
    ['another nonce', (t) => ({ ...t, nonce: 8 }), /\(nonce\)/],
    ['another chain', (t) => ({ ...t, chainId: 1 }), /\(chainId\)/],
    ['more gas', (t) => ({ ...t, gasLimit: t.gasLimit + 1n }), /\(gas\)/],
    ['a higher fee', (t) => ({ ...t, maxFeeWei: t.maxFeeWei * 2n }), /\(maxFeePerGas\)/],
    ['a higher tip', (t) => ({ ...t, maxPriorityFeeWei: t.maxFeeWei }), /\(maxPriorityFeePerGas\)/],
  ]
  for (const [what, change, words] of lies) {
    test(`that signs ${what} is not believed`, async () => {
      const lie = await localSigner(stage.keyOf(1)).sign(change(tx))
      const { provider, signer } = await behind(() => lie)
      await assert.rejects(signer.sign(tx), (error: Error) => error instanceof SignerFault && words.test(error.message))
      await provider.close()
    })
  }

  test('that signs with another key, malleably, not at all, or nonsense is not believed', async () => {
    const right = await localSigner(stage.keyOf(1)).sign(tx)
    const { s, yParity } = parseTransaction(right as `0x02${string}`)
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const high = (order - BigInt(s ?? 0)).toString(16).padStart(64, '0')
    const malleable = right.replace(String(s).slice(2).padStart(64, '0'), high)
    assert.notEqual(malleable, right)
    assert.ok(yParity === 0 || yParity === 1)
    const answers: [unknown, RegExp][] = [
      [await localSigner(KEY_B).sign(tx), /signed by 0x/],
      [malleable, /high s/],
      [`${right}00`, /not a signed transaction|another transaction/],
      [right.slice(0, -2), /not a signed transaction|another transaction/],
      ['0x', /no serialized/],
      [null, /no serialized/],
      [{ raw: 7 }, /no serialized/],
      ['0xdeadbeef', /not a signed transaction/],
    ]
    for (const [answer, words] of answers) {
      const { provider, signer } = await behind(() => answer)
      await assert.rejects(signer.sign(tx), (error: Error) => {
        assert.ok(error instanceof SignerFault, String(error))
        assert.match(error.message, words)
        return true
      })
      await provider.close()
    }
  })

  test('if it is down, slow or lacks the account, the fault shows its role and host only', async () => {
    const provider = await startFalseProvider(stage.chain.rpcUrl)
    const url = provider.url.replace('http://', 'http://user:hunter2hunter2@')
    provider.rule = () => new Promise(() => {})
    await assert.rejects(remoteSigner({ url, address: minter, timeoutMs: 200 }).sign(tx), (error: Error) => {
      assert.ok(error instanceof SignerFault && error.retryable)
      assert.match(error.message, new RegExp(`signer of ${minter} does not answer`))
      assert.ok(!error.message.includes('hunter2'))
      return true
    })
    await provider.close()
    await assert.rejects(remoteSigner({ url, address: minter }).sign(tx), SignerFault)
    const stranger = remoteSigner({ url: stage.chain.rpcUrl, address: ADDRESS_A })
    await assert.rejects(
      stranger.sign(tx),
      (error: Error) => error instanceof SignerFault && /refuses/.test(error.message),
    )
  })
})
