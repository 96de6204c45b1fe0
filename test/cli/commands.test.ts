// Every command, on a real ledger: the documentation's examples word for word, and with database or chain down.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Command } from '../../src/cli/command.ts'
import { loadCommands } from '../../src/cli/commands.ts'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { insertProposal } from '../../src/db/operator/proposals.ts'
import { addEndpoint } from '../../src/db/webhooks.ts'
import { hash } from '../../src/domain/units.ts'
import { createKey } from '../../src/operator/acts/keys/admin-keys.ts'
import { startFalseProvider } from '../chain/false-provider.ts'
import { AWS_KEY, type KmsDouble, letIn, startKms } from '../chain/kms/double.ts'
import { type Outcome, runHere, runProcess, worldEnv } from '../support/cli.ts'
import { mintData } from '../support/factory.ts'
import { payInside, putForwarder, traceNothing } from '../support/forwarder.ts'
import { createEmptyDatabase, digestsOfAll, type TestDatabase } from '../support/postgres.ts'
import { temporaryDirectory, temporaryFile } from '../support/temporary.ts'
import { ETHER, startWorld, type World } from '../support/world.ts'

const CENT = ETHER / 100n
/** Not run here, because they run until stopped (start.test.ts), have their own chain (deploy.test.ts, init.test.ts),
 * or need a server as old as PostgreSQL's own programs (ops/backup.long.test.ts). */
const ELSEWHERE = ['start', 'deploy', 'init', 'backup', 'restore']
/** Tested in operator/payment-wallets.test.ts, because they would leave these examples without the present payments wallet. */
const IN_OTHER_WORLDS = ['wallets set', 'wallets cancel', 'wallets close']
/** Commands that need neither database nor chain. */
const ALONE = ['keys new', 'keys address', 'config', ...ELSEWHERE]

let world: World
let env: Record<string, string>
let empty: TestDatabase
let kms: KmsDouble
const directory = temporaryDirectory()
before(async () => {
  world = await startWorld()
  const hooks = { WEBHOOK_URL: 'https://hooks.example/y', WEBHOOK_SECRET: `whsec_${'A'.repeat(32)}` }
  kms = await startKms(`0x${'8f3c21d5e6b7a904'.repeat(4)}`)
  env = { ...worldEnv(world), ...hooks }
  letIn(kms.variables.given)
  empty = await createEmptyDatabase()
  await world.pay(6, CENT)
  await world.settle()
})
after(async () => {
  await kms.close()
  await world.close()
  await empty.drop()
})

const run = (...argv: string[]) => runHere(argv, env)
/** A held payment, because no rule accepts it. */
async function heldPayment(valueWei = CENT + 1n): Promise<string> {
  const hash = await world.pay(6, valueWei)
  await world.chain.mine()
  await world.payments()
  return hash
}

const COMMANDS = await loadCommands()
const HERE = COMMANDS.filter(({ name }) => ![...ELSEWHERE, ...IN_OTHER_WORLDS].includes(name))
/** The first example of each group of the help runs as a process, which costs more than most commands; the others run in this process. */
const AS_PROCESS = new Map(HERE.toReversed().map(({ group, examples }) => [group, examples[0]]))

describe('the examples of the documentation work unchanged', () => {
  for (const command of HERE) for (const example of command.examples) test(example, () => tryExample(command, example))
})

async function tryExample(command: Command, example: string): Promise<void> {
  const words = await filledIn(command, example)
  if (words.includes('--yes') && !NO_PREVIEW.includes(command.name)) await tryDry(words, example)
  await tryWords(words, example, AS_PROCESS.get(command.group) === example ? runProcess(words, env) : run(...words))
  // As JSON, too, but the same decision cannot be made twice.
  if (changes(command) || words.includes('--json') || words.includes('--out')) return
  const asJson = [...words, '--json']
  await tryWords(asJson, example, run(...asJson))
}

/** Steps of a set-up, which show a plan of their own. */
const NO_PREVIEW = ['init', 'deploy', 'restore']

/** A command that asks before it acts also takes `--dry-run`: it then prints what it would do, and changes no row of any table. */
async function tryDry(words: readonly string[], example: string): Promise<void> {
  const before = await digestsOfAll(world.pool)
  const { code, out, err } = await run(...words.map((word) => (word === '--yes' ? '--dry-run' : word)))
  assert.equal(code, expectedCode(example), `${words.join(' ')}\n${out}${err}`)
  assert.match(out + err, /\w{2} \w/, example)
  assert.doesNotMatch(out + err, /undefined|null|\[object/, example)
  assert.deepEqual(await digestsOfAll(world.pool), before, example)
}

async function tryWords(argv: readonly string[], example: string, running: Promise<Outcome>): Promise<void> {
  const { code, out, err } = await running
  assert.equal(code, expectedCode(example), `${argv.join(' ')}\n${out}${err}`)
  if (argv.includes('--json')) for (const line of out.trim().split('\n')) JSON.parse(line)
}

/** Examples with another exit code than 0 in this world, because nothing is halted, no sender waits and blocks prove themselves. */
const expectedCode = (example: string) => (/resume --halt|transactions free|evidence set/.test(example) ? 1 : 0)

const changes = ({ examples, name }: Command) =>
  examples.some((one) => one.endsWith(' --yes')) || /^(webhooks remove|keys (new|create)|rebuild)$/.test(name)

/** The words of an example, with <placeholders> filled in from the world and without quotes. */
async function filledIn(command: Command, example: string): Promise<string[]> {
  let inner = ''
  const words = (example.match(/"[^"]*"|\S+/g) ?? []).slice(1).map((word) => word.replaceAll('"', ''))
  const values: Record<string, () => string | Promise<string>> = {
    hash: () => heldPayment(),
    refund: async () => await refundOf(words),
    refunding: async () => {
      const paid = await heldPayment()
      assert.equal((await runHere(['payments', 'refund-prepare', paid, '--yes'], env)).code, 0)
      return paid
    },
    address: async () => {
      if (example.includes('payments decide')) await world.pay(14, CENT + 7n).then(() => world.settle())
      return world.at(14)
    },
    unattributed: async () => {
      inner = await innerPayment()
      const { payments } = JSON.parse(
        (await runHere(['payments', 'list', '--reason', 'unattributed', '--json'], env)).out,
      )
      return String(payments[0].id)
    },
    inner: () => inner,
    node: async () => await unpaidNode(),
    ref: async () => {
      await unpaidNode()
      return UNPAID_REF
    },
    url: () => empty.url,
    'kms-key': () => AWS_KEY,
    key: () => anAdminKey(),
    proposal: () => aProposal(),
    block: async () => String((await readCursor(world.pool))?.number ?? 0),
    month: async () => new Date(Number((await world.chain.block()).timestamp) * 1000).toISOString().slice(0, 7),
    change: async () => {
      const planned = await runHere(['tiers', 'plans', '--json'], env)
      return String(JSON.parse(planned.out).plans[0].version)
    },
    delivery: async () => String((await aDelivery()).id),
    endpoint: async () => (await aDelivery()).endpoint,
    'list-file': () => temporaryFile(`address,allocation\n${world.at(6)},2\n`),
    'codes-file': () => temporaryFile(`code,payee,bps\nautumn,${world.at(6)},250\n`),
    root: async () => JSON.parse((await runHere(['allowlists', 'list', '--json'], env)).out).allowlists[0].root,
    'password-file': () => temporaryFile('correct horse battery\n'),
  }
  if (example.includes('senders allow')) {
    assert.equal((await run('senders', 'deny', world.at(14), '--label', 'x', '--reason', 'y', '--yes')).code, 0)
  }
  if (example.includes('nodes revoke')) await run('nodes', 'grant', await unpaidNode(), '--reason', 'x', '--yes')
  if (example.includes('rescan')) await heldPayment()
  if (['verify', 'pass', 'doctor'].includes(command.name)) await world.rest()
  for (const [index, word] of words.entries()) {
    const name = /^<(.+)>$/.exec(word)?.[1]
    if (name) words[index] = await (values[name] ?? assert.fail(`nothing for ${word}`))()
    if (word === '--out' || word === '--safe-file') words[index + 1] = join(directory, `${index}-${words[index + 1]}`)
  }
  return words
}

/** The number of an admin key. */
async function anAdminKey(): Promise<string> {
  const given = { label: 'x', scopes: 'read' }
  const actor = { name: 'cli:test', requestId: null }
  const made = await createKey({ pool: world.pool, environmentKeys: [] }, actor, given)
  return String((made as { id: number }).id)
}

/** The number of another person's proposal: to switch off a rule that is off. */
async function aProposal(): Promise<string> {
  const given = { act: 'setSecondPerson', input: { off: true }, by: `clerk-${randomUUID()}`, keyDigest: null }
  return String((await insertProposal(world.pool, given)).id)
}

/** A payment by an internal call, as a Safe makes it, found by the audit. */
async function innerPayment(): Promise<string> {
  await putForwarder(traceNothing(world))
  const { txHash } = await payInside(world, CENT)
  await world.settle()
  return txHash
}

/** Deliveries that wait for an endpoint. */
async function aDelivery(): Promise<{ id: number; endpoint: string }> {
  await addEndpoint(world.pool, { url: 'https://hooks.example/x', secrets: [`whsec_${'A'.repeat(32)}`] }, 'test')
  await heldPayment()
  const [row] = await world.pool<
    { id: number; endpoint: string }[]
  >`SELECT id, endpoint FROM webhook_deliveries LIMIT 1`
  return row ?? assert.fail('no event was written')
}

/** The mined refund of the payment named in the third word. */
async function refundOf(words: readonly string[]): Promise<string> {
  assert.match(words[2] ?? '', /^(0x|friends)/)
  const hash = await world.pay(3, CENT + 1n, world.at(words[0] === 'referrals' ? 14 : 6))
  await world.chain.mine()
  return hash
}

const UNPAID_REF = hash(`0x${'77'.repeat(32)}`)
let unpaid: string | null = null
/** A node that the minter's key minted without a payment. */
async function unpaidNode(): Promise<string> {
  if (unpaid) return unpaid
  const [open] = await world.pool<{ cohort: number }[]>`
    SELECT cohort FROM cohorts WHERE next_due > (SELECT block_time + 120 FROM cursors) LIMIT 1`
  const cohort = open?.cohort ?? assert.fail('no cohort takes nodes')
  const data = mintData({ to: world.at(15), cohort, ref: UNPAID_REF })
  await world.call(1, world.factory, data)
  await world.settle()
  unpaid = JSON.parse((await run('nodes', 'unpaid', '--json')).out).nodes[0].nodeId
  return unpaid ?? assert.fail('no node was minted')
}

/** A call that passes the checks of arguments, without a prompt. */
function plausibleCall({ name, args = [], options = {} }: Command): string[] {
  const fill = (option: string) =>
    /wei|block|up-to|wallet|nodes|cohorts/.test(option)
      ? '1'
      : option.endsWith('tx-hash')
        ? `0x${'ab'.repeat(32)}`
        : 'x'
  const required = Object.entries(options).flatMap(([option, spec]) =>
    spec.required ? [`--${option}`, fill(option)] : [],
  )
  const words = args.map((arg) => arg.choices?.[0] ?? (arg.name === 'address' ? world.at(9) : `0x${'cd'.repeat(32)}`))
  return [
    ...name.split(' '),
    ...words,
    ...required,
    '--yes',
    ...(name === 'rebuild' ? ['--into', empty.url] : []),
    ...(name === 'payments decide' ? ['--held-for', 'recheck'] : []),
    ...(name === 'export' ? ['--out', join(directory, 'never.csv')] : []),
    ...(/^admin-keys (create|invite)$/.test(name) ? ['--out', join(directory, 'never.key')] : []),
  ]
}

const DOWN = '127.0.0.1:9'
describe('without a database or service, a command prints one line and exits with 3', () => {
  // `migrate` waits for a database (boot/preflight.test.ts), and `doctor` reports what is missing.
  const needy = COMMANDS.filter(({ name }) => ![...ALONE, 'doctor', 'migrate'].includes(name))
  for (const command of needy) {
    test(command.name, async () => {
      const calls: [string, NodeJS.ProcessEnv, RegExp][] = [
        ['no database', { ...env, DATABASE_URL: `postgres://u:secret-pw@${DOWN}/x` }, /database cannot be reached/],
        ['no service', { DATA_DIR: join(directory, 'nowhere'), NODE_ENV: 'test' }, /No service runs in this directory/],
      ]
      for (const [what, given, words] of calls) {
        const { code, out, err } = await runHere([...plausibleCall(command), '--json'], given)
        assert.equal(code, 3, `${what}: ${err}`)
        assert.match(err, words)
        assert.doesNotMatch(out + err, /at .*\.ts:\d|secret-pw/)
        assert.equal(JSON.parse(out).exitCode, 3)
      }
    })
  }

  const chainBound = [
    'pass',
    'verify',
    'rescan',
    'rebuild',
    'payments refund',
    'payments refund-prepare',
    'tiers create',
    'statement',
  ]
  for (const name of chainBound) {
    test(`${name}, the chain down`, async () => {
      const command = COMMANDS.find((candidate) => candidate.name === name) ?? assert.fail(name)
      const argv = plausibleCall(command)
      if (name.startsWith('payments refund')) argv[2] = await heldPayment(CENT + 2n)
      if (name === 'tiers create') argv[2] = 'gold'
      if (name === 'rescan') argv[2] = String((await readCursor(world.pool))?.number)
      const { code, err } = await runHere(argv, { ...env, RPC_URL: `http://${DOWN}/secret-path` })
      assert.equal(code, 3, err)
      assert.doesNotMatch(err, /secret-path|at .*\.ts:\d/)
      assert.doesNotMatch(err, /do not match the chain/, 'it is unknown whether they fit')
    })
  }

  test('while work without the chain continues', async () => {
    for (const argv of [
      ['payments', 'list'],
      ['audit', 'list'],
      ['tiers', 'list'],
      ['pause', '--yes'],
      ['resume', '--yes'],
      ['export', 'nodes'],
      ['webhooks', 'list'],
      ['webhooks', 'deliveries'],
    ]) {
      const { code, err } = await runHere(argv, { ...env, RPC_URL: `http://${DOWN}/` })
      assert.equal(code, 0, `${argv.join(' ')}: ${err}`)
    }
  })
})

test('a database without a ledger is refused with what to do', async () => {
  const bare = await createEmptyDatabase()
  try {
    const given = { ...env, DATABASE_URL: bare.url }
    const { code, err } = await runHere(['payments', 'list'], given)
    assert.equal(code, 1)
    assert.match(err, /node-ledger migrate/)
    assert.equal((await runHere(['migrate'], given)).code, 0)
    assert.equal((await runHere(['payments', 'list'], given)).code, 0)
  } finally {
    await bare.drop()
  }
})

test('a database that refuses a connection is reported without its password', async () => {
  const wrong = (change: (url: URL) => void) => {
    const url = new URL(env.DATABASE_URL ?? '')
    change(url)
    return url.href
  }
  const nowhere = wrong((url) => {
    url.pathname = '/nothere'
  })
  for (const [argv, given] of [
    [['payments', 'list'], { ...env, DATABASE_URL: nowhere }],
    [['rebuild', '--into', nowhere], env],
  ] as const) {
    const { code, err } = await runHere(argv, given)
    assert.equal(code, 3, err)
    assert.match(err, /refuses the connection: database "nothere" does not exist/)
    assert.ok(!err.includes(nowhere))
  }
  assert.equal((await runHere(['rebuild', '--into', 'nothere'], env)).code, 2)
})

test('wrong settings exit with 2, and the message lists them', async () => {
  const { code, err } = await runHere(['payments', 'list'], { ...env, CHAIN_ID: 'many', TICK_SEC: '-1' })
  assert.equal(code, 2)
  assert.match(err, /CHAIN_ID[\s\S]*TICK_SEC/)
  const other = await runHere(['pass', 'payments'], { ...env, FACTORY_ADDRESS: world.at(5) })
  assert.equal(other.code, 2, other.err)
})

test('a message suggests commands in the way that the user called this one', async () => {
  for (const [called, as] of [
    [{}, 'node-ledger'],
    [{ npm_command: 'exec' }, 'npx node-ledger'],
    [{ NODE_LEDGER_COMMAND: './ledger' }, './ledger'],
  ] as const) {
    const { err } = await runHere(['paymnts', 'list'], { ...called })
    assert.ok(err.includes(`"${as} help" lists`), err)
  }
})

describe('a decision', () => {
  test('needs --yes or a terminal, and does nothing after a no', async () => {
    const hash = await heldPayment()
    const words = ['payments', 'dismiss', hash]
    assert.equal((await runHere(words, env)).code, 2)
    const declined = await runHere(words, env, 'n')
    assert.deepEqual([declined.code, declined.out], [1, ''])
    assert.match(declined.err, /10000000000000001 wei[\s\S]*wrongAmount[\s\S]*\[y\/N\]/)
    const agreed = await runHere(words, env, 'y')
    assert.equal(agreed.code, 0, agreed.err)
    const again = await runHere([...words, '--yes'], env)
    assert.equal(again.code, 1)
    assert.match(again.err, /The payment is dismissed/)
    const [entry] = JSON.parse((await runHere(['audit', 'list', '--subject', hash, '--json'], env)).out).entries
    assert.match(entry.actor, /^cli:/)
    const sender = [world.at(12), '--label', 'an exchange', '--reason', 'many people']
    for (const argv of [['pause'], ['resume'], ['senders', 'deny', ...sender], ['senders', 'allow', world.at(12)]]) {
      const name = argv.slice(0, 2).join(' ')
      assert.equal((await runHere(argv, env)).code, 2, name)
      assert.equal((await runHere(argv, env, 'n')).code, 1, name)
      assert.equal((await runHere(argv, env, 'y')).code, 0, name)
    }
  })

  test('about a missing or meaningless thing is refused', async () => {
    const rows: [string[], number, RegExp][] = [
      [['payments', 'show', `0x${'9'.repeat(64)}`], 1, /no such payment/],
      [['payments', 'show', 'abc'], 2, /transaction hash/],
      [['payments', 'list', '--status', 'odd'], 2, /--status must be one of/],
      [['payments', 'dismiss', '--yes'], 2, /--below-wei/],
      [['payments', 'release', await heldPayment(), '--yes'], 2, /with a --tier-id/],
      [['tiers', 'price', 'none', '--price-wei', '5', '--yes'], 1, /no tier none/],
      [['senders', 'deny', '0x123', '--label', 'x', '--reason', 'y', '--yes'], 2, /<address> must be an address/],
      [['senders', 'allow', world.at(13), '--yes'], 1, /not on the list/],
      [['nodes', 'grant', '999', '--reason', 'x', '--yes'], 1, /no such node/],
      [['recheck', '--up-to', 'x', '--yes'], 2, /block number/],
      [['recheck', '--up-to', '1000000', '--yes'], 1, /head is block \d+/],
      [['rescan', '--from-block', '0x1', '--yes'], 2, /--from-block must be a whole number/],
      [['export', 'payments', '--month', '2026-13'], 2, /month must be/],
      [['export', 'owner'], 2, /--address is required/],
      [['export', 'nodes', '--out', '/nowhere/x.csv'], 1, /cannot be written \(ENOENT\)/],
      [['rebuild', '--into', env.DATABASE_URL ?? ''], 1, /is the current one/],
    ]
    for (const [argv, expected, words] of rows) {
      const { code, err } = await runHere(argv, env)
      assert.equal(code, expected, `${argv.join(' ')}: ${err}`)
      assert.match(err, words)
    }
  })
})

describe('verify', () => {
  test('ends with 1 and shows the difference between ledger and contract', async () => {
    await world.rest()
    assert.equal((await run('verify')).code, 0)
    const [{ owner } = { owner: '' }] = await world.pool<{ owner: string }[]>`SELECT owner FROM nodes WHERE node_id = 1`
    await world.pool`UPDATE nodes SET owner = ${world.at(18)} WHERE node_id = 1`
    const { code, out } = await runProcess(['verify', '--json'], env)
    await world.pool`UPDATE nodes SET owner = ${owner} WHERE node_id = 1`
    assert.equal(code, 1)
    const { equal, drifts } = JSON.parse(out)
    assert.equal(equal, false)
    assert.deepEqual(drifts, [{ kind: 'node', nodeId: '1', field: 'owner', ledger: world.at(18), chain: owner }])
    assert.equal((await run('verify')).code, 0)
  })
})

test('without old states, statement exits with 3 and reports whose balances and what to do', async () => {
  const pruned = await startFalseProvider(world.chain.rpcUrl)
  try {
    const number = world.ctx.rules.startBlock - 1
    const old = [(await world.chain.block(number)).hash, `0x${number.toString(16)}`]
    pruned.rule = ({ method, params }) =>
      method === 'eth_getBalance' && old.some((place) => JSON.stringify(params).includes(`"${place}"`))
        ? { error: { code: -32000, message: 'missing trie node' } }
        : undefined
    const { code, out, err } = await runHere(['statement', '--json'], { ...env, RPC_URL: pruned.url })
    assert.equal(code, 3, err)
    assert.match(err, new RegExp(`after block ${number}: contract, minter, distributor\n.*archive node`, 's'))
    assert.equal(JSON.parse(out).contract.chainOpeningWei, '0', 'there was no contract yet')
  } finally {
    await pruned.close()
  }
})

test('an export is whole or not there', async () => {
  const path = join(directory, 'payments.csv')
  assert.equal((await runProcess(['export', 'payments', '--out', path], env)).code, 0)
  const csv = readFileSync(path, 'utf8').trim().split('\r\n')
  assert.match(csv.at(-1) ?? '', new RegExp(`^#total,rows=${csv.length - 2},`))
  const { code, out } = await run('export', 'payments', '--out', path, '--json')
  assert.deepEqual([code, JSON.parse(out)], [0, { file: path }])
  assert.equal((await run('export', 'payments', '--json')).code, 2)
})

test('a reader that has seen enough is no error', async () => {
  const { code, err } = await runProcess(['help'], env, { closeAfter: 1 })
  assert.deepEqual([code, err], [0, ''])
})

test('interrupted while it waits, it ends with 130', async () => {
  const silent = createServer()
  const asked = once(silent, 'connection')
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  try {
    const given = { ...env, RPC_URL: `http://127.0.0.1:${port}` }
    const { code, err } = await runProcess(['verify'], given, { interruptWhen: asked })
    assert.equal(code, 130, err)
    assert.match(err, /Interrupted/)
  } finally {
    silent.close()
  }
})
