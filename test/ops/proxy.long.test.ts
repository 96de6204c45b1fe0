// nginx with ops/nginx's configuration, before two instances of one ledger: their limits count together, no caller's
// header bypasses them, events arrive at once, and stopping an instance fails no read.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { findFreePort } from '../../packages/embed/port.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { ETHER, startWorld, type World } from '../support/world.ts'
import { type LedgerService, startLedger } from './ledger.ts'

const NGINX = '/usr/sbin/nginx'
const CONF = new URL('../../ops/nginx/node-ledger.conf', import.meta.url)
const skip = !existsSync(NGINX) && 'needs Debian’s nginx-light package'
const directory = temporaryDirectory()

let world: World
let instances: LedgerService[] = []
let proxy: ReturnType<typeof spawn>
let url: string
before(async () => {
  if (skip) return
  world = await startWorld()
  const settings = {
    DATABASE_URL: world.directUrl,
    RPC_URL: world.chain.rpcUrl,
    FACTORY_ADDRESS: world.factory,
    START_BLOCK: '1',
    PAYMENT_ADDRESS: world.at(3),
    TRUSTED_PROXIES: '127.0.0.1/32',
    CREDIT_INTERVAL_SEC: '',
    CREDIT_SLOT_SEC: '',
  }
  instances = [await startLedger(temporaryDirectory(), settings), await startLedger(temporaryDirectory(), settings)]
  const [first, second] = instances.map((instance) => new URL(instance.url).host)
  const port = await findFreePort()
  url = `http://127.0.0.1:${port}`
  const site = readFileSync(CONF, 'utf8')
    .replace('127.0.0.1:3000', first ?? '')
    .replace('127.0.0.1:3001', second ?? '')
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port};`)
    .replaceAll(/^ +ssl_certificate.*\n/gm, '')
  writeFileSync(join(directory, 'site.conf'), site)
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  )
  const main = `daemon off; pid ${directory}/nginx.pid; error_log stderr; events {} http { access_log off; ${places.join(' ')} include ${directory}/site.conf; }`
  writeFileSync(join(directory, 'nginx.conf'), main)
  const read = spawnSync(NGINX, ['-t', '-c', join(directory, 'nginx.conf')], { encoding: 'utf8' })
  assert.equal(read.status, 0, read.stderr)
  proxy = spawn(NGINX, ['-c', join(directory, 'nginx.conf')], { stdio: 'ignore' })
  await until(
    'the proxy answers',
    async () => (await fetch(`${url}/healthz`).catch(() => null))?.status === 200,
    20_000,
  )
})
after(async () => {
  proxy?.kill()
  for (const instance of instances) await instance.stop()
  await world?.close()
})

test('one client’s requests count together under any forwarded address, with our own refusal', {
  skip,
}, async () => {
  const answers = []
  for (let i = 0; i < 200; i++)
    answers.push(await fetch(`${url}/api/cover`, { headers: { 'x-forwarded-for': `203.0.113.${i}` } }))
  const answered = answers.filter(({ status }) => status === 200).length
  // A minute's quota at once, and what came free meanwhile. Two instances alone would have let 120 through, or all with the forged header.
  assert.ok(answered >= 60 && answered < 80, `${answered} were answered`)
  const refused = answers.find(({ status }) => status !== 200) ?? assert.fail()
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '60')
  assert.match(((await refused.json()) as { error: string }).error, /^Too many requests/)
})

test('the operator and the scheduler are not limited', { skip }, async () => {
  for (let i = 0; i < 150; i++) {
    const answer = await fetch(`${url}/api/admin/payments`, {
      headers: { 'x-admin-key': 'admin-key-of-the-tests-0123456789a' },
    })
    assert.equal(answer.status, 200)
  }
})

test('an event arrives while its stream is open', { skip }, async () => {
  const stream = await fetch(`${url}/api/events?address=${world.at(7)}`)
  assert.equal(stream.status, 200)
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader() ?? assert.fail()
  let heard = ''
  const listening = (async () => {
    while (!/^event: payment$/m.test(heard)) {
      const { value, done } = await reader.read()
      if (done) return
      heard += value
    }
  })()
  await world.pay(7, ETHER / 100n)
  await world.chain.mine()
  await instances[0]?.pass('payments')
  await listening
  assert.match(heard, /^event: payment$/m)
  await reader.cancel()
})

test('an instance that dies costs no read', { skip }, async () => {
  instances[1]?.kill('SIGKILL')
  for (let i = 0; i < 40; i++) assert.equal((await fetch(`${url}/api/tiers`)).status, 200)
})
