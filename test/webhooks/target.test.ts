// Addresses that a webhook may reach: those of the public internet, judged when the connection is made.
import assert from 'node:assert/strict'
import dns from 'node:dns'
import promises from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'
import { mock, test } from 'node:test'
import { createPoster } from '../../src/webhooks/post.ts'
import { isPublicAddress, isPublicTarget } from '../../src/webhooks/target.ts'
import { startReceiver } from './receiver.ts'

const NOT_PUBLIC = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.9.9.9',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:a00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::10.0.0.1',
  '64:ff9b::192.168.1.1',
  '64:ff9b::',
  '64:ff9b::1',
  '64:ff9b:1::808:808',
  '64:ff9b:0:1::808:808',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '2002:808:808::1',
  'localhost',
  '',
]
const PUBLIC = [
  ...['8.8.8.8', '1.1.1.1', '172.15.0.1', '172.32.0.1', '100.63.0.1', '2606:4700::1111', '2a00:1450::1'],
  // NAT64, and mapped addresses.
  ...['64:ff9b::808:808', '64:ff9b::8.8.0.0', '0064:FF9B:0:0:0:0:808:808', '::ffff:8.8.8.8', '::ffff:808:808'],
]

test('addresses of private, local and special networks are not public, all others are', () => {
  for (const ip of NOT_PUBLIC) assert.equal(isPublicAddress(ip), false, ip)
  for (const ip of PUBLIC) assert.equal(isPublicAddress(ip), true, ip)
})

test('a URL’s user and password are sent as basic authorization, and not repeated in a failure', async () => {
  const receiver = await startReceiver()
  const poster = createPoster({ allowPrivate: true })
  const url = receiver.url.replace('http://', 'http://user:s3cret@')
  assert.equal((await poster.post(url, {}, '{}')).error, null)
  assert.equal(receiver.received[0]?.headers.authorization, `Basic ${Buffer.from('user:s3cret').toString('base64')}`)
  await receiver.close()
  assert.doesNotMatch((await poster.post(url, {}, '{}')).error ?? '', /s3cret/)
  await poster.close()
})

test('nothing is sent to a private address, however the URL spells it', async () => {
  const receiver = await startReceiver()
  const { port } = new URL(receiver.url)
  const poster = createPoster({ allowPrivate: false })
  const spellings = [
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
  ]
  for (const host of [...spellings, 'localhost', 'LOCALHOST']) {
    const posted = await poster.post(`https://${host}:${port}/hooks`, {}, '{}')
    assert.equal(posted.status, null, host)
    assert.match(posted.error ?? '', /private address/, `${host}: ${posted.error}`)
  }
  const open = await poster.post(`http://93.184.215.14:${port}/hooks`, {}, '{}')
  assert.match(open.error ?? '', /is not https: not sent/)
  assert.equal(receiver.received.length, 0)
  const allowed = createPoster({ allowPrivate: true })
  assert.equal((await allowed.post(receiver.url, {}, '{}')).error, null)
  await Promise.all([poster.close(), allowed.close(), receiver.close()])
})

test('nothing is sent to a name with a private address among public ones, in any position', async () => {
  const receiver = await startReceiver()
  const { port } = new URL(receiver.url)
  const url = `https://mixed.example:${port}/hooks`
  let addresses: string[] = []
  const found = () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  const asked: { all?: boolean }[] = []
  mock.method(dns, 'lookup', (_: string, options: { all?: boolean }, done: (error: null, found: object) => void) => {
    asked.push(options)
    done(null, found())
  })
  mock.method(promises, 'lookup', async () => found())
  syncBuiltinESMExports()
  const poster = createPoster({ allowPrivate: false, timeoutMs: 300 })
  try {
    for (addresses of [
      ['127.0.0.1', '8.8.8.8'],
      ['8.8.8.8', '127.0.0.1'],
      ['2606:4700::1111', '10.0.0.1'],
      ['8.8.8.8', '2606:4700::1111', '::1'],
    ]) {
      const posted = await poster.post(url, {}, '{}')
      assert.match(posted.error ?? '', /private address/, `${addresses}: ${posted.error}`)
      assert.equal(await isPublicTarget(new URL(url)), false, `${addresses}`)
    }
    assert.ok(asked.length > 0 && asked.every(({ all }) => all), 'all addresses are asked for')
    addresses = ['2606:4700::1111', '8.8.8.8']
    assert.equal(await isPublicTarget(new URL(url)), true)
    assert.equal(receiver.received.length, 0)
  } finally {
    mock.restoreAll()
    syncBuiltinESMExports()
    await Promise.all([poster.close(), receiver.close()])
  }
})

test('a redirect is a failure and is not followed', async () => {
  const [receiver, elsewhere] = await Promise.all([startReceiver(), startReceiver()])
  receiver.answer = (response) => void response.writeHead(307, { location: elsewhere.url }).end()
  const poster = createPoster({ allowPrivate: true })
  const posted = await poster.post(receiver.url, {}, '{}')
  assert.deepEqual([posted.status, posted.error], [307, 'answered 307: redirects are not followed'])
  assert.equal(elsewhere.received.length, 0)
  await Promise.all([poster.close(), receiver.close(), elsewhere.close()])
})

test('an endless answer costs only its first kilobytes, a silent receiver only the wait', async () => {
  const receiver = await startReceiver()
  let written = 0
  receiver.answer = (response) => {
    response.writeHead(200)
    const chunk = Buffer.alloc(64 * 1024)
    const write = () => {
      while (!response.destroyed) {
        written += chunk.length
        if (!response.write(chunk)) return void response.once('drain', write)
      }
    }
    write()
  }
  const poster = createPoster({ allowPrivate: true, timeoutMs: 3_000 })
  const endless = await poster.post(receiver.url, {}, '{}')
  assert.equal(endless.status, 200)
  assert.ok(written < 64 * 1024 * 1024, `${written} bytes were taken`)
  receiver.answer = () => {}
  const silent = await createPoster({ allowPrivate: true, timeoutMs: 300 }).post(receiver.url, {}, '{}')
  assert.deepEqual([silent.status, silent.error], [null, 'did not answer within 0.3 s'])
  await Promise.all([poster.close(), receiver.close()])
})
