// The database fails at the worst moment: connections cut, the answer to a commit lost, PostgreSQL killed in the middle
// of a pass, an old backup restored. Stored facts count, and the service finds the rest again on chain.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { type Postgres, startPostgres } from '../../packages/embed/postgres.ts'
import { connect } from '../../src/db/core/sql.ts'
import { silentLog } from '../../src/lib/log.ts'
import { SEND } from '../support/fault-proxy.ts'
import { SERVER_VARIABLE } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { INTERVAL_SEC } from '../support/world.ts'
import { startCutProxy } from './cut-proxy.ts'
import { attempt, attemptsOf, isOneNode, lastAttempt, paid, play, stateOf } from './stage.ts'

// This file's own server, which keeps what it has committed whatever happens to it.
const dataDir = temporaryDirectory()
let server: Postgres = await startPostgres({ dataDir, log: silentLog })
process.env[SERVER_VARIABLE] = server.url

/** Resolves when the last crash is over. The pass in its middle may end earlier, because it lost its connections. */
let upAgain: Promise<void> = Promise.resolve()

/** Kills the server as a power cut would, and restarts it on the same files. */
function crashServer(): Promise<void> {
  upAgain = crashAndStart()
  return upAgain
}

async function crashAndStart(): Promise<void> {
  const { url } = server
  process.kill(server.pid, 'SIGKILL')
  server = await startPostgres({ dataDir, log: silentLog })
  assert.equal(server.url, url)
}

const { act } = play()
after(() => server.stop())

act(
  'F24: every connection is cut while a send is under way: nothing needed recording',
  [],
  async ({ world, proxy }) => {
    const payment = await paid(world)
    const before = (await attemptsOf(world)).length
    proxy.onCall = async ({ method }) => {
      if (method !== SEND) return
      proxy.onCall = () => {}
      await world.pool`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name <> 'fault proxy' AND pid <> pg_backend_pid()`
    }
    await attempt(world.payments)
    await world.settle()
    assert.equal((await attemptsOf(world)).length, before + 1)
    await isOneNode(world, payment)
  },
)

for (const moment of ['before the send is passed on', 'after the provider took it'] as const) {
  act(`F25: PostgreSQL is killed ${moment}: what it had committed is sent, once`, [], async ({ world, proxy }) => {
    const payment = await paid(world)
    const before = (await attemptsOf(world)).length
    const crash = async ({ method }: { method: string }) => {
      if (method !== SEND) return
      proxy.onCall = () => {}
      proxy.onAnswered = () => {}
      await crashServer()
    }
    if (moment.startsWith('before')) proxy.onCall = crash
    else proxy.onAnswered = crash
    await attempt(world.payments)
    await upAgain
    await world.settle()
    assert.equal((await attemptsOf(world)).length, before + 1)
    await isOneNode(world, payment)
  })
}

act(
  'F26: PostgreSQL is killed while blocks are read: the pass stops, the next one stores them',
  [],
  async ({ world, proxy }) => {
    const payment = await paid(world)
    proxy.onAnswered = async ({ method }) => {
      if (method !== 'eth_getTransactionReceipt') return
      proxy.onAnswered = () => {}
      await crashServer()
    }
    await attempt(world.payments)
    await upAgain
    await world.settle()
    await isOneNode(world, payment)
  },
)

/** Stored blocks, verdict tried, verdict stored, intent stored. */
for (let skip = 0; skip < 4; skip++) {
  act(
    `F27: the answer to commit number ${skip + 1} of a run is lost: read again, never done again`,
    [],
    async ({ world }) => {
      const relay = await startCutProxy(world.directUrl)
      const pool = connect(relay.url, { max: 5, prepare: false, applicationName: 'relayed' })
      try {
        const payment = await paid(world)
        const before = (await attemptsOf(world)).length
        const relayed = world.instance({ pool })
        relay.loseCommits(1, skip)
        for (let i = 0; i < 3; i++) {
          await attempt(relayed.payments)
          await world.chain.mine()
        }
        assert.equal(relay.lost, 1)
        await world.settle()
        assert.equal((await attemptsOf(world)).length, before + 1, 'signed once')
        await isOneNode(world, payment)
      } finally {
        await pool.end({ timeout: 1 })
        await relay.close()
      }
    },
  )
}

act(
  'F28: an old backup is restored: the ledger follows to the head, then sends without doubles',
  [],
  async ({ world }) => {
    const earlier = await paid(world)
    await world.settle()
    // The backup: after a payment's mint was stored, and before everything else.
    const between = await paid(world)
    await world.payments()
    assert.equal(await stateOf(world, between), 'minting')
    const backup = new URL(world.directUrl)
    const name = backup.pathname.slice(1)
    backup.pathname = `/${name}_backup`
    const admin = connect(server.url, { max: 1, prepare: false, applicationName: 'backup' })
    await admin`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = ${name}`
    await admin`CREATE DATABASE ${admin(`${name}_backup`)} TEMPLATE ${admin(name)}`
    const later = await paid(world)
    await world.settle()
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.rest()
    const nodes = await world.read<bigint>('lastId')
    const rounds = await world.read<bigint>('round')
    const sentBefore = (await lastAttempt(world)).hash

    const pool = connect(backup.href, { max: 5, prepare: true, applicationName: 'restored' })
    const restored = world.instance({ pool, directUrl: backup.href })
    try {
      for (let i = 0; i < 4; i++) {
        await restored.payments()
        await restored.credit()
        await world.chain.mine()
      }
      assert.deepEqual([await world.read('lastId'), await world.read('round')], [nodes, rounds])
      const states = await pool<{ state: string; ref: string }[]>`SELECT state, ref FROM payments`
      for (const payment of [earlier, between, later])
        assert.equal(states.find((row) => row.ref === payment)?.state, 'minted')
      const [sent] = await pool`SELECT count(*) AS after FROM outbox_attempts a JOIN outbox o ON o.id = a.outbox_id
      WHERE o.state = 'pending'`
      assert.equal(sent?.after, 0)
      assert.equal((await lastAttempt(world)).hash, sentBefore)
    } finally {
      await pool.end({ timeout: 1 })
      await admin`DROP DATABASE ${admin(`${name}_backup`)} WITH (FORCE)`
      await admin.end()
    }
  },
)
