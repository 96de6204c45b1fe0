// Who may buy by an internal call, as the operator decides: modes from a block on, allowed contracts, the command line,
// the setting that names the first mode; and contract wallets that prove themselves by signing in.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { enterFirstMode, readModes } from '../../src/db/sale/contract-wallets.ts'
import type { Address } from '../../src/domain/units.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { type Service, startService } from '../support/http.ts'
import type { Answer } from '../support/http-contract.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { startOn } from '../support/start.ts'

const CONTRACT = `0x${'c0'.repeat(20)}` as Address

describe('contract wallets', () => {
  let desk: Desk
  before(async () => {
    desk = await startDesk()
    await desk.world.settle()
  })
  after(() => desk.close())
  beforeEach(() => desk.world.pool`TRUNCATE contract_wallet_modes, allowed_wallets, proven_wallets`)

  const audited = async () => {
    const rows = await desk.world.pool<{ action: string; detail: { after?: unknown; before?: unknown } }[]>`
      SELECT action, detail FROM audit WHERE action ~ '^contract' ORDER BY id`
    return rows.at(-1)
  }

  it('are held without a mode; a mode applies from the next block on, for all instances', async () => {
    const { world } = desk
    assert.deepEqual((await desk.get('contract-wallets')).json, {
      mode: 'hold',
      modes: [],
      allowed: [],
      knownWallets: 1,
    })
    // The ledger is behind the chain.
    await world.chain.mine(2)
    const head = Number((await world.chain.block()).number)
    const done = await desk.post('contract-wallets', { mode: 'proven', reason: 'Safes may buy' })
    assert.partialDeepStrictEqual(done.json, { mode: 'proven', before: 'hold', fromBlock: head + 1, changed: true })
    assert.equal((await desk.get('contract-wallets')).json.mode, 'hold', 'not yet')
    await world.settle()
    const { mode, modes } = (await desk.get('contract-wallets')).json
    assert.deepEqual([mode, modes.length, modes[0].fromBlock, modes[0].enteredBy], ['proven', 1, head + 1, 'ada'])
    const again = await desk.post('contract-wallets', { mode: 'proven' })
    assert.deepEqual([again.json.changed, again.json.fromBlock], [false, head + 1])
    const told = await audited()
    assert.deepEqual(
      [told?.action, told?.detail.before, told?.detail.after],
      [...['contractWalletsSet', 'hold', { mode: 'proven', fromBlock: head + 1 }]],
    )
  })

  it('are allowed one by one, with a label and a reason, and not allowed any more', async () => {
    const note = { label: 'a fund', reason: 'asked for it' }
    assert.equal((await desk.post('contract-wallets/allow', { address: CONTRACT, label: 'a fund' })).status, 400)
    const allowed = await desk.post('contract-wallets/allow', { address: CONTRACT, ...note })
    assert.deepEqual([allowed.json.wallet.address, allowed.json.wallet.addedBy], [CONTRACT, 'ada'])
    assert.equal((await desk.get('contract-wallets')).json.allowed.length, 1)
    assert.equal((await desk.post(`contract-wallets/${CONTRACT}/disallow`)).json.disallowed, true)
    assert.equal((await desk.post(`contract-wallets/${CONTRACT}/disallow`)).status, 404)
    assert.equal((await audited())?.action, 'contractDisallowed')
  })

  it('reject an unknown mode', async () => {
    for (const body of [{}, { mode: 'some' }]) assert.equal((await desk.post('contract-wallets', body)).status, 400)
  })

  it('are changed from the command line', async () => {
    const env = worldEnv(desk.world)
    const run = (...args: string[]) => runHere(['contract-wallets', ...args, '--json'], env)
    const set = await run('mode', 'all', '--yes')
    assert.equal(set.code, 0, set.err)
    const allowed = await run('allow', CONTRACT, '--label', 'x', '--reason', 'y', '--yes')
    assert.equal(allowed.code, 0, allowed.err)
    const found = JSON.parse((await run('list')).out)
    assert.deepEqual([found.modes[0].mode, found.allowed[0].label], ['all', 'x'])
    assert.equal((await run('disallow', CONTRACT, '--yes')).code, 0)
    assert.equal((await runHere(['contract-wallets', 'list'], env)).code, 0)
  })

  it('have the setting’s mode in a ledger without one, once, from the next block on', async () => {
    const { pool } = desk.world
    assert.equal(await enterFirstMode(pool, 'proven'), true)
    assert.equal(await enterFirstMode(pool, 'all'), false)
    const [entered] = await readModes(pool)
    const [cursor] = await pool<{ number: number }[]>`SELECT block_number AS number FROM cursors`
    assert.deepEqual(
      [entered?.mode, entered?.fromBlock, entered?.enteredBy],
      ['proven', (cursor?.number ?? 0) + 1, 'start'],
    )
  })

  it('follow the ledger under any setting of a later start, and start and doctor report that', async () => {
    const { world } = desk
    const modes = async () => (await readModes(world.pool)).map(({ mode }) => mode)
    assert.doesNotMatch((await startOn(world)).join('\n'), /CONTRACT_WALLETS/)
    assert.deepEqual(await modes(), [], 'nothing is entered where nothing is set')
    assert.doesNotMatch((await startOn(world, { CONTRACT_WALLETS: 'proven' })).join('\n'), /CONTRACT_WALLETS/)
    assert.deepEqual(await modes(), ['proven'])
    assert.equal((await audited())?.action, 'contractWalletsSet')
    const told = (await startOn(world, { CONTRACT_WALLETS: 'all' })).join('\n')
    assert.match(told, /CONTRACT_WALLETS: ignored, because the ledger has another value/)
    assert.deepEqual(await modes(), ['proven'])
    const doctor = async (mode: string, login: string) => {
      const env = { ...worldEnv(world), CONTRACT_WALLETS: mode, SMART_WALLET_LOGIN: login }
      const { out } = await runHere(['doctor', '--json'], env)
      return [/CONTRACT_WALLETS: ignored/.test(out), /terms\.smartWalletLogin/.test(out)]
    }
    assert.deepEqual(await doctor('all', 'true'), [true, false])
    // The mode requires signing in, but it is not possible.
    assert.deepEqual(await doctor('proven', 'false'), [false, true])
  })

  const jar = (answer: Answer) =>
    (answer.headers['set-cookie'] ?? []).map((cookie: string) => cookie.split(';')[0]).join('; ')
  async function signIn(service: Service, wallet: string, sign?: (message: string) => Promise<string>) {
    const asked = await service.get('/api/auth/nonce')
    const signature = sign ? await sign(asked.json.message) : `0x${'12'.repeat(300)}`
    const body = { address: wallet, signature }
    return (await service.post('/api/auth/verify', body, { headers: { cookie: jar(asked) } })).status
  }
  const proven = async () =>
    [...(await desk.world.pool`SELECT address, deployed FROM proven_wallets ORDER BY address`)].map((row) => ({
      ...row,
    }))

  it('prove themselves by signing in, at any instance; an account with a key proves nothing', async () => {
    const proof: { deployed: boolean } | null = { deployed: true }
    const instances = await Promise.all(
      [proof, null].map((word) =>
        startService({
          sql: desk.world.pool,
          readSql: desk.world.pool,
          verifyContractWallet: async () => true,
          proveContractWallet: async () => word,
        }),
      ),
    )
    const [proving, silent] = instances as [Service, Service]
    try {
      assert.equal(await signIn(silent, CONTRACT), 200, 'signed in all the same')
      assert.deepEqual(await proven(), [])
      assert.equal(await signIn(proving, CONTRACT), 200)
      assert.deepEqual(await proven(), [{ address: CONTRACT, deployed: true }])
      const account = privateKeyToAccount(generatePrivateKey())
      const signed = await signIn(proving, account.address, (message) => account.signMessage({ message }))
      assert.equal(signed, 200)
      assert.equal((await proven()).length, 1)
    } finally {
      for (const instance of instances) await instance.close()
    }
  })

  it('prove themselves before deployment up to a bound only, and again after it', async () => {
    const { pool } = desk.world
    await pool`
      INSERT INTO proven_wallets (address, deployed)
      SELECT '0x' || lpad(to_hex(n), 40, '0'), false FROM generate_series(1, 9999) n`
    const { proveWallet } = await import('../../src/db/payments/payers.ts')
    const count = async () => (await pool<{ n: number }[]>`SELECT count(*) AS n FROM proven_wallets`)[0]?.n
    const other = `0x${'d0'.repeat(20)}` as Address
    for (const [address, deployed, left] of [
      [CONTRACT, false, 10_000],
      [other, false, 10_000],
      [other, true, 10_001],
      [CONTRACT, true, 10_001],
    ] as const) {
      await proveWallet(pool, address, { deployed })
      assert.equal(await count(), left)
    }
    const [row] = await pool<{ deployed: boolean }[]>`SELECT deployed FROM proven_wallets WHERE address = ${CONTRACT}`
    assert.equal(row?.deployed, true)
  })
})
