// Hostile clients that only open connections, against the service as its operator runs it, with few open files allowed.
// It must keep enough of them for its database, its provider and real buyers.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { startService, type WellKnown, wallet } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

/** For the service and its embedded parts: a hard limit, which Node cannot raise. */
const FILES_MAX = 700
/** The reserve in src/http/edge/connections.ts. */
const RESERVED = 256
const STRANGERS = 12
const CONNECTIONS_EACH = 100
const noPrlimit = spawnSync('prlimit', ['--version']).status === 0 ? false : 'prlimit (util-linux) is not installed'

test('thousands of idle connections use no file that a sale needs', { skip: noPrlimit }, async () => {
  const launcher = ['prlimit', `--nofile=${FILES_MAX}:${FILES_MAX}`]
  const service = await startService(temporaryDirectory(), {}, () => {}, launcher)
  const sockets: Socket[] = []
  try {
    const known = await service.get<WellKnown>('/.well-known/node-ledger.json')
    const { tiers } = await service.get<{ tiers: { priceWei: string }[] }>('/api/tiers')
    const port = Number(new URL(service.url).port)
    for (let stranger = 0; stranger < STRANGERS; stranger++) {
      for (let i = 0; i < CONNECTIONS_EACH; i++) {
        const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.1.${stranger + 1}` })
        socket.on('error', () => {})
        sockets.push(socket)
        await Promise.race([once(socket, 'connect'), once(socket, 'close')])
      }
    }
    const open = readdirSync(`/proc/${service.pid}/fd`).length
    assert.ok(open <= FILES_MAX - RESERVED / 2, `${open} files are open`)
    const buyer = wallet(5, known)
    await buyer.pay(known.paymentAddress, BigInt(tiers[0]?.priceWei ?? 0))
    await until('the node', async () => {
      const nodes = await service.get<unknown[]>(`/api/nodes/${buyer.address}`)
      return nodes.length === 1
    })
    assert.equal((await fetch(`${service.url}/api/auth/nonce`)).status, 200)
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200)
    assert.doesNotMatch(service.output(), /EMFILE|too many open files/)
  } finally {
    for (const socket of sockets) socket.destroy()
    await service.stop()
  }
})
