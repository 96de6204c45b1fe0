// Measures requests per second of an HTTP server with wrk, a C program that costs little beside the server it loads. A load generator on Node
// (autocannon) costs more than the server it tests, and would hide every difference.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { median } from './numbers.ts'

const LUA = fileURLToPath(new URL('./load.lua', import.meta.url))
/** Requests in flight. */
const IN_FLIGHT = 32

const run = promisify(execFile)

/** Why we cannot generate load here; null if we can. */
export function missingTools(): string | null {
  return onPath('wrk') ? null : 'needs wrk (Debian: apt install wrk)'
}

/**
 * Requests per second for the paths of a template, with `%d` drawn from 1 to `maximum`. `encoding` is the accepted
 * compression. Throws if a request failed.
 */
export async function requestRate(
  origin: string,
  { template, maximum, encoding }: { template: string; maximum: number; encoding?: 'br' },
  sec: number,
): Promise<number> {
  const args = ['-t1', `-c${IN_FLIGHT}`, `-d${sec}s`, '-s', LUA, origin, '--', template, String(maximum)]
  if (encoding) args.push(encoding)
  const { stdout } = await run('wrk', args)
  const found = /\{.*\}/.exec(stdout)?.[0]
  if (found === undefined) throw new Error(`wrk said:\n${stdout}`)
  const { requests, us, refused, broken } = JSON.parse(found) as Record<string, number>
  if (refused !== 0 || broken !== 0 || !requests || !us) throw new Error(`the load on ${template} failed: ${found}`)
  return requests / (us / 1e6)
}

/**
 * Runs each load in turn, several times, so that a slower machine affects all alike. A short run of each comes first as a warm-up.
 * @returns the median of each.
 */
export async function inTurn<Name extends string>(
  loads: Record<Name, (sec: number) => Promise<number>>,
  { runs, sec }: { runs: number; sec: number },
): Promise<Record<Name, number>> {
  const names = Object.keys(loads) as Name[]
  const rates = new Map<Name, number[]>(names.map((name) => [name, []]))
  for (const name of names) await loads[name](1)
  for (let run = 0; run < runs; run++) {
    for (const name of names) rates.get(name)?.push(await loads[name](sec))
  }
  return Object.fromEntries(names.map((name) => [name, median(rates.get(name) ?? [])])) as Record<Name, number>
}

function onPath(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)))
}
