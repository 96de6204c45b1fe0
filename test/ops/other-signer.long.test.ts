// A remote signer that others wrote signs a whole sale: Ganache, set up by the settings alone. It has both keys, an empty chain of its own, and no
// way to ours. It is no dependency of this project; npm installs it for this test alone.
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { findFreePort } from '../../packages/embed/port.ts'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { startService } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { ETHER, INTERVAL_SEC, startWorld, type World } from '../support/world.ts'

/** docs/SETTINGS.md says that we tried this version. */
const GANACHE = 'ganache@7.9.2'
const PRICE_WEI = ETHER / 100n

let world: World
let ganache: ChildProcess
let signerUrl: string
let signerOutput = ''
before(async () => {
  world = await startWorld()
  const folder = temporaryDirectory()
  execFileSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', GANACHE], { stdio: 'pipe' })
  const keys = [1, 2].flatMap((account) => ['--wallet.accounts', `${DEVELOPMENT_ACCOUNTS[account]?.privateKey},0`])
  const chainId = String(world.chain.chainId)
  const port = String(await findFreePort())
  const place = ['--server.host', '127.0.0.1', '--server.port', port, '--chain.chainId', chainId]
  const program = join(folder, 'node_modules/ganache/dist/node/cli.js')
  ganache = spawn(process.execPath, [program, ...place, ...keys], { stdio: ['ignore', 'pipe', 'pipe'] })
  const read = (chunk: Buffer) => {
    signerOutput += chunk.toString()
  }
  ganache.stdout?.on('data', read)
  ganache.stderr?.on('data', read)
  signerUrl = `http://127.0.0.1:${port}`
  await until('the signer listens or ends', () => /RPC Listening/.test(signerOutput) || ganache.exitCode !== null)
  assert.equal(ganache.exitCode, null, signerOutput)
})
after(async () => {
  ganache?.kill('SIGKILL')
  await world?.close()
})

test('a signer that others wrote signs the mint and the round of a sale', async () => {
  const env = {
    ...worldEnv(world),
    MINTER_PRIVATE_KEY: '',
    MINTER_SIGNER_URL: signerUrl,
    MINTER_ADDRESS: world.at(1),
    DISTRIBUTOR_PRIVATE_KEY: '',
    DISTRIBUTOR_SIGNER_URL: signerUrl,
    DISTRIBUTOR_ADDRESS: world.at(2),
  }
  const doctor = JSON.parse((await runHere(['doctor', '--json'], env)).out) as {
    findings: { check: string; verdict: string }[]
  }
  const verdicts = doctor.findings.filter(({ check }) => check.startsWith('signer.')).map(({ verdict }) => verdict)
  assert.deepEqual(verdicts, ['ok', 'ok'])

  const service = await startService(temporaryDirectory(), { ...env, SCHEDULER: 'on', TICK_SEC: '1' })
  try {
    const signatures = () => signerOutput.match(/eth_signTransaction/g)?.length ?? 0
    const atStart = signatures()
    await world.pay(5, PRICE_WEI)
    const nodes = () => world.read<bigint[]>('nodesOf', [world.at(5)])
    await until('the node is there', async () => {
      await world.chain.mine()
      return (await nodes()).length === 1
    })
    const minted = signatures()
    assert.ok(minted > atStart)
    const [nodeId] = await nodes()
    await world.chain.mine(2, INTERVAL_SEC)
    await until('the round is there', async () => {
      await world.chain.mine()
      const [, , credited = 0n] = await world.read<bigint[]>('nodeInfo', [nodeId])
      return credited > 0n
    })
    assert.ok(signatures() > minted)
  } finally {
    assert.equal((await service.stop()).code, 0)
  }
})
