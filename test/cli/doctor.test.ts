// The doctor: it names each broken part, with the remedy, and still checks the rest.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Finding } from '../../src/checks/check.ts'
import { noteHalt } from '../../src/db/blocks/halts.ts'
import { inTransaction } from '../../src/db/core/sql.ts'
import { writeDrift, writeState } from '../../src/db/core/state.ts'
import { clearFinding } from '../../src/db/core/troubles.ts'
import { insertFirstWallet } from '../../src/db/sale/payment-wallets.ts'
import { startFalseProvider } from '../chain/false-provider.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { startWorld, type World } from '../support/world.ts'

let world: World
let env: Record<string, string>
before(async () => {
  world = await startWorld()
  env = worldEnv(world)
  await world.rest()
})
after(() => world.close())

async function examine(changed: NodeJS.ProcessEnv = {}): Promise<{ code: number | null; findings: Finding[] }> {
  const { code, out, err } = await runHere(['doctor', '--json'], { ...env, ...changed })
  assert.doesNotMatch(out + err, /at .*\.ts:\d/)
  return { code, findings: JSON.parse(out).findings }
}

const found = (findings: readonly Finding[], check: string) => findings.filter((finding) => finding.check === check)
/** The verdict of a check, which must be there, and must say what to do if it is bad. */
function verdict(findings: readonly Finding[], check: string): string {
  const all = found(findings, check)
  assert.ok(all.length > 0, `${check} was not looked at`)
  for (const { verdict, todo, says } of all) assert.equal(todo !== null, verdict === 'warn' || verdict === 'fail', says)
  return all.map((finding) => finding.verdict).join()
}

test('a ledger that is well is found well', async () => {
  const { code, findings } = await examine()
  assert.deepEqual(
    findings.filter((finding) => finding.verdict === 'fail' || finding.verdict === 'unknown'),
    [],
  )
  assert.equal(code, 0)
  for (const check of [
    'database.schema',
    'database.rights',
    'database.writes',
    'chain.provider',
    'chain.traces',
    'chain.factory',
    'keys.minter',
    'sale.tiers',
  ])
    assert.equal(verdict(findings, check), 'ok', check)
})

/** The minter's account for the distributor, too, at a remote signer. */
const sameAccount = () => ({ DISTRIBUTOR_SIGNER_URL: world.chain.rpcUrl, DISTRIBUTOR_ADDRESS: world.at(1) })

describe('a part that is down stops no other check', () => {
  test('the database', async () => {
    const { code, findings } = await examine({ DATABASE_URL: 'postgres://u:secret-pw@127.0.0.1:9/x' })
    assert.equal(code, 1)
    assert.equal(verdict(findings, 'database'), 'fail')
    assert.equal(verdict(findings, 'ledger'), 'unknown')
    assert.equal(verdict(findings, 'chain.provider'), 'ok')
    assert.equal(verdict(findings, 'funds.minter'), 'ok')
    assert.ok(!JSON.stringify(findings).includes('secret-pw'))
  })

  test('a provider whose URL is none', async () => {
    const { code, findings } = await examine({ RPC_URL: 'ftp://127.0.0.1/secret-path' })
    assert.equal(code, 1)
    assert.match(verdict(findings, 'settings'), /fail/)
    assert.equal(verdict(findings, 'chain'), 'unknown')
    assert.ok(!JSON.stringify(findings).includes('secret-path'))
  })

  test('one provider of two', async () => {
    const { code, findings } = await examine({ RPC_URL: `http://127.0.0.1:9/secret-path,${world.chain.rpcUrl}` })
    assert.equal(code, 1)
    assert.equal(verdict(findings, 'chain.provider'), 'fail,ok')
    assert.equal(verdict(findings, 'chain.factory'), 'ok')
    assert.ok(!JSON.stringify(findings).includes('secret-path'))
  })

  test('the chain', async () => {
    const { code, findings } = await examine({ RPC_URL: 'http://127.0.0.1:9' })
    assert.equal(code, 1)
    assert.equal(verdict(findings, 'chain.provider'), 'fail')
    assert.equal(verdict(findings, 'chain.factory'), 'unknown')
    assert.equal(verdict(findings, 'database.schema'), 'ok')
    assert.equal(verdict(findings, 'passes.payments'), 'ok')
  })

  test('one key for both accounts', async () => {
    const { code, findings } = await examine({ DISTRIBUTOR_PRIVATE_KEY: '', ...sameAccount() })
    assert.equal(code, 1)
    assert.match(found(findings, 'keys.distributor')[0]?.says ?? '', /so is the minter: .* use two accounts/)
    assert.equal(verdict(findings, 'chain.provider'), 'ok')
  })

  test('the settings', async () => {
    const { code, findings } = await examine({ TICK_SEC: 'often', FINALITY: 'soon', RCP_URL: 'x' })
    assert.equal(code, 1)
    assert.equal(
      verdict(findings, 'settings')
        .split(',')
        .filter((word) => word === 'fail').length,
      2,
    )
    assert.equal(verdict(findings, 'chain.provider'), 'ok')
    assert.equal(verdict(findings, 'database'), 'ok')
  })
})

describe('each fault is reported', () => {
  test('another chain than CHAIN_ID, a factory that is none, a key without its role', async () => {
    const other = await examine({ CHAIN_ID: '5' })
    assert.equal(verdict(other.findings, 'chain.provider'), 'fail')
    const nothing = await examine({ FACTORY_ADDRESS: world.at(12) })
    assert.equal(verdict(nothing.findings, 'chain.factory'), 'fail')
    const { code, findings } = await examine({ MINTER_PRIVATE_KEY: `0x${'8f3c21d5e6b7a904'.repeat(4)}` })
    assert.equal(code, 1)
    assert.match(found(findings, 'chain.factory')[0]?.says ?? '', /is not the factory's minter/)
    assert.equal(verdict(findings, 'funds.minter'), 'fail')
  })

  test('no key, no wallet, a quote for a tier that is not on sale', async () => {
    const unnamed = { MINTER_PRIVATE_KEY: '', PAYMENT_ADDRESS: '', QUOTE_TIER: 'gold' }
    assert.equal(verdict((await examine(unnamed)).findings, 'sale.wallet'), 'ok', 'the ledger has one')
    await world.pool`DELETE FROM payment_wallets`
    const { code, findings } = await examine(unnamed)
    await inTransaction(world.pool, (sql) => insertFirstWallet(sql, world.at(3), 0, 'start'))
    assert.equal(code, 0)
    for (const check of ['keys.minter', 'sale.wallet', 'sale.quote'])
      assert.equal(verdict(findings, check), 'warn', check)
  })

  test('passes that do not run, a halt, a pause, drift, held payments', async () => {
    await world.pay(6, 10n ** 14n)
    await world.settle()
    await world.pool`UPDATE passes SET started_at = now() - interval '1 hour'`
    await noteHalt(world.pool, { reason: 'otherChain', detail: { chainId: 5 }, confirmed: true })
    await writeState(world.pool, 'paused', true)
    await writeDrift(world.pool, [{ kind: 'notOnChain', nodeId: '9' }] as never, 'test')
    const { code, findings } = await examine()
    assert.equal(code, 1)
    for (const check of ['passes.payments', 'passes.credit', 'passes.halt', 'ledger.drift'])
      assert.equal(verdict(findings, check), 'fail', check)
    for (const check of ['passes.pause', 'payments.held']) assert.equal(verdict(findings, check), 'warn', check)
    await clearFinding(world.pool, 'halted')
    await writeState(world.pool, 'paused', false)
    await writeState(world.pool, 'drift', null)
  })

  test('passes that come and stop, and a database that takes no writes', async () => {
    await world.pool`UPDATE passes SET started_at = now(), error = 'it is dark', succeeded_at = now() - interval '240 seconds'`
    assert.equal(verdict((await examine()).findings, 'passes.payments'), 'warn')
    await world.pool`UPDATE passes SET succeeded_at = now() - interval '301 seconds'`
    const readOnly = `${world.directUrl}?default_transaction_read_only=on`
    const { code, findings } = await examine({ DATABASE_URL: readOnly })
    assert.equal(code, 1)
    for (const check of ['passes.payments', 'passes.credit', 'database.writes'])
      assert.equal(verdict(findings, check), 'fail', check)
    const says = (check: string) => found(findings, check)[0]?.says ?? ''
    assert.match(says('passes.credit'), /it is dark; no run has succeeded for 30\d s/)
    assert.match(says('database.writes'), /read-only transaction/)
    await world.pool`UPDATE passes SET error = NULL, succeeded_at = now()`
  })

  test('a node without a payment, as from a stolen key', async () => {
    await world.pay(8, 10n ** 16n)
    await world.settle()
    const paid = await world.pool`SELECT payment_id, node_id FROM nodes WHERE payment_id IS NOT NULL`
    await world.pool`UPDATE nodes SET payment_id = NULL`
    const { code, findings } = await examine()
    for (const { payment_id, node_id } of paid)
      await world.pool`UPDATE nodes SET payment_id = ${payment_id} WHERE node_id = ${node_id}`
    assert.equal(code, 1)
    assert.equal(verdict(findings, 'nodes.unpaid'), 'fail')
    assert.equal(verdict((await examine()).findings, 'nodes.unpaid'), 'ok')
  })

  test('a distributor that cannot pay the next round', async () => {
    await world.pay(7, 10n ** 16n)
    await world.settle()
    await world.chain.setBalance(world.at(2), 1n)
    const { code, findings } = await examine()
    assert.equal(code, 1)
    assert.equal(verdict(findings, 'funds.distributor'), 'fail')
    assert.match(found(findings, 'funds.distributor')[0]?.says ?? '', /the next round may cost/)
  })

  test('a payments wallet that is our own account, or not the one that the ledger watches', async () => {
    for (const [account, role] of [
      [1, 'minter'],
      [2, 'distributor'],
    ] as const) {
      // By the factory's state, because the keys may be on another machine.
      const keyless = { MINTER_PRIVATE_KEY: '', DISTRIBUTOR_PRIVATE_KEY: '' }
      const { code, findings } = await examine({ ...keyless, PAYMENT_ADDRESS: world.at(account) })
      assert.deepEqual([code, verdict(findings, 'wallet.key')], [1, 'fail'])
      assert.match(found(findings, 'wallet.key')[0]?.says ?? '', new RegExp(`the ${role}'s own account`))
    }
    const { findings } = await examine({ PAYMENT_ADDRESS: world.at(9) })
    assert.deepEqual([verdict(findings, 'wallet.key'), verdict(findings, 'terms.settings')], ['ok', 'warn'])
    assert.match(found(findings, 'sale.wallet')[0]?.says ?? '', new RegExp(`buyers pay to ${world.at(3)}`))
    assert.deepEqual(found((await examine()).findings, 'terms.settings'), [])
  })

  test('a START_BLOCK after the deployment, with the block to begin with', async () => {
    const right = world.ctx.rules.startBlock
    const head = Number((await world.chain.block()).number)
    for (const late of [right + 1, right + 3, head + 100]) {
      const { code, findings } = await examine({ START_BLOCK: String(late) })
      assert.deepEqual([code, verdict(findings, 'chain.start')], [1, 'fail'])
      const [{ says, todo } = assert.fail()] = found(findings, 'chain.start')
      assert.match(says, new RegExp(`older than START_BLOCK=${late}`))
      assert.match(todo ?? '', new RegExp(`Set START_BLOCK to ${right}\\. .*empty database`))
    }
    assert.equal(verdict((await examine()).findings, 'chain.start'), 'ok')
  })

  test('a START_BLOCK after the deployment, by the events if no provider has the old states', async () => {
    const pruned = await startFalseProvider(world.chain.rpcUrl)
    pruned.rule = ({ method }) =>
      method === 'eth_getCode' ? { error: { code: -32000, message: 'missing trie node' } } : undefined
    const late = { START_BLOCK: String(Number((await world.chain.block()).number)), RPC_URL: pruned.url }
    assert.equal(verdict((await examine(late)).findings, 'chain.start'), 'fail')
    assert.equal(verdict((await examine({ RPC_URL: pruned.url })).findings, 'chain.start'), 'ok')
    pruned.rule = ({ method }) =>
      /getCode|getLogs/.test(method) ? { error: { code: -32000, message: 'missing trie node' } } : undefined
    const { findings } = await examine(late)
    assert.equal(verdict(findings, 'chain.start'), 'warn')
    assert.match(found(findings, 'chain.start')[0]?.says ?? '', /no provider can tell/)
    await pruned.close()
  })
})
