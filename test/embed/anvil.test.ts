import assert from 'node:assert/strict'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Anvil, type AnvilOptions, startAnvil } from '../../packages/embed/anvil.ts'
import { saveState, stateFiles } from '../../packages/embed/chain-state.ts'
import { canSetDeathSignal } from '../../packages/embed/child.ts'
import { EmbedError } from '../../packages/embed/errors.ts'
import { isAlive, recordOf } from '../../packages/embed/process.ts'
import { callRpc } from '../../packages/embed/rpc.ts'
import { developmentAccount } from '../../src/domain/development.ts'
import { silentLog } from '../../src/lib/log.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { assertGone, startService } from './fixtures/start.ts'

/** A save follows a transaction within 2 s; on a busy machine a little later. */
const SAVE_WAIT_MS = 20_000

/** Two blocks take 2 s; on a busy machine a little longer. */
const BLOCKS_WAIT_MS = 20_000

interface Block {
  readonly number: string
  readonly hash: string
  readonly timestamp: string
}

const running: Anvil[] = []
after(() => Promise.all(running.map((chain) => chain.stop())))

async function start(dataDir: string, options: Partial<AnvilOptions> = {}): Promise<Anvil> {
  const chain = await startAnvil({ dataDir, port: 0, blockTimeSec: 0, log: silentLog, ...options })
  running.push(chain)
  return chain
}

async function head(url: string): Promise<{ number: number; hash: string; timestamp: number }> {
  const block = await callRpc<Block>(url, 'eth_getBlockByNumber', ['latest', false])
  return { number: Number(block.number), hash: block.hash, timestamp: Number(block.timestamp) }
}

const player = developmentAccount(5).address
const friend = '0x00000000000000000000000000000000000000f1'

async function pay(url: string): Promise<string> {
  const hash = await callRpc<string>(url, 'eth_sendTransaction', [{ from: player, to: friend, value: '0x1' }])
  await callRpc(url, 'anvil_mine', ['0x1'])
  return hash
}

async function received(url: string): Promise<number> {
  return Number(await callRpc<string>(url, 'eth_getBalance', [friend, 'latest']))
}

/** A block's hash as a contract sees it. */
async function hashOnChain(url: string, number: number): Promise<string> {
  // Behind a zero, because a contract's creation may not return code that begins with 0xef, as one hash of 256 does.
  const code = `0x63${number.toString(16).padStart(8, '0')}4060015260215ff3`
  return `0x${(await callRpc<string>(url, 'eth_call', [{ data: code }, 'latest'])).slice(4)}`
}

test('a new chain is the well-known one, with 20 funded accounts', async () => {
  const chain = await start(temporaryDirectory())
  assert.equal(await callRpc(chain.rpcUrl, 'eth_chainId'), '0x7a69')
  const accounts = await callRpc<string[]>(chain.rpcUrl, 'eth_accounts')
  assert.deepEqual(
    accounts.map((address) => address.toLowerCase()),
    Array.from({ length: 20 }, (_, index) => developmentAccount(index).address.toLowerCase()),
  )
  assert.equal(chain.resumed, false)
  assert.equal(chain.firstTrustedBlock, 0)
  await chain.stop()
})

test('blocks, transactions and balances survive a stop and a start', async () => {
  const dataDir = temporaryDirectory()
  const first = await start(dataDir)
  const hash = await pay(first.rpcUrl)
  const before = await head(first.rpcUrl)
  await first.stop()
  const second = await start(dataDir)
  assert.equal(second.resumed, true)
  assert.equal((await head(second.rpcUrl)).number, before.number + 2)
  const old = await callRpc<Block>(second.rpcUrl, 'eth_getBlockByNumber', [`0x${before.number.toString(16)}`, false])
  assert.equal(old.hash, before.hash)
  const receipt = await callRpc<{ status: string }>(second.rpcUrl, 'eth_getTransactionReceipt', [hash])
  assert.equal(receipt.status, '0x1')
  await pay(second.rpcUrl)
  assert.equal(await received(second.rpcUrl), 2)
  await second.stop()
})

test('block times never go back, even when the time had been moved on', async () => {
  const dataDir = temporaryDirectory()
  const first = await start(dataDir)
  await callRpc(first.rpcUrl, 'evm_increaseTime', [86_400])
  await pay(first.rpcUrl)
  const before = await head(first.rpcUrl)
  await first.stop()
  const second = await start(dataDir)
  const resumed = await head(second.rpcUrl)
  assert.ok(resumed.timestamp > before.timestamp)
  assert.ok(resumed.timestamp <= before.timestamp + 5)
  await callRpc(second.rpcUrl, 'anvil_mine', ['0x1'])
  assert.ok((await head(second.rpcUrl)).timestamp >= resumed.timestamp)
  await second.stop()
})

test('contracts see the right hash of the first trusted block and those after it', async () => {
  const dataDir = temporaryDirectory()
  const first = await start(dataDir)
  await pay(first.rpcUrl)
  await first.stop()
  const { rpcUrl, firstTrustedBlock, stop } = await start(dataDir)
  const at = (number: number) => callRpc<Block>(rpcUrl, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
  // At once, because the service checks at its start whether contracts know the block before the head, and waits if they do not.
  assert.equal((await head(rpcUrl)).number, firstTrustedBlock + 1)
  assert.equal(await hashOnChain(rpcUrl, firstTrustedBlock), (await at(firstTrustedBlock)).hash)
  await callRpc(rpcUrl, 'anvil_mine', ['0x2'])
  assert.equal(await hashOnChain(rpcUrl, firstTrustedBlock + 1), (await at(firstTrustedBlock + 1)).hash)
  await stop()
})

test('it mines a block each second', async () => {
  // Before its clock starts, so no block can be early by our clock.
  const startedAt = Date.now()
  const chain = await start(temporaryDirectory(), { blockTimeSec: 1, persist: false })
  while ((await head(chain.rpcUrl)).number < 2) {
    assert.ok(Date.now() - startedAt < BLOCKS_WAIT_MS, 'no blocks')
    await sleep(20)
  }
  assert.ok(Date.now() - startedAt >= 1_000, 'two blocks within a second')
  await chain.stop()
})

for (const guard of ['pdeathsig', 'watcher'] as const) {
  const skip = guard === 'pdeathsig' && !canSetDeathSignal()
  test(`kill -9 of the service ends the chain, and loses nothing (${guard})`, { skip }, async () => {
    const dataDir = temporaryDirectory()
    const { report } = await startService({ dataDir, anvil: { port: 0, blockTimeSec: 0, guard } })
    assert.ok(report.anvil)
    await pay(report.anvil.rpcUrl)
    const before = await head(report.anvil.rpcUrl)
    process.kill(report.pid, 'SIGKILL')
    await assertGone(report.pid, report.anvil.pid)
    const next = await start(dataDir)
    assert.equal(next.firstTrustedBlock, before.number + 1)
    assert.equal(await received(next.rpcUrl), 1)
    await next.stop()
  })
}

test('after kill -9 the chain lacks only what came since its last save, and the service hears it', async () => {
  const dataDir = temporaryDirectory()
  const chain = await start(dataDir)
  const told = new Promise((resolve) => chain.onExit(resolve))
  await pay(chain.rpcUrl)
  await waitForSave(dataDir)
  process.kill(chain.pid, 'SIGKILL')
  assert.deepEqual(await told, { code: null, signal: 'SIGKILL' })
  const next = await start(dataDir)
  assert.equal(await received(next.rpcUrl), 1)
  await next.stop()
})

test('simultaneous saves are each whole, and the last block stays saved', async () => {
  const dataDir = temporaryDirectory()
  const chain = await start(dataDir)
  const { saved } = stateFiles(join(dataDir, 'chain'))
  await pay(chain.rpcUrl)
  const early = saveState(chain.rpcUrl, saved)
  await pay(chain.rpcUrl)
  await Promise.all([early, saveState(chain.rpcUrl, saved), saveState(chain.rpcUrl, saved)])
  const state = JSON.parse(readFileSync(saved, 'utf8')) as { best_block_number: number | string }
  assert.equal(Number(state.best_block_number), 2)
})

test('a final state that was cut short is set aside for the one saved before it', async () => {
  const dataDir = temporaryDirectory()
  const chain = await start(dataDir)
  await pay(chain.rpcUrl)
  await waitForSave(dataDir)
  const path = join(dataDir, 'chain', 'state.json')
  const saved = readFileSync(path)
  await pay(chain.rpcUrl)
  await chain.stop()
  // It depends on timing whether the second payment was saved before the end.
  writeFileSync(path, saved)
  truncateSync(join(dataDir, 'chain', 'state.final.json'), 1000)
  const next = await start(dataDir)
  assert.equal(await received(next.rpcUrl), 1)
  await next.stop()
})

test('a chain whose states are all damaged is refused, not replaced by a new one', async () => {
  const dataDir = temporaryDirectory()
  const chain = await start(dataDir)
  await chain.stop()
  truncateSync(join(dataDir, 'chain', 'state.final.json'), 1000)
  await assert.rejects(start(dataDir), (error) => error instanceof EmbedError && /DATA_DIR/.test(error.message))
  await assert.rejects(start(dataDir), EmbedError)
})

test('a port in use is an error with the setting’s name', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const address = other.address()
  assert.ok(typeof address === 'object' && address)
  await assert.rejects(
    start(temporaryDirectory(), { port: address.port }),
    (error) =>
      error instanceof EmbedError && error.message.includes(String(address.port)) && /CHAIN_PORT/.test(error.message),
  )
  other.close()
})

test('a chain that an earlier run left behind is stopped, and its port and state are taken over', async () => {
  const dataDir = temporaryDirectory()
  const left = await start(dataDir)
  await pay(left.rpcUrl)
  const next = await start(dataDir, { port: left.port })
  assert.equal(isAlive(left.pid), false)
  assert.equal(next.port, left.port)
  assert.equal(await received(next.rpcUrl), 1)
  await next.stop()
})

test('a process that only has the number of an earlier chain is left alone', async () => {
  const dataDir = temporaryDirectory()
  const chain = await start(dataDir)
  await chain.stop()
  const self = recordOf(process.pid)
  assert.ok(self)
  writeFileSync(join(dataDir, 'chain', 'process.json'), JSON.stringify({ ...self, identity: 'another boot:1' }))
  const next = await start(dataDir)
  assert.equal(next.resumed, true)
  await next.stop()
})

async function waitForSave(dataDir: string): Promise<void> {
  const path = join(dataDir, 'chain', 'state.json')
  const deadline = Date.now() + SAVE_WAIT_MS
  while (Date.now() < deadline) {
    try {
      if (readFileSync(path, 'utf8').includes(friend)) return
    } catch {
      // Not there yet.
    }
    await sleep(50)
  }
  assert.fail('the chain was not saved')
}
