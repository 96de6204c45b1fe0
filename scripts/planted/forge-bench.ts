// Runs forge's tests in copies of the contracts, for bugs in the Solidity.
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { forge } from '../../contracts/tools/forge.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import type { Bench } from './run.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Paths that forge's tests need. */
const COPIED = ['foundry.toml', 'bin', 'src', 'test', 'proofs']
/** Forge's output and cache, copied so that forge recompiles only what a bug changes. */
const BUILT = ['out', 'cache/solidity-files-cache.json']
/** How many bugs we plant at once, because each forge takes a core and some memory. */
const AT_ONCE_MAX = 2

/** Creates the copies, built in the light profile. Throws if the contracts do not compile. */
export async function forgeBench(): Promise<Bench> {
  const first = copyContracts()
  const built = await forge(['build'], { directory: join(first, 'contracts'), profile: 'light', quiet: true })
  if (built.code !== 0) throw new Error(`the contracts do not compile\n${built.output}`)
  const others = Array.from({ length: Math.min(AT_ONCE_MAX, availableParallelism()) - 1 }, copyContracts)
  for (const other of others) copyEntries(BUILT, first, other)
  return { copies: [first, ...others], run: (copy) => runForge(join(copy, 'contracts')) }
}

/** Copies the contracts and turns the intermediate representation off, which makes them compile four times as fast. */
export function copyContracts(): string {
  const copy = temporaryDirectory()
  copyEntries(COPIED, ROOT, copy)
  const settings = join(copy, 'contracts', 'foundry.toml')
  writeFileSync(settings, readFileSync(settings, 'utf8').replaceAll('via_ir = true', 'via_ir = false'))
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

function copyEntries(entries: readonly string[], from: string, to: string): void {
  for (const entry of entries) {
    const options = { recursive: true, preserveTimestamps: true }
    cpSync(join(from, 'contracts', entry), join(to, 'contracts', entry), options)
  }
}

/** Runs forge's tests; returns those that failed, null if all passed. Throws if the sources do not compile. */
async function runForge(directory: string): Promise<string | null> {
  // If a bug does not compile, it proves nothing.
  const built = await forge(['build'], { directory, profile: 'light', quiet: true })
  if (built.code !== 0) throw new Error(`does not compile\n${built.output}`)
  // Ends at the first failure, because shrinking a failed invariant takes longer than everything else.
  const tested = await forge(['test', '--threads', '1', '--fail-fast'], { directory, profile: 'light', quiet: true })
  if (tested.code === 0) return null
  const names = tested.output.matchAll(/^(?:\[FAIL.*\]| (?=invariant_)) ?(\w+)\(/gm)
  const failing = [...new Set([...names].map((match) => match[1]))]
  return failing.slice(0, 3).join(', ') || `forge ended with ${tested.code}`
}
