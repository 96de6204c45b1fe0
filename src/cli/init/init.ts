// The command `node-ledger init`: from an empty folder to a ledger with its first tier on sale. It asks, writes settings and secrets, and runs the
// commands that an operator would type, each with the folder's settings. After an interruption, repeat the call to continue. No secret is an
// argument, and none is printed.
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { checksum } from '../../chain/digest.ts'
import { isSecret, SETTINGS } from '../../config/names.ts'
import { parseUrl } from '../../config/values.ts'
import type { Address } from '../../domain/units.ts'
import { readDatabaseUrl } from '../../lib/database-url.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { UsageError } from '../errors.ts'
import { inEther } from '../ether.ts'
import { fields, mustAgree } from '../output.ts'
import { checkSettings, mistakesIn } from './checks.ts'
import { commandOf } from './command.ts'
import { Folder, ROLES, type Role } from './folder.ts'
import { putOnChain } from './on-chain.ts'
import { ANSWERS, type Answers, answerTo, Dialogue, gather, type Question } from './questions.ts'
import { besideService, buyOne } from './sale.ts'
import { jsonOf, run } from './steps.ts'

interface Setup {
  readonly call: Call
  readonly folder: Folder
  readonly answers: Answers
  readonly rpcUrl: string
  readonly databaseUrl: string
}

/** Runs the command. Ends with `doctor` and its exit code. */
export async function init(call: Call): Promise<ExitCode> {
  const { out, values, flags } = call
  const folder = new Folder(values.folder ?? 'node-ledger')
  const setup = await ask(call, folder)
  out.say(plan(setup))
  if (flags.has('dry-run')) {
    await out.result({ folder: folder.path, answers: setup.answers }, 'Nothing was written, and nothing sent.')
    return EXIT.done
  }
  if (folder.progress().chainId === undefined) await mustAgree(call, 'Set it up?', 'Nothing was sent.')
  const roles = makeSecrets(setup)
  checkSettings({ ...folder.environment(call.io.env), ...parseEnv(settingsOf(setup).join('\n')) })
  await putOnChain({ ...setup, roles })
  writeFiles(setup)
  const code = await firstStart(setup)
  const program = folder.at('ledger')
  const next = [
    `Start it: ${program} start. docs/RUNBOOK.md shows how to run it with systemd, in containers or on Kubernetes.`,
    `To have the contract limit the first tier as well, its owner signs the transaction that this shows: ${program} owner cap-tier ${setup.answers.tier} --most <nodes>`,
  ].join('\n')
  await out.result({ folder: folder.path, ...folder.progress().factory, next }, `\n${next}`)
  return code
}

/** Gathers everything that is needed. Throws a UsageError with everything that is missing or wrong. */
async function ask(call: Call, folder: Folder): Promise<Setup> {
  const mistakes: string[] = []
  const dialogue = new Dialogue(call.io)
  try {
    const answers = await gather({ given: call.values, kept: folder.progress().answers }, dialogue, mistakes)
    if (mistakes.length === 0) mistakes.push(...mistakesIn(answers, call.values))
    const asking = { env: call.io.env, folder, dialogue, mistakes }
    const rpcUrl = await askSecret('RPC_URL', asking)
    const databaseUrl = await askSecret('DATABASE_URL', asking)
    mistakes.push(...lateChanges(folder, answers, { RPC_URL: rpcUrl, DATABASE_URL: databaseUrl }))
    if (mistakes.length > 0) throw new UsageError(mistakes.join('\n'))
    return { call, folder, answers, rpcUrl, databaseUrl }
  } finally {
    dialogue.close()
  }
}

/** Answers that differ from those of an earlier run, once the contract is there. Before that, a new answer replaces the old one. */
function lateChanges(folder: Folder, answers: Answers, urls: Readonly<Record<SecretName, string>>): string[] {
  const { factory, answers: kept } = folder.progress()
  if (factory === undefined) return []
  const moved = SECRET_NAMES.filter((name) => (folder.secret(name.toLowerCase()) ?? urls[name]) !== urls[name])
  const changed = ANSWERS.filter((name) => kept[name] !== undefined && kept[name] !== answers[name])
  return [
    ...moved.map(
      (name) => `${name}: differs from ${folder.at('secrets', name.toLowerCase())}. To change it, edit that file.`,
    ),
    ...changed.map(
      (name) =>
        `--${name}: was ${kept[name]} when the contract was deployed. Change settings.env before the first start; later the commands for wallets, terms and tiers change it. Or begin in another folder.`,
    ),
  ]
}

type SecretName = 'RPC_URL' | 'DATABASE_URL'
const SECRET_NAMES: readonly SecretName[] = ['RPC_URL', 'DATABASE_URL']
const SECRETS: Readonly<Record<SecretName, Question>> = {
  RPC_URL: {
    ask: "The chain's JSON-RPC: https://…, several separated by commas?",
    usual: null,
    wanted: 'http://… or https://…',
    read: (text) => (text.split(',').every((url) => parseUrl(url.trim(), ['http:', 'https:'])) ? text : null),
  },
  DATABASE_URL: {
    ask: 'An empty PostgreSQL database: postgres://user:password@host:5432/name?',
    usual: null,
    wanted: 'postgres://user:password@host:5432/name',
    read: (text) => ('mistake' in readDatabaseUrl(text) ? null : text),
  },
}

interface Asking {
  readonly env: NodeJS.ProcessEnv
  readonly folder: Folder
  readonly dialogue: Dialogue
  readonly mistakes: string[]
}

/** A URL that may contain a password. It comes from the environment, else the folder, else the user; never from the command line. */
async function askSecret(setting: SecretName, { env, folder, dialogue, mistakes }: Asking): Promise<string> {
  const { [setting]: given, [`${setting}_FILE`]: path } = env
  const fromFile = path === undefined ? undefined : readGiven(path)
  const text = given ?? fromFile ?? folder.secret(setting.toLowerCase()) ?? undefined
  const missing = `set it, or ${setting}_FILE, in the environment.`
  return (await answerTo(SECRETS[setting], { name: setting, text, missing }, { dialogue, mistakes })) ?? ''
}

function readGiven(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    throw new UsageError(`${path} cannot be read.`)
  }
}

function plan({ folder, answers }: Setup): string {
  return [
    `In ${folder.path}:`,
    fields([
      ['  owner', checksum(answers.owner as Address)],
      ['  payments', checksum(answers.payments as Address)],
      ['  address', answers['public-url'] || 'not set: http://127.0.0.1:3000'],
      [
        '  a turn pays',
        `${inEther(answers['min-wei'])} to ${inEther(answers['max-wei'])} ether, every ${answers.interval} s`,
      ],
      [
        '  on sale',
        `${answers.label} (${answers.tier}) for ${inEther(answers['price-wei'])} ether, ${answers['per-wallet']} for a wallet`,
      ],
    ]),
  ].join('\n')
}

const KMS_UNTRIED =
  'A key is in a key management service. That is tested on doubles only, never at AWS or Google: try it on a test network first.'

/** Writes answers and secrets, and makes the missing keys. Returns the accounts. */
function makeSecrets({ call, folder, answers, rpcUrl, databaseUrl }: Setup): Record<Role, Address> {
  folder.keep({ ...folder.progress(), answers })
  folder.putSecret('rpc_url', rpcUrl)
  folder.putSecret('database_url', databaseUrl)
  folder.addServiceSecrets()
  const roles = Object.fromEntries(ROLES.map((role) => [role, folder.account(role)])) as Record<Role, Address>
  call.out.say(`Keys and secrets are in ${folder.at('secrets')}, which only you can read. Keep a copy in a safe place.`)
  call.out.say('Minter and distributor sign in one process, so an intruder there has both keys (docs/THREATS.md).')
  if (Object.keys(folder.keySettings()).some((name) => name.endsWith('_KMS_KEY'))) call.out.say(KMS_UNTRIED)
  return roles
}

/** The settings that follow from the answers and the contract, one per line. */
function settingsOf({ call, folder, answers }: Setup): string[] {
  const { chainId, factory } = folder.progress()
  const settings = [
    '# Settings of this ledger; docs/SETTINGS.md lists all. Secrets are in files of their own.',
    'NODE_ENV=production',
    ...(answers['public-url'] ? [`PUBLIC_URL=${answers['public-url']}`] : []),
    ...(factory
      ? [`CHAIN_ID=${chainId}`, `FACTORY_ADDRESS=${factory.address}`, `START_BLOCK=${factory.startBlock}`]
      : []),
    `PAYMENT_ADDRESS=${answers.payments}`,
    '# The credit terms of the new ledger: read at its first start only.',
    ...['DIST_ENABLED=true', `CREDIT_MIN_WEI=${answers['min-wei']}`, `CREDIT_MAX_WEI=${answers['max-wei']}`],
    ...[`CREDIT_INTERVAL_SEC=${answers.interval}`, `CREDIT_SLOT_SEC=${answers.slot}`, 'SCHEDULER=on'],
  ]
  settings.push(...Object.entries(folder.keySettings()).map(([name, value]) => `${name}=${quote(value)}`))
  const names = settings.map((line) => line.split('=')[0])
  const carried = SETTINGS.filter((name) => !isSecret(name) && call.io.env[name] && !names.includes(name))
  settings.push(...carried.map((name) => `${name}=${quote(call.io.env[name] ?? '')}`))
  return settings
}

/** Writes the files once. A later run keeps the operator's changes. */
function writeFiles(setup: Setup): void {
  const { folder } = setup
  folder.add('settings.env', `${settingsOf(setup).join('\n')}\n`)
  folder.add('ledger', commandOf(folder), 0o755)
}

/** A value quoted so that a shell and systemd read the same text. */
const quote = (value: string) => (/^[\w.:/,@%+-]*$/.test(value) ? value : `'${value.replaceAll("'", '')}'`)

/** Migrates, starts the service, puts the tier on sale, buys one node of it if requested, checks everything, and stops the service. */
async function firstStart({ call, folder, answers, rpcUrl }: Setup): Promise<ExitCode> {
  const { io, out, flags } = call
  const env = folder.environment(io.env)
  await run(call, ['migrate'], env)
  out.say('\nStarting the service for the first time.')
  return await besideService(folder, env, async (url) => {
    const { tiers } = await jsonOf<{ tiers: { tierId: string }[] }>(call, ['tiers', 'list'], env)
    const { tier, label } = answers
    const terms = ['--label', label, '--price-wei', answers['price-wei'], '--max-per-wallet', answers['per-wallet']]
    if (!tiers.some(({ tierId }) => tierId === tier))
      await run(call, ['tiers', 'create', tier, ...terms, '--reason', 'first sale', '--yes'], env)
    if (flags.has('test-sale')) {
      const payment = { rpcUrl, deployerKey: folder.secret('deployer_key') ?? '' }
      out.say('\nBuying a test node; it arrives a few blocks after its payment.')
      const nodeId = await buyOne(url, { ...payment, priceWei: BigInt(answers['price-wei']) })
      out.say(`\nSold: the deployer has node ${nodeId}, see ${url}/node/${nodeId}`)
    }
    return await run(call, ['doctor'], env)
  })
}
