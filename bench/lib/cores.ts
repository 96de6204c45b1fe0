// Pins processes to cores, so that a database has its own and clients take none of its time. Uses taskset, which comes
// with Linux (util-linux).
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { Pool } from '../../src/db/core/sql.ts'

/** Why we cannot pin processes here; null if we can. */
export function cannotHold(): string | null {
  if (availableParallelism() < 2) return 'needs two cores'
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' })
    return null
  } catch {
    return 'needs taskset (Linux: util-linux)'
  }
}

/**
 * Runs `load` with the database server on one core, and this process with its children on another. Pins only
 * connections that the server accepts during `load`.
 */
export async function withOwnCore<T>(pool: Pool, load: () => Promise<T>): Promise<T> {
  const server = await serverPid(pool)
  const before = [server, process.pid].map((pid) => ({ pid, cores: coresOf(pid) }))
  try {
    hold(server, '0')
    hold(process.pid, '1')
    return await load()
  } finally {
    for (const { pid, cores } of before) hold(pid, cores)
  }
}

async function serverPid(pool: Pool): Promise<number> {
  const [row] = await pool<{ file: string }[]>`SELECT pg_read_file('postmaster.pid') AS file`
  return Number.parseInt(row?.file ?? '', 10)
}

function coresOf(pid: number): string {
  return /^Cpus_allowed_list:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0-'
}

function hold(pid: number, cores: string): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)], { stdio: 'ignore' })
}
