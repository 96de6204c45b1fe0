// The demo as a newcomer runs it: it completes, or says what to do if it cannot.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Service, startService } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const DEMO = fileURLToPath(new URL('../../scripts/demo.ts', import.meta.url))
const KEY = 'demo-key-0123456789abcdef0123456789'
/** Short rounds, so a test need not wait a minute for one. */
const FAST = {
  CREDIT_INTERVAL_SEC: '10',
  CREDIT_SLOT_SEC: '5',
  TICK_SEC: '1',
  LOG_LEVEL: 'warn',
  ADMIN_KEY: `demo:${KEY}`,
}

async function demo(...args: string[]): Promise<{ code: number | null; output: string }> {
  const env = { ...process.env, DEMO_ADMIN_KEY: KEY }
  const child = spawn(process.execPath, [DEMO, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => {
      output += part.toString()
    })
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

describe('against an embedded service', () => {
  let service: Service
  before(async () => {
    service = await startService(temporaryDirectory(), FAST)
  })
  after(() => service?.stop())

  test('one wallet plays from payment to withdrawal, then several together', async () => {
    const one = await demo('--url', service.url)
    assert.equal(one.code, 0, one.output)
    for (const step of [
      /one wei too much.*\n.*answers 400/,
      /nodesOf names it/,
      /recomputed from the seed.*the same/,
      /shows it: \d+ wei to 0x\w+, sent/,
      /ledger and nodeInfo at block \d+ are equal/,
      /still no node/,
      /Everything agreed\.\n$/,
    ]) {
      assert.match(one.output, step)
    }
    const several = await demo('--url', service.url, '--wallets', '17')
    assert.equal(several.code, 0, several.output)
    assert.match(several.output, /agreed 17\nEverything agreed/)
    const { totalNodes } = await service.get<{ totalNodes: number }>('/api/stats')
    assert.equal(totalNodes, 18)
  })

  test('twelve wallets pay for ten places, two for a list, and get the verdicts of chain and list', async () => {
    const { code, output } = await demo('--url', service.url, '--sell-out')
    assert.equal(code, 0, output)
    assert.equal([...output.matchAll(/place \d+: 0x\w{40} minted/g)].length, 10, output)
    assert.equal([...output.matchAll(/place \d+: 0x\w{40} held \(soldOut\)/g)].length, 2, output)
    assert.match(output, /is sold out, 10 of 10/)
    assert.match(output, /on the list: 0x\w{40} minted/)
    assert.match(output, /not on the list: 0x\w{40} held \(notListed\)/)
    assert.match(output, /demo-\w+ earned \d+ wei\n.*both tiers are off sale\nEverything agreed/)
  })

  test('after a tier was sold to a list, several wallets play as before', async () => {
    const { code, output } = await demo('--url', service.url, '--wallets', '20')
    assert.equal(code, 0, output)
  })
})

test('without a service it explains how to start one', async () => {
  const { code, output } = await demo('--url', 'http://127.0.0.1:9')
  assert.equal(code, 1)
  assert.match(output, /^Nothing answers at http:\/\/127\.0\.0\.1:9\. Start the service with "npm start"/)
})

test('an argument that there is not is answered with those there are', async () => {
  const { code, output } = await demo('--walets', '3')
  assert.equal(code, 1)
  assert.match(output, /^Usage: npm run demo/)
})
