// The command `node-ledger init`: from an empty folder to a ledger with its first tier on sale. It asks, writes settings and secrets, and runs the
// commands that an operator would type, each with the folder's settings. After an interruption, repeat the call to continue. No secret is an
// argument, and none is printed.
import { checksum } from '../../chain/digest.ts'
import type { Address } from '../../domain/units.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { inEther } from '../ether.ts'
import { fields, mustAgree } from '../output.ts'
import { ask, type Setup } from './ask.ts'
import { Folder, ROLES, type Role } from './folder.ts'
import { putOnChain } from './on-chain.ts'
import { besideService, buyOne } from './sale.ts'
import { writeFiles } from './settings.ts'
import { jsonOf, run } from './steps.ts'

/** Runs the command. Ends with `doctor` and its exit code. */
export async function init(call: Call): Promise<ExitCode> {
  const { out, values, flags } = call
  const folder = new Folder(values.folder ?? 'node-ledger')
  const setup = await ask(call, folder)
  out.say(plan(setup))
  if (flags.has('dry-run')) {
    await out.result({ folder: folder.path, answers: setup.answers }, 'Nothing was written or sent.')
    return EXIT.done
  }
  if (folder.progress().chainId === undefined) await mustAgree(call, 'Set it up?', 'Nothing was sent.')
  const roles = makeSecrets(setup)
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

function plan({ folder, answers }: Setup): string {
  return [
    `In ${folder.path}:`,
    fields([
      ['  owner', checksum(answers.owner as Address)],
      ['  payments', checksum(answers.payments as Address)],
      ['  address', answers['public-url'] || 'not set: this machine only'],
      [
        '  a turn pays',
        `${inEther(answers['min-wei'])} to ${inEther(answers['max-wei'])} ETH, every ${answers.interval} s`,
      ],
      [
        '  on sale',
        `${answers.label} (${answers.tier}) for ${inEther(answers['price-wei'])} ETH, ${answers['per-wallet']} for a wallet`,
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
      out.say('\nBuying a test node; it arrives a few blocks after its payment.')
      const nodeId = await buyOne(url, {
        ...{ rpcUrl, deployerKey: folder.secret('deployer_key') ?? '', priceWei: BigInt(answers['price-wei']) },
        paid: folder.progress().testSale,
        keep: (testSale) => folder.keep({ ...folder.progress(), testSale }),
      })
      out.say(`\nSold: the deployer has node ${nodeId}, see ${url}/node/${nodeId}`)
    }
    return await run(call, ['doctor'], env)
  })
}
