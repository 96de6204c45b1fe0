// A cluster as Patroni runs it: two PostgreSQL servers under it, etcd for consensus, HAProxy to find the primary. Uses
// Patroni's own default times. If a package is absent, tests are skipped and say which.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, startChild } from '../../packages/embed/child.ts'
import { findFreePort } from '../../packages/embed/port.ts'
import { chooseRunAs } from '../../packages/embed/runas.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { withoutPostgres } from './servers.ts'

const PROGRAMS = { patroni: '/usr/bin/patroni', 'etcd-server': '/usr/bin/etcd', haproxy: '/usr/sbin/haproxy' }
const BIN = '/usr/lib/postgresql/15/bin'
/** Long, because the two servers start one after the other. */
const START_MS = 120_000

/** For `skip` of a test: false, or the missing package. */
export const withoutPatroni =
  withoutPostgres ||
  (Object.entries(PROGRAMS)
    .find(([, path]) => !existsSync(path))?.[0]
    .replace(/^/, 'needs Debian’s package ') ??
    false)

interface Member {
  readonly name: string
  readonly postgres: number
  readonly rest: number
  readonly child: Child
}

export interface Cluster {
  /** The primary's address, whichever server it is. */
  readonly url: string
  /** A replica's address, or the primary's while there is none. */
  readonly readUrl: string
  /** The members that Patroni calls primary and streaming replica. */
  roles(): Promise<{ primary: string | null; replica: string | null }>
  /** Kills the primary's machine: its PostgreSQL and its Patroni. Returns its name. */
  killPrimary(): Promise<string>
  /** Switches over in order, as for an upgrade of the machine. */
  switchOver(): Promise<void>
  stop(): Promise<void>
}

/** Starts one, with an empty database `ledger`. */
export async function startCluster(): Promise<Cluster> {
  const directory = temporaryDirectory()
  const { etcd, port: client } = await startEtcd(directory)
  const [primary, reads] = [await findFreePort(), await findFreePort()]
  const members: Member[] = []
  for (const name of ['one', 'two']) {
    members.push(await startMember({ name, directory: temporaryDirectory(), etcd: client }))
    await until(
      `${name} is up`,
      async () => (await askOf(members.at(-1), name === 'one' ? 'primary' : 'replica')) === 200,
      START_MS,
    )
  }
  const proxy = await startProxy(directory, { primary, reads, members })
  const at = (port: number) => `postgres://postgres:secret@127.0.0.1:${port}/postgres`
  const roles = async () => {
    const of = async (role: string) => {
      for (const member of members) if ((await askOf(member, role)) === 200) return member.name
      return null
    }
    return { primary: await of('primary'), replica: await of('replica') }
  }
  const memberOf = async (role: 'primary' | 'replica') => {
    const name = (await roles())[role]
    return members.find((member) => member.name === name) ?? Promise.reject(new Error(`there is no ${role}`))
  }
  return {
    url: at(primary),
    readUrl: at(reads),
    roles,
    async killPrimary() {
      const { name, child } = await memberOf('primary')
      // PostgreSQL is in Patroni's process group, so nothing of the machine is left.
      process.kill(-child.pid, 'SIGKILL')
      await child.exited
      return name
    },
    async switchOver() {
      const [leader, candidate] = [await memberOf('primary'), await memberOf('replica')]
      // Patroni refuses until the replica has caught up, which it checks every ten seconds.
      await until('the switchover', async () => {
        const answer = await fetch(`http://127.0.0.1:${leader.rest}/switchover`, {
          method: 'POST',
          body: JSON.stringify({ leader: leader.name, candidate: candidate.name }),
        })
        return answer.ok
      })
    },
    async stop() {
      for (const child of [proxy, ...members.map((member) => member.child), etcd])
        if (child.running())
          await child.end([
            { signal: 'SIGTERM', waitMs: 20_000 },
            { signal: 'SIGKILL', waitMs: 5_000 },
          ])
    },
  }
}

async function startEtcd(directory: string): Promise<{ etcd: Child; port: number }> {
  const [port, peer] = [await findFreePort(), await findFreePort()]
  const etcd = await startChild({
    command: PROGRAMS['etcd-server'],
    args: [
      ...['--data-dir', join(directory, 'etcd'), '--listen-client-urls', `http://127.0.0.1:${port}`],
      ...['--advertise-client-urls', `http://127.0.0.1:${port}`, '--listen-peer-urls', `http://127.0.0.1:${peer}`],
      ...[
        '--initial-advertise-peer-urls',
        `http://127.0.0.1:${peer}`,
        '--initial-cluster',
        `default=http://127.0.0.1:${peer}`,
      ],
    ],
    deathSignal: 'SIGTERM',
  })
  return { etcd, port }
}

/** The status of one of Patroni's health checks; null if no one answers. */
async function askOf(member: Member | undefined, role: string): Promise<number | null> {
  return fetch(`http://127.0.0.1:${member?.rest}/${role}`).then(
    ({ status }) => status,
    () => null,
  )
}

async function startMember({
  name,
  directory,
  etcd,
}: {
  name: string
  directory: string
  etcd: number
}): Promise<Member> {
  const [postgres, rest] = [await findFreePort(), await findFreePort()]
  const file = join(directory, 'patroni.json')
  // Patroni reads YAML, which includes JSON.
  writeFileSync(
    file,
    JSON.stringify({
      scope: 'ledger',
      name,
      restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
      etcd3: { host: `127.0.0.1:${etcd}` },
      bootstrap: {
        // An operator's settings if money is at stake: a lagging replica is not promoted, and the old primary can return as a replica.
        dcs: { maximum_lag_on_failover: 1_048_576, postgresql: { use_pg_rewind: true } },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
        pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      },
      postgresql: {
        listen: `127.0.0.1:${postgres}`,
        connect_address: `127.0.0.1:${postgres}`,
        data_dir: join(directory, 'data'),
        bin_dir: BIN,
        pgpass: join(directory, 'pgpass'),
        authentication: {
          superuser: { username: 'postgres', password: 'secret' },
          replication: { username: 'replicator', password: 'secret' },
        },
        parameters: { unix_socket_directories: directory, fsync: 'off' },
      },
    }),
  )
  const runAs = chooseRunAs(directory)
  const child = await startChild({
    command: PROGRAMS.patroni,
    args: [file],
    prefix: runAs.prefix,
    env: { PATH: process.env.PATH ?? '', HOME: directory, LC_ALL: 'C' },
    deathSignal: 'SIGTERM',
  })
  return { name, postgres, rest, child }
}

/** As in Patroni's documentation: the primary is the member whose Patroni says so. */
function startProxy(
  directory: string,
  { primary, reads, members }: { primary: number; reads: number; members: readonly Member[] },
): Promise<Child> {
  const servers = members.map(({ name, postgres, rest }) => `  server ${name} 127.0.0.1:${postgres} check port ${rest}`)
  const check = (path: string) => [
    `  option httpchk OPTIONS ${path}`,
    '  http-check expect status 200',
    '  default-server inter 1s fall 3 rise 2 on-marked-down shutdown-sessions',
  ]
  const lines = [
    ...[
      'defaults',
      '  mode tcp',
      '  timeout client 30m',
      '  timeout server 30m',
      '  timeout connect 4s',
      '  timeout check 2s',
    ],
    ...['listen primary', `  bind 127.0.0.1:${primary}`, ...check('/primary'), ...servers],
    ...['listen reads', `  bind 127.0.0.1:${reads}`, ...check('/read-only'), ...servers],
  ]
  const file = join(directory, 'haproxy.cfg')
  writeFileSync(file, `${lines.join('\n')}\n`)
  return startChild({ command: PROGRAMS.haproxy, args: ['-f', file], deathSignal: 'SIGTERM' })
}
