// Inspects and ends processes by pid. Never trusts a pid alone, because pids are reused. A caller that stores a pid stores the process's identity
// beside it, and ends only a process that still has that identity.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../../src/lib/errors.ts'

/** How often we check whether a process has ended. */
const POLL_MS = 20

/** A process as written to disk: its pid, and the identity that distinguishes it from a later process with that pid. */
export interface ProcessRecord {
  readonly pid: number
  readonly identity: string
}

/** True while the process runs. A zombie (ended, but not yet reaped by its parent) does not count as running. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM means that the process exists, but belongs to another user.
    if (codeOf(error) !== 'EPERM') return false
  }
  const stat = readProc(pid, 'stat')
  return stat === null || !isOver(stat)
}

/** An identity that no earlier or later process with this pid has; null if the process does not run. */
function identityOf(pid: number): string | null {
  if (!isAlive(pid)) return null
  const stat = readProc(pid, 'stat')
  if (stat !== null) {
    // Field 22 counts ticks since boot, so it is unique only in combination with the boot.
    return `${bootId()}:${fieldOf(stat, 22)}`
  }
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: 5000 })
    return started.trim() || null
  } catch {
    return null
  }
}

/** The record of a running process; null if the process does not run. */
export function recordOf(pid: number): ProcessRecord | null {
  const identity = identityOf(pid)
  return identity === null ? null : { pid, identity }
}

/** Reads a record written by `JSON.stringify(recordOf(pid))`; null for anything else. */
export function parseRecord(text: string | null): ProcessRecord | null {
  if (text === null) return null
  try {
    const value = JSON.parse(text) as Partial<ProcessRecord> | null
    if (typeof value?.pid !== 'number' || typeof value.identity !== 'string') return null
    return { pid: value.pid, identity: value.identity }
  } catch {
    return null
  }
}

/** True if the recorded process still runs. False if its pid now belongs to another process. */
export function stillRuns(record: ProcessRecord): boolean {
  return identityOf(record.pid) === record.identity
}

/** The command line of a process, or null if it cannot be read. */
export function commandLineOf(pid: number): string | null {
  const raw = readProc(pid, 'cmdline')
  if (raw !== null) return raw.replaceAll('\0', ' ').trim()
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8', timeout: 5000 }).trim()
  } catch {
    return null
  }
}

/** Processes whose working directory is `directory`. Linux only; elsewhere always empty. */
export function processesIn(directory: string): number[] {
  let entries: string[]
  try {
    entries = readdirSync('/proc')
  } catch {
    return []
  }
  return entries.filter((name) => /^\d+$/.test(name) && worksIn(Number(name), directory)).map(Number)
}

/** Waits until the process is gone. False if it still runs after `timeoutMs`. */
export async function waitForExit(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  while (isAlive(pid)) {
    if (Date.now() > deadline) return false
    await sleep(POLL_MS)
  }
  return true
}

/** Sends each signal in turn until the process is gone. After each it waits for that step's time. */
export async function endProcess(
  pid: number,
  steps: readonly { readonly signal: NodeJS.Signals; readonly waitMs: number }[],
): Promise<boolean> {
  for (const { signal, waitMs } of steps) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if (codeOf(error) === 'ESRCH') return true
      throw error
    }
    if (await waitForExit(pid, waitMs)) return true
  }
  return false
}

function worksIn(pid: number, directory: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === directory
  } catch {
    return false
  }
}

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return null
  }
}

/** Field `number` of a process's stat, from 3 on. Fields from 3 on come after the command's name, which is in brackets and may contain anything. */
function fieldOf(stat: string, number: number): string | undefined {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[number - 3]
}

/** True if this is a zombie and its last thread has ended. Until then its sockets are open, and its ports taken. */
function isOver(stat: string): boolean {
  return fieldOf(stat, 3) === 'Z' && Number(fieldOf(stat, 20)) <= 1
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return 'unknown'
  }
}
