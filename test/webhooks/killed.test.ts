// The service as its operator runs it, killed while it delivers: it still sends the events that it had committed to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil } from 'viem/chains'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import { startService } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { SECRET, startReceiver } from './receiver.ts'

const BASIC = 10n ** 16n

test('an event that a kill -9 cut short is delivered after the next start, with the same id', async () => {
  const receiver = await startReceiver()
  const dataDir = temporaryDirectory()
  const env = {
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET: SECRET,
    WEBHOOK_ALLOW_PRIVATE: 'true',
    PUBLIC_URL: 'http://nodes.example',
  }
  const service = await startService(dataDir, env)
  // It receives the event and never answers, so the service dies in the middle of the delivery.
  receiver.answer = () => {}
  const { chain, paymentAddress } = wellKnownOf(await service.get('/.well-known/node-ledger.json'))
  const account = privateKeyToAccount(DEVELOPMENT_ACCOUNTS[6]?.privateKey ?? '0x')
  const wallet = createWalletClient({ account, chain: anvil, transport: http(chain) })
  await wallet.sendTransaction({ to: paymentAddress, value: BASIC + 1n })
  await until('the event under way', () => receiver.received.some(({ event }) => event.type === 'payment.held'))
  service.kill('SIGKILL')
  await service.exited
  const cut = receiver.received.find(({ event }) => event.type === 'payment.held')
  receiver.answer = (response) => void response.writeHead(204).end()
  const again = await startService(dataDir, env)
  try {
    const told = () => receiver.received.filter(({ headers }) => headers['webhook-id'] === cut?.headers['webhook-id'])
    // The lease of the interrupted delivery expires first.
    await until('the event to be sent again', () => told().length >= 2, 120_000)
    const [, second] = told()
    assert.equal(second?.body, cut?.body)
    new Webhook(SECRET).verify(second?.body ?? '', (second?.headers ?? {}) as Record<string, string>)
    const output = `${service.output()}${again.output()}`
    for (const secret of [SECRET, SECRET.slice(6), new URL(receiver.url).pathname])
      assert.ok(!output.includes(secret), secret)
  } finally {
    await again.stop()
    await receiver.close()
  }
})

function wellKnownOf(document: unknown): { chain: string; paymentAddress: `0x${string}` } {
  const text = JSON.stringify(document)
  const { paymentAddress } = document as { paymentAddress: `0x${string}` }
  return { chain: /http:\/\/127\.0\.0\.1:\d+(?=")/.exec(text)?.[0] ?? '', paymentAddress }
}
