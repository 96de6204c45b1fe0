// Set-ups with one broken part each: the doctor names the part and what to do, in a sentence that repeats no secret.
// These complement doctor.test.ts.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Finding } from '../../src/checks/check.ts'
import { cancelTierPlan, insertTierPlan, readTierVersions } from '../../src/db/sale/tiers.ts'
import { addEndpoint } from '../../src/db/webhooks.ts'
import { type FalseProvider, startFalseProvider } from '../chain/false-provider.ts'
import { AWS_KEY, type KmsDouble, letIn, startKms } from '../chain/kms/double.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts'
import { runtimeEnv } from '../support/runtime-env.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { startWorld, type World } from '../support/world.ts'

const SECRET = 'Zq7TopSecretMarker'
const NOBODY = 'http://127.0.0.1:9'

let world: World
let env: Record<string, string>
let empty: TestDatabase
let provider: FalseProvider
let page: ReturnType<typeof createServer>
let pageUrl: string
let kms: KmsDouble
before(async () => {
  world = await startWorld()
  env = worldEnv(world)
  await world.rest()
  empty = await createEmptyDatabase()
  provider = await startFalseProvider(world.chain.rpcUrl)
  page = createServer((_request, response) => response.end('<html>Welcome</html>'))
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
  pageUrl = `http://127.0.0.1:${(page.address() as AddressInfo).port}`
  kms = await startKms(`0x${'8f3c21d5e6b7a904'.repeat(4)}`)
})
after(async () => {
  await kms.close()
  page.closeAllConnections()
  page.close()
  await provider.close()
  await empty.drop()
  await world.close()
})

const inKms = () => ({ MINTER_PRIVATE_KEY: '', MINTER_KMS_KEY: AWS_KEY, MINTER_ADDRESS: world.at(1) })

interface Broken {
  /** Settings that differ from a sound set-up's. */
  env?: () => Record<string, string>
  /** Breaks the ledger or the chain, and returns what repairs it. */
  break?: () => Promise<() => unknown>
  /** The check that finds it, its verdict, and its advice. */
  check: string
  verdict?: Finding['verdict']
  says: RegExp
  todo: RegExp
}

const elsewhere = (url: string, change: (at: URL) => void) => {
  const at = new URL(url)
  change(at)
  return at.href
}
const without = (method: RegExp) => ({
  env: () => ({ RPC_URL: provider.url }),
  break: async () => {
    provider.rule = (call) =>
      method.test(call.method) ? { error: { code: -32601, message: 'the method does not exist' } } : undefined
    return async () => {
      provider.rule = () => undefined
    }
  },
})
const signer = (url: string) => ({ MINTER_PRIVATE_KEY: '', MINTER_SIGNER_URL: url, MINTER_ADDRESS: world.at(1) })
const endpoint = async (state: { disabled_at?: Date }) => {
  const url = `http://127.0.0.1:9/${SECRET}`
  await addEndpoint(world.pool, { url, secrets: [`whsec_${'A'.repeat(32)}`] }, 'test')
  await world.pool`UPDATE webhook_endpoints SET last_error = 'HTTP 410', disabled_at = ${state.disabled_at ?? null}`
  return () => world.pool`DELETE FROM webhook_endpoints`
}

const BROKEN: Readonly<Record<string, Broken>> = {
  'a password that the database does not take': {
    env: () => ({
      DATABASE_URL: elsewhere(env.DATABASE_URL ?? '', (at) => {
        at.username = 'nobody_of_that_name'
        at.password = SECRET
      }),
    }),
    check: 'database',
    says: /nobody_of_that_name|password|role/,
    todo: /DATABASE_URL/,
  },
  'a database that is not there': {
    env: () => ({
      DATABASE_URL: elsewhere(env.DATABASE_URL ?? '', (at) => Object.assign(at, { pathname: '/no_such_ledger' })),
    }),
    check: 'database',
    says: /no_such_ledger/,
    todo: /DATABASE_URL|createdb|create/i,
  },
  'an empty database': {
    env: () => ({ DATABASE_URL: empty.url }),
    check: 'database.schema',
    says: /there is no ledger yet/,
    todo: /migrate|start/,
  },
  'a replica that does not run': {
    env: () => ({ DATABASE_READ_URL: `postgres://u:${SECRET}@127.0.0.1:9/x` }),
    check: 'database.replica',
    says: /127\.0\.0\.1:9|refused|reach/i,
    todo: /DATABASE_READ_URL/,
  },
  'a provider that is a web page': {
    env: () => ({ RPC_URL: pageUrl }),
    check: 'chain.provider',
    says: /JSON/i,
    todo: /RPC_URL/,
  },
  'a provider that wants another key': {
    env: () => ({ RPC_URL: provider.url }),
    break: async () => {
      provider.http = () => ({ status: 401, body: '{"error":"invalid api key"}' })
      return async () => {
        provider.http = () => undefined
      }
    },
    check: 'chain.provider',
    says: /invalid api key/,
    todo: /RPC_URL|key/,
  },
  'a provider without logs': {
    ...without(/getLogs/),
    check: 'chain.provider',
    says: /getLogs|logs/i,
    todo: /RPC_URL|provider/i,
  },
  'a provider without traces': {
    ...without(/^(debug|trace)_/),
    check: 'chain.traces',
    verdict: 'warn',
    says: /trac/,
    todo: /provider|RPC_URL|trac/,
  },
  'a remote signer that is down': {
    env: () => signer(NOBODY),
    check: 'signer.minter',
    says: /does not answer/,
    todo: /MINTER_SIGNER_URL runs/,
  },
  'a remote signer of another account': {
    env: () => ({ ...signer(world.chain.rpcUrl), MINTER_ADDRESS: `0x${'ab'.repeat(20)}` }),
    check: 'signer.minter',
    says: /refuses|No Signer/i,
    todo: /MINTER_ADDRESS unlocked/,
  },
  'a key management service that denies access': {
    env: inKms,
    break: async () => letIn({ ...kms.variables.given, AWS_SECRET_ACCESS_KEY: `${SECRET}${SECRET}` }),
    check: 'signer.minter',
    says: /InvalidSignatureException/,
    todo: /MINTER_KMS_KEY can be reached .* keys address/,
  },
  'a key management service with the key of another account': {
    env: inKms,
    break: async () => letIn(kms.variables.given),
    check: 'signer.minter',
    says: /another account/,
    todo: /MINTER_ADDRESS is its account/,
  },
  'a minter without ether': {
    break: async () => {
      await world.chain.setBalance(world.at(1), 0n)
      return () => world.chain.setBalance(world.at(1), 10n ** 20n)
    },
    check: 'funds.minter',
    says: /the minter has 0 ETH/,
    todo: /Send ether to 0x/,
  },
  'a planned change that no longer fits': {
    break: async () => {
      const [basic, plus] = await readTierVersions(world.pool)
      if (!basic || !plus) throw new Error('the world has two tiers')
      const fromTime = Math.ceil(Date.now() / 1_000) + 1_000_000
      const plan = { ...basic, priceWei: plus.priceWei, fromTime, names: ['priceWei'] as const, keyDigest: null }
      const version = await insertTierPlan(world.pool, plan, 'test')
      return () => cancelTierPlan(world.pool, { tierId: basic.tierId, version })
    },
    check: 'sale.changes',
    verdict: 'warn',
    says: /^change 2 of tier basic, planned for .* UTC, does not fit$/,
    todo: /will not take effect \(priceTaken\).*tiers cancel/,
  },
  'a contract that is paused': {
    break: async () => {
      await world.act(0, 'pause', [])
      return () => world.act(0, 'unpause', [])
    },
    check: 'owner.pause',
    verdict: 'warn',
    says: /paused/,
    todo: /unpause/,
  },
  'bounds below what rounds pay': {
    break: async () => {
      await world.act(0, 'setBounds', [world.at(2), 0n, 1n])
      return () => world.act(0, 'setBounds', [world.at(2), 0n, 2n ** 47n])
    },
    check: 'owner.bounds',
    says: /./,
    todo: /set-bounds/,
  },
  'an endpoint that is given up on': {
    env: () => ({ WEBHOOK_ALLOW_PRIVATE: 'true' }),
    break: () => endpoint({ disabled_at: new Date() }),
    check: 'webhooks',
    says: /was disabled at .* HTTP 410/,
    todo: /webhooks enable/,
  },
  'an endpoint in a private network': {
    env: () => ({ WEBHOOK_ALLOW_PRIVATE: 'false' }),
    break: () => endpoint({}),
    check: 'webhooks',
    says: /private address/,
    todo: /WEBHOOK_ALLOW_PRIVATE=true/,
  },
  'a key file of an earlier release': {
    env: () => ({ MINTER_PRIVATE_KEY: '', MINTER_KEYSTORE: '/nowhere/minter.json' }),
    check: 'settings',
    says: /MINTER_KEYSTORE is removed/,
    todo: /./,
  },
  'ether that a failed transaction of the same block would have brought': {
    break: async () => {
      const tx = `0x${'fa'.repeat(32)}`
      await world.pool`
        INSERT INTO payments (tx_hash, ref, wallet, from_address, value_wei, succeeded, state, reason, block_number, block_hash, tx_index, block_time)
        SELECT ${tx}, ${tx}, ${world.at(3)}, ${world.at(6)}, 7, false, 'ignored', 'failed', number, hash, 0, to_timestamp(time)
        FROM blocks ORDER BY number DESC LIMIT 1`
      await world.pool`
        INSERT INTO payments (ref, wallet, value_wei, succeeded, state, reason, block_number, block_hash, block_time)
        SELECT ${`0x${'fb'.repeat(32)}`}, wallet, value_wei, true, 'held', 'unattributed', block_number, block_hash, block_time
        FROM payments WHERE tx_hash = ${tx}`
      return () => world.pool`DELETE FROM payments WHERE value_wei = 7`
    },
    check: 'payments.failed',
    says: /recorded as failed/,
    todo: /rescan from here: .*rescan --from-block \d+/i,
  },
  'a proxy that is no network': {
    env: () => ({ TRUSTED_PROXIES: 'the-proxy' }),
    check: 'settings',
    says: /TRUSTED_PROXIES/,
    todo: /./,
  },
  'half of the credit terms': {
    env: () => ({ DIST_ENABLED: 'true', CREDIT_MIN_WEI: '5', CREDIT_MAX_WEI: '' }),
    check: 'settings',
    says: /CREDIT_MAX_WEI/,
    todo: /./,
  },
}

describe('a set-up with', () => {
  for (const [what, broken] of Object.entries(BROKEN)) {
    test(what, async () => {
      const mend = await broken.break?.()
      try {
        const { code, out, err } = await runHere(['doctor', '--json'], { ...env, ...broken.env?.() })
        assert.doesNotMatch(out + err, new RegExp(`at .*\\.ts:\\d|${SECRET}`))
        const { findings } = JSON.parse(out) as { findings: Finding[] }
        const wanted = broken.verdict ?? 'fail'
        const of = findings.filter(({ check }) => check === broken.check || check.startsWith(`${broken.check}.`))
        const found = of.find(({ verdict, says }) => verdict === wanted && broken.says.test(says))
        assert.ok(found, JSON.stringify(of, null, 1))
        assert.match(found.todo ?? '', broken.todo)
        assert.equal(code, wanted === 'fail' ? 1 : 0)
      } finally {
        await mend?.()
      }
    })
  }
})

test('an output that cannot be written is an error, with either form', () => {
  const directory = temporaryDirectory()
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  const full = openSync('/dev/full', 'w')
  for (const words of [['export', 'payments'], ['tiers', 'list', '--json'], ['help']]) {
    const stdio = ['ignore', full, 'pipe'] as const
    const { status, stderr } = spawnSync(process.execPath, [main, ...words], {
      env: { ...runtimeEnv(), HOME: directory, ...env },
      cwd: directory,
      stdio: [...stdio],
      encoding: 'utf8',
    })
    assert.equal(status, 1, words.join(' '))
    assert.match(stderr, /ENOSPC/)
    assert.doesNotMatch(stderr, /report it/)
  }
  closeSync(full)
})
