// Every example of the client's README, compiled against the built package and run against the service on real parts.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import { type Service, startServiceHere } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { HANGING_MS, until } from '../support/until.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CLIENT = join(ROOT, 'client')
const TSC = join(CLIENT, 'node_modules/typescript/bin/tsc')
const PRICE_WEI = 10n ** 16n
const ADMIN_KEY = 'admin-key-of-the-tests-0123456789a'
const BUYER = DEVELOPMENT_ACCOUNTS[7]
/** Names that an example may use without defining them, because the README explains them in words. */
const GIVEN = ['ledger', 'wallet', 'chain', 'txHash', 'address', 'root']

const examples = [...readFileSync(join(CLIENT, 'README.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(
  (match) => match[1] ?? '',
)
const project = temporaryDirectory()
let service: Service
/** Output of each example, and why it ended early; null if it did not. */
let played: Promise<{ stdout: string; error: string | null }[]>

before(async () => {
  const building = run(process.execPath, [TSC, '--project', join(CLIENT, 'tsconfig.build.json')])
  service = await startServiceHere({ CREDIT_INTERVAL_SEC: '10', CREDIT_SLOT_SEC: '5', ADMIN_KEY })
  await building
  mkdirSync(join(project, 'node_modules/@node-ledger'), { recursive: true })
  symlinkSync(CLIENT, join(project, 'node_modules/@node-ledger/client'))
  for (const name of ['viem', 'react', '@tanstack', '@types'])
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name))
  const wellKnown = await service.get<{ rpcUrl: string; paymentAddress: string }>('/.well-known/node-ledger.json')
  const txHash = await pay(wellKnown)
  writeFileSync(join(project, 'setup.ts'), setup(wellKnown.rpcUrl, { hash: txHash, root: await enterList() }))
  for (const [index, example] of examples.entries()) writeFileSync(join(project, nameOf(index)), withGiven(example))
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ extends: join(CLIENT, 'tsconfig.json'), include: ['.'] }),
  )
  await until('the first node has been credited', async () => {
    const nodes = await service.get<{ creditedWei: string }[]>(`/api/nodes/${BUYER?.address}`)
    return BigInt(nodes[0]?.creditedWei ?? 0) > 0n
  })
  played = playAll()
})
after(() => service.stop())

test('the README has an example for every method', async () => {
  const { createClient } = await import('../../client/src/index.ts')
  const wallets = await import('../../client/src/viem/wallet.ts')
  const buying = await import('../../client/src/viem/buy.ts')
  const verifiers = await import('../../client/src/viem/verify.ts')
  const names = [
    ...Object.keys(createClient({ baseUrl: service.url })),
    ...Object.keys(wallets),
    ...Object.keys(buying),
    ...Object.keys(verifiers),
  ]
  const missing = names.filter((name) => !examples.some((example) => example.includes(`${name}(`)))
  assert.deepEqual(missing, [])
})

test('every example compiles against the built package', async () => {
  await run(process.execPath, [TSC, '--project', project]).catch((error) => assert.fail(error.stdout))
})

for (const [index, example] of examples.entries()) {
  const first = example.split('\n').find((line) => line !== '' && !line.startsWith('import') && !line.startsWith('//'))
  test(`it runs: ${first}`, async () => {
    const { stdout, error } = (await played)[index] ?? assert.fail('it did not run')
    assert.equal(error, null)
    if (example.includes('buy(')) assert.match(stdout, /minted \d+/)
    if (example.includes('verifyNode(')) assert.match(stdout, /^true \[\] \d+n\n(true|null) true/)
    if (example.includes('verifyAllowlisted(')) assert.match(stdout, /^2 true/)
    if (example.includes('verifyAllowlist(')) assert.match(stdout, /^1 1 true 1/)
    if (example.includes('verifyVerdict(')) assert.match(stdout, /^true \[\] \[\]\ntrue 3 1/)
    if (example.includes('verifyRound(')) assert.match(stdout, /recomputed/)
    if (example.includes('error.status')) assert.match(stdout, /^404 false null No such node/)
    if (example.includes('await ledger.getMe')) assert.match(stdout, new RegExp(`^${BUYER?.address.toLowerCase()} `))
  })
}

/** Runs them in their order, in one process, because loading the packages takes longer than any of them. */
async function playAll() {
  writeFileSync(join(project, 'play.mjs'), PLAY)
  const names = examples.map((_, index) => nameOf(index))
  const { stdout } = await run(process.execPath, [join(project, 'play.mjs'), ...names], { timeout: HANGING_MS })
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n[') + 1)) as { stdout: string; error: string | null }[]
}

const PLAY = `
import { format } from 'node:util'
const played = []
for (const name of process.argv.slice(2)) {
  const example = { stdout: '', error: null }
  console.log = (...words) => void (example.stdout += format(...words) + '\\n')
  await import('./' + name).catch((error) => void (example.error = format(error)))
  played.push(example)
}
process.stdout.write('\\n' + JSON.stringify(played))
process.exit(0)
`

/** Buys the first node without the client. */
async function pay({ rpcUrl, paymentAddress }: { rpcUrl: string; paymentAddress: string }): Promise<string> {
  const sent = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_sendTransaction',
      params: [{ from: BUYER?.address, to: paymentAddress, value: `0x${PRICE_WEI.toString(16)}` }],
    }),
  })
  return ((await sent.json()) as { result: string }).result
}

const enter = async (path: string, body: object) => {
  const answer = await fetch(`${service.url}/api/admin/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-admin-key': ADMIN_KEY },
    body: JSON.stringify(body),
  })
  return await answer.json()
}

/** Enters and publishes an allowlist with the buyer on it, and enters a referral code. @returns the list's root. */
async function enterList(): Promise<string> {
  await enter('referrals', { code: 'friends', payee: `0x${'22'.repeat(20)}`, commissionBps: 500 })
  const { root } = (await enter('allowlists', { label: 'buyers', rows: `${BUYER?.address},2` })) as { root: string }
  await enter(`allowlists/${root}/publish`, {})
  return root
}

const setup = (rpcUrl: string, { hash, root }: { hash: string; root: string }) => `
import { createClient } from '@node-ledger/client'
import { createPublicClient, createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
const account = privateKeyToAccount('${BUYER?.privateKey}')
export const ledger = createClient({ baseUrl: '${service.url}' })
export const wallet = createWalletClient({ account, transport: http('${rpcUrl}', { timeout: ${HANGING_MS} }) })
export const chain = createPublicClient({ transport: http('${rpcUrl}', { timeout: ${HANGING_MS} }) })
export const address = account.address
export const txHash = '${hash}' as const
export const root = '${root}' as const
`

/** The example with imports of what it uses and does not import; its address is that of the running service. */
function withGiven(example: string): string {
  const declared = (name: string) => new RegExp(`const (\\{[^}]*)?\\b${name}\\b`).test(example)
  const used = GIVEN.filter((name) => new RegExp(`\\b${name}\\b`).test(example) && !declared(name))
  const imported = used.length > 0 ? `import { ${used.join(', ')} } from './setup.ts'\n` : ''
  return `${imported}${example.replaceAll('http://127.0.0.1:3000', service.url)}\nexport {}\n`
}

function nameOf(index: number): string {
  return `example-${String(index + 1).padStart(2, '0')}.ts`
}
