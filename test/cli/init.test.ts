// `node-ledger init`, as a new operator calls it: on an empty folder, an empty database and a chain that mines by itself.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { parseEnv } from 'node:util'
import { startAnvil } from '../../packages/embed/anvil.ts'
import { findFreePort } from '../../packages/embed/port.ts'
import { callRpc } from '../../packages/embed/rpc.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { refuseEvidenceOf, refuseWallet } from '../../src/cli/init/checks.ts'
import { runCli } from '../../src/cli/run.ts'
import { developmentAccount } from '../../src/domain/development.ts'
import { type Address, address } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { forging, startFalseProvider } from '../chain/false-provider.ts'
import { AWS_KEY, letIn, startKms } from '../chain/kms/double.ts'
import { CTRL_D, runHere, runProcess } from '../support/cli.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts'
import { runtimeEnv } from '../support/runtime-env.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { ANSWERS, fund, giveEther, OWNER, PAYMENTS } from './new-ledger.ts'

let chain: Awaited<ReturnType<typeof startAnvil>>
let database: TestDatabase
before(async () => {
  const dataDir = temporaryDirectory()
  chain = await startAnvil({ dataDir, port: 0, blockTimeSec: 1, persist: false, log: silentLog })
  database = await createEmptyDatabase()
})
after(async () => {
  await database.drop()
  await chain.stop()
})

const freePorts = async () => ({ PORT: String(await findFreePort()), METRICS_PORT: String(await findFreePort()) })
const urls = () => ({ RPC_URL: chain.rpcUrl, DATABASE_URL: database.url })
const newFolder = () => join(temporaryDirectory(), 'ledger')
const readIn = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8')
const progressIn = (folder: string) => JSON.parse(readIn(folder, 'init.json'))

/** The operator's own secrets, in the folder before the first run. */
function put(folder: string, secrets: Readonly<Record<string, string>>): void {
  mkdirSync(join(folder, 'secrets'), { recursive: true })
  for (const [name, text] of Object.entries(secrets)) writeFileSync(join(folder, 'secrets', name), `${text}\n`)
}

describe('before anything is written', () => {
  test('reports everything missing or wrong together, and repeats no URL', async () => {
    const folder = newFolder()
    const wrong = ['--owner', `${OWNER.slice(0, -1)}1`, '--price-wei', '0,1 ETH']
    const { code, err } = await runHere(['init', '--folder', folder, ...wrong], {
      DATABASE_URL: 'mysql://top:secret@x',
    })
    assert.equal(code, 2)
    for (const name of ['--owner', '--payments', '--min-wei', '--max-wei', '--price-wei', 'RPC_URL', 'DATABASE_URL'])
      assert.match(err, new RegExp(`^${name}: `, 'm'))
    assert.doesNotMatch(err, /secret/)
    assert.equal(existsSync(folder), false)
  })

  test('a dry run prints what it would do, and a person who declines loses nothing', async () => {
    const folder = newFolder()
    const dry = await runHere(['init', '--folder', folder, '--dry-run', ...ANSWERS], urls())
    assert.deepEqual([dry.code, existsSync(folder)], [0, false])
    assert.match(dry.err, /First of all \(basic\) for 0\.01 ETH/)
    const options = ['--public-url', 'https://a.example', '--interval', '60', '--slot', '10']
    const all = [...ANSWERS, ...options, '--tier', 'first', '--per-wallet', '3']
    const declined = await runHere(['init', '--folder', folder, ...all], urls(), 'n')
    assert.deepEqual([declined.code, existsSync(folder)], [1, false])
  })

  test('asks a person for what the call leaves out, and again after a wrong answer', async () => {
    const folder = newFolder()
    const typed = ['nobody', OWNER, PAYMENTS, '', '1gwei', '2gwei', '', '', '', '', '0.5ether', '', 'n'].join('\n')
    const { code, err } = await runHere(['init', '--folder', folder, '--dry-run'], urls(), typed)
    assert.equal(code, 0, err)
    assert.match(err, /--owner: must be an address/)
    assert.match(err, /0\.000000001 to 0\.000000002 ETH, every 86400 s/)
    assert.match(err, /Basic \(basic\) for 0\.5 ETH, 10 for a wallet/)
  })
})

/** The answers of the other tests, except these. */
function answersWith(options: readonly string[]): string[] {
  const pairs = [...ANSWERS, ...options]
  const all = Object.fromEntries(pairs.flatMap((name, i) => (i % 2 === 0 ? [[name, pairs[i + 1] ?? '']] : [])))
  return Object.entries(all).flat()
}

test('init finds a fault that the contract would meet later before it wants any ether', async () => {
  const told = async (options: readonly string[], env: Record<string, string> = {}) => {
    const folder = newFolder()
    const { code, err } = await runHere(['init', '--folder', folder, '--yes', ...answersWith(options)], {
      ...urls(),
      ...env,
    })
    assert.ok(code !== 0 && !/Send ether|ledger deploy/.test(err), err)
    assert.doesNotMatch(err, /report it/)
    return err
  }
  assert.match(
    await told(['--interval', '86400', '--slot', '7000']),
    /--slot is 7000, which does not divide --interval/,
  )
  assert.match(await told(['--min-wei', '2ether']), /--max-wei is .* less than --min-wei/)
  assert.match(await told(['--price-wei', '0']), /--price-wei: is 0/)
  assert.match(await told(['--label', 'B'.repeat(65)]), /--label: must be a text of at most 64/)
  // One gwei on either side of what the turns need, which are 500,000 to 1,000,000 gwei.
  assert.match(await told(['--ceiling-gwei', '999999']), /--ceiling-gwei: turns of .* need 0 and 1000000/)
  assert.match(await told(['--floor-gwei', '500001']), /--floor-gwei.* need 500000 and 1000000/)
  assert.match(await told(['--public-url', 'http://nodes.example.org']), /PUBLIC_URL is http/)
  assert.match(await told([], { TRUSTED_PROXIES: 'the-proxy' }), /TRUSTED_PROXIES/)
  const { port } = new URL(database.url)
  const wrong = `postgres://nobody:s3cret@127.0.0.1:${port}/${database.name}`
  assert.match(await told([], { DATABASE_URL: wrong }), /refuses the connection.*user, password/s)
})

test('each answer is kept as it is typed, and asked for again if it contradicts another', async () => {
  const folder = newFolder()
  const call = ['init', '--folder', folder]
  const dry = await runHere([...call, '--dry-run'], urls(), `${OWNER}\n${CTRL_D}`)
  assert.deepEqual([dry.code, existsSync(folder)], [1, false])
  const { port } = new URL(database.url)
  const wrong = `postgres://nobody:s3cret@127.0.0.1:${port}/${database.name}`
  const first = ['http://127.0.0.1:1', chain.rpcUrl, wrong, database.url, OWNER, PAYMENTS]
  const broken = await runHere(call, {}, `${first.join('\n')}\n${CTRL_D}`)
  assert.equal(broken.code, 1)
  assert.match(
    broken.err,
    /no valid answer from 127\.0\.0\.1:1[\s\S]*refuses the connection[\s\S]*Nothing was sent\. Your answers are/,
  )
  assert.equal(readIn(folder, 'secrets/database_url').trim(), database.url)
  assert.equal(statSync(join(folder, 'secrets', 'database_url')).mode & 0o077, 0)

  // The range, the schedule and the price are wrong first. An empty line keeps the answer in brackets.
  const range = ['0.002', '0.001', '0.0005 ETH', '', '86400', '7000', '', '3600']
  const typed = ['http://a.example', '', '1', ...range, '', '', '0', '0.5', '']
  const rest = await runHere(call, {}, `${typed.join('\n')}\n${CTRL_D}`)
  assert.equal(rest.code, 1, rest.err)
  assert.match(rest.err, /Kept from an earlier run.*\n {2}--owner 0x\w{40}\n {2}--payments/)
  for (const told of [
    'PUBLIC_URL is http',
    '--min-wei: must be',
    '--max-wei is',
    '--slot is 7000',
    '--price-wei: is 0',
  ])
    assert.ok(rest.err.includes(`\n${told}`) || rest.err.includes(` ${told}`), told)
  assert.match(rest.err, /0\.0005 to 0\.001 ETH, every 86400 s/)
  const { answers } = progressIn(folder)
  assert.deepEqual(
    [answers['min-wei'], answers.slot, answers['price-wei']],
    [`5${'0'.repeat(14)}`, '3600', `5${'0'.repeat(17)}`],
  )
})

test('Ctrl-C in a dialogue interrupts the command, and loses no answer', async () => {
  const folder = newFolder()
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const terminal = {
    stdin: Object.assign(stdin, { isTTY: true }),
    stdout,
    stderr: Object.assign(stderr, { isTTY: true }),
  }
  const told: unknown[] = []
  stderr.on('data', (part) => told.push(part))
  stdin.write(`${OWNER}\r\u0003`)
  assert.equal(await runCli(['init', '--folder', folder], { env: urls(), ...terminal }), 130)
  assert.match(told.join(''), /Interrupted\.\s+Your answers are kept in/)
  assert.deepEqual(progressIn(folder).answers, { owner: OWNER.toLowerCase() })
})

test('an environment that contradicts the call is refused, with all other mistakes', async () => {
  const env = { ...urls(), CHAIN_ID: '5', SCHEDULER: 'off', PAYMENT_ADDRESS: OWNER, FACTORY_ADDRESS: OWNER }
  const folder = newFolder()
  const { code, err } = await runHere(['init', '--folder', folder, '--yes', ...answersWith(['--slot', '7000'])], env)
  assert.deepEqual([code, existsSync(folder)], [2, false])
  for (const name of ['CHAIN_ID', 'SCHEDULER', 'PAYMENT_ADDRESS'])
    assert.match(err, new RegExp(`^${name}: is .* in the`, 'm'))
  assert.match(err, /^FACTORY_ADDRESS: is set[\s\S]*^--slot is 7000/m)
  const away = await runHere(['init', '--folder', folder, '--yes', ...ANSWERS], {
    ...urls(),
    RPC_URL: 'http://127.0.0.1:1',
  })
  assert.equal(away.code, 3, away.err)
})

test('a URL that a later run corrects takes the place of the earlier one', async () => {
  const [folder, own] = [newFolder(), await createEmptyDatabase()]
  try {
    const call = ['init', '--folder', folder, '--yes']
    assert.match((await runHere([...call, ...ANSWERS], urls())).err, /Send ether to these accounts/)
    assert.match((await runHere(call, { DATABASE_URL: own.url })).err, /Send ether to these accounts/)
    assert.equal(readIn(folder, 'secrets/database_url').trim(), own.url)
  } finally {
    await own.drop()
  }
})

test('a wallet that was used is for a sale only on the word that no other factory sold by it', async () => {
  const rpc = createRpc({ urls: [chain.rpcUrl], log: silentLog })
  const hot = [4, 5, 6].map((account) => address(developmentAccount(account).address)) as [Address, Address, Address]
  const roles = { minter: hot[0], distributor: hot[1], deployer: hot[2] }
  const used = address(`0x${'05ed'.repeat(10)}`)
  await giveEther(chain.rpcUrl, [used])
  await callRpc(chain.rpcUrl, 'anvil_impersonateAccount', [used])
  await callRpc(chain.rpcUrl, 'eth_sendTransaction', [{ from: used, to: OWNER, value: '0x1' }])
  await until(
    'it has sent',
    async () => (await callRpc(chain.rpcUrl, 'eth_getTransactionCount', [used, 'latest'])) === '0x1',
  )
  const check = async (wallet: Address, former: string | undefined) =>
    String(await refuseWallet(rpc, wallet, { chainId: 1, roles, former }))
  try {
    assert.match(await check(used, undefined), /was used before/)
    assert.match(await check(used, OWNER), /was used before/)
    assert.equal(await check(used, 'none'), 'null')
    const fresh = address(`0x${'5e'.repeat(20)}`)
    for (const former of [undefined, OWNER, 'none']) assert.equal(await check(fresh, former), 'null')
    for (const key of hot) assert.match(await check(key, 'none'), /--payments/)
  } finally {
    await rpc.close()
  }
})

test('before ether is spent, blocks must prove what the first start requires', async () => {
  const provider = await startFalseProvider(chain.rpcUrl)
  const rpc = createRpc({ urls: [provider.url], log: silentLog })
  const lines: string[] = []
  const check = async (chainId: number, trusts: boolean) =>
    String(await refuseEvidenceOf(rpc, { chainId, trusts, say: (line) => lines.push(line) }))
  try {
    assert.equal(await check(1, false), 'null')
    provider.rule = forging('eth_getBlockByNumber', (block) => block && { ...block, sha3Uncles: block.parentHash })
    assert.match(await check(1, true), /RPC_URL: the header of block \d+ cannot be proven.*this version/)
    assert.match(await check(424_242, false), /RPC_URL: it lists one provider, and the header.*TRUST_PROVIDER/)
    assert.equal(await check(424_242, true), 'null')
    assert.match(lines.join(), /^Blocks prove what providers report\.,Two providers must agree: the header of block/)
    provider.rule = () => ({ error: { code: -32000, message: 'down' } })
    assert.match(await check(1, true), /RPC_URL: its providers report different recent blocks/)
  } finally {
    await rpc.close()
    await provider.close()
  }
})

test('init wants the price of the trial purchase for the deployer, if there will be one', async () => {
  const askedFor = async (...options: string[]) => {
    const call = ['init', '--folder', newFolder(), '--yes', ...answersWith(['--price-wei', '50ether']), ...options]
    const { err } = await runHere(call, urls())
    return Number(/^ {2}deployer +0x\w{40} {2}([\d.]+) ETH/m.exec(err)?.[1] ?? assert.fail(err))
  }
  const [without, withIt] = [await askedFor(), await askedFor('--test-sale')]
  assert.ok(without < 1 && withIt > 50 && withIt < 51, `${without}, ${withIt}`)
})

test('a later run corrects an answer until the contract exists, and init prints ether as amounts', async () => {
  const [folder, own] = [newFolder(), await createEmptyDatabase()]
  try {
    const env = { ...urls(), DATABASE_URL: own.url }
    const call = ['init', '--folder', folder, '--yes']
    const stopped = await runHere([...call, ...ANSWERS], env)
    for (const role of ['minter', 'distributor', 'deployer'])
      assert.match(stopped.err, new RegExp(`^  ${role} +0x\\w{40}  0\\.\\d+ ETH: `, 'm'))
    const again = await runHere([...call, '--interval', '43200', '--label', 'Second'], env)
    assert.match(again.err, /every 43200 s/)
    const { answers } = progressIn(folder)
    assert.deepEqual([answers.interval, answers.label, answers.slot], ['43200', 'Second', '3600'])
  } finally {
    await own.drop()
  }
})

test('init stops for ether, continues, and sells, and a second run changes nothing', {
  timeout: 300_000,
}, async () => {
  const folder = newFolder()
  const ports = await freePorts()
  const env = { ...urls(), ...ports, ADMIN_KEY: 'not-for-the-file' }
  const call = ['init', '--folder', folder, '--yes']
  const stopped = await runProcess([...call, ...ANSWERS], env)
  assert.equal(stopped.code, 1, stopped.err)
  await fund(chain.rpcUrl, stopped.err)

  // The folder now has the answers and URLs.
  const done = await runProcess([...call, '--test-sale'], ports)
  assert.equal(done.code, 0, done.err + done.out)
  assert.match(done.err, /Sold: the deployer has node 1/)
  assert.match(done.err, /\n0 failed, /)
  const files = readdirSync(join(folder, 'secrets'))
  for (const name of files) {
    assert.equal(statSync(join(folder, 'secrets', name)).mode & 0o077, 0, name)
    if (name !== 'rpc_url')
      assert.ok(!(stopped.err + done.err + done.out).includes(readIn(folder, `secrets/${name}`).trim()), name)
  }
  const settings = readIn(folder, 'settings.env')
  assert.match(settings, new RegExp(`^PORT=${ports.PORT}$`, 'm'))
  assert.doesNotMatch(settings, /not-for-the-file|postgres:/)
  const own = spawnSync(join(folder, 'ledger'), ['tiers', 'list', '--json'], { encoding: 'utf8', env: runtimeEnv() })
  assert.equal(JSON.parse(own.stdout).tiers[0].label, 'First of all')
  const [, program = '', cap = ''] = /this shows: (\S+) (owner cap-tier basic --most) <nodes>/.exec(done.out) ?? []
  const shown = spawnSync(program, [...cap.split(' '), '500', '--json'], { encoding: 'utf8', env: runtimeEnv() })
  assert.equal(JSON.parse(shown.stdout).after.most, '500', shown.stderr)

  const before = progressIn(folder)
  const again = await runProcess([...call, '--test-sale'], {})
  assert.equal(again.code, 0, again.err + again.out)
  assert.match(again.err, /Sold: the deployer has node 1/, 'it buys no second one')
  assert.doesNotMatch(again.err, /\$ ledger (deploy|tiers create)/)
  assert.deepEqual(progressIn(folder), before)
  const other = await runHere([...call, '--owner', PAYMENTS, '--interval', '43200'], {
    DATABASE_URL: 'postgres://other@127.0.0.1/other',
    RPC_URL: chain.rpcUrl,
  })
  assert.equal(other.code, 2)
  assert.match(other.err, /DATABASE_URL: differs from .*database_url\. To change it/)
  assert.doesNotMatch(other.err, /RPC_URL/)
  assert.match(other.err, /--owner: was /)
  assert.match(other.err, /--interval: was 86400 .*terms/)
})

test('cut off after its deployment was sent, it finds the contract and pays for no second one', async () => {
  const [folder, own] = [newFolder(), await createEmptyDatabase()]
  try {
    const call = ['init', '--folder', folder, '--yes']
    await fund(chain.rpcUrl, (await runHere([...call, ...ANSWERS], { ...urls(), DATABASE_URL: own.url })).err)
    // The contract is deployed, and then another program answers at the service's address.
    const ports = await freePorts()
    const other = createServer((_request, response) => response.end('{}'))
    await new Promise<void>((resolve) => other.listen(Number(ports.PORT), '127.0.0.1', resolve))
    const stopped = await runHere(call, ports)
    other.closeAllConnections()
    other.close()
    assert.notEqual(stopped.code, 0)
    assert.match(stopped.err, /\$ ledger deploy/)
    const { factory, ...cut } = progressIn(folder)
    writeFileSync(join(folder, 'init.json'), JSON.stringify(cut))
    rmSync(join(folder, 'settings.env'))
    const again = await runHere(call, ports)
    assert.equal(again.code, 0, again.err + again.out)
    assert.doesNotMatch(again.err, /\$ ledger deploy/)
    const found = progressIn(folder).factory
    assert.equal(found.address, factory.address)
    assert.equal(found.startBlock, cut.deployment.fromBlock, 'a block from before it was sent')
  } finally {
    await own.drop()
  }
})

test('init uses keys that are elsewhere: one in a file, one in a key management service', async () => {
  const [folder, own] = [newFolder(), await createEmptyDatabase()]
  const kms = await startKms(`0x${'6d1e0b93c7a8f254'.repeat(4)}`)
  letIn(kms.variables.given)
  try {
    put(folder, { minter_keystore: '{}' })
    const former = await runHere(['init', '--folder', folder, '--yes', ...ANSWERS], {
      ...urls(),
      DATABASE_URL: own.url,
    })
    assert.match(former.err, /minter_keystore is removed/)
    rmSync(join(folder, 'secrets/minter_keystore'))
    const made = await runHere(['keys', 'new', '--out', join(folder, 'secrets/minter_key')], {})
    const { out: account } = await runHere(['keys', 'address', AWS_KEY], {})
    put(folder, { distributor_kms_key: AWS_KEY, distributor_address: account.trim() })
    const call = ['init', '--folder', folder, '--yes']
    const stopped = await runHere([...call, ...ANSWERS], { ...urls(), DATABASE_URL: own.url })
    assert.match(stopped.err, new RegExp(`minter +${made.out.trim()}[\\s\\S]*distributor +${account.trim()}`))
    assert.match(stopped.err, /key management service.*tested on doubles only/)
    await fund(chain.rpcUrl, stopped.err)
    const { code, err, out } = await runHere(call, { ...kms.variables.given, ...(await freePorts()) })
    assert.equal(code, 0, err + out)
    const settings = parseEnv(readIn(folder, 'settings.env'))
    assert.deepEqual([settings.DISTRIBUTOR_KMS_KEY, settings.DISTRIBUTOR_ADDRESS], [AWS_KEY, account.trim()])
    assert.deepEqual(
      readdirSync(join(folder, 'secrets')).filter((name) => /^(minter|distributor)_key$/.test(name)),
      ['minter_key'],
    )
  } finally {
    await kms.close()
    await own.drop()
  }
})
