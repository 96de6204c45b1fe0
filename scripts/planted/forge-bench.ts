// Runs forge's tests in copies of the contracts, for bugs in the Solidity.
import { cpSync, symlinkSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { forge } from '../../contracts/tools/forge.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import type { Bench } from './run.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** With forge's output and cache, so that a bug compiles only what it changes. */
const COPIED = ['foundry.toml', 'bin', 'src', 'test', 'out', 'cache/solidity-files-cache.json']
/** Bugs planted at once: each forge takes a core and some memory. */
const AT_ONCE_MAX = 2

/** Builds the contracts in the light profile and makes the copies. Throws when they do not compile. */
export async function forgeBench(): Promise<Bench> {
  const built = await forge(['build'], { profile: 'light', quiet: true })
  if (built.code !== 0) throw new Error(`the contracts do not compile\n${built.output}`)
  return {
    copies: Array.from({ length: Math.min(AT_ONCE_MAX, availableParallelism()) }, copyContracts),
    run: (copy) => runForge(join(copy, 'contracts')),
  }
}

function copyContracts(): string {
  const copy = temporaryDirectory()
  for (const entry of COPIED) {
    cpSync(join(ROOT, 'contracts', entry), join(copy, 'contracts', entry), {
      recursive: true,
      preserveTimestamps: true,
    })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** Runs forge's tests; returns those that failed, null when all passed. Throws when the sources do not compile. */
async function runForge(directory: string): Promise<string | null> {
  // A bug that does not compile proves nothing.
  const built = await forge(['build'], { directory, profile: 'light', quiet: true })
  if (built.code !== 0) throw new Error(`does not compile\n${built.output}`)
  // One failure is enough: shrinking that of an invariant takes longer than all else.
  const tested = await forge(['test', '--threads', '1', '--fail-fast'], { directory, profile: 'light', quiet: true })
  if (tested.code === 0) return null
  const names = tested.output.matchAll(/^(?:\[FAIL.*\]| (?=invariant_)) ?(\w+)\(/gm)
  const failing = [...new Set([...names].map((match) => match[1]))]
  return failing.slice(0, 3).join(', ') || `forge ended with ${tested.code}`
}
