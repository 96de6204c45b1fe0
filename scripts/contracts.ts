// Owns the contracts' commands: build, check, test, mutants. It must never compile with settings of its own: they live
// in contracts/foundry.toml.
import { BUILD_COMMAND, buildContracts, staleContracts } from '../contracts/tools/generate.ts'

/** Writes the TypeScript generated from the contracts. Returns the exit code. */
export function build(): number {
  for (const path of buildContracts()) console.log(`wrote ${path}`)
  return 0
}

/** Fails when a committed generated file is not what the contracts give. Returns the exit code. */
export function check(): number {
  const stale = staleContracts()
  for (const path of stale) console.error(`${path} is not what contracts/src gives. Run: ${BUILD_COMMAND}`)
  if (stale.length === 0) console.log('generated contract files are up to date')
  return stale.length === 0 ? 0 : 1
}

const COMMANDS: Record<string, () => number | Promise<number>> = { build, check }

if (import.meta.main) {
  const command = COMMANDS[process.argv[2] ?? '']
  if (!command) {
    console.error(`usage: scripts/contracts.ts ${Object.keys(COMMANDS).join(' | ')}`)
    process.exitCode = 2
  } else {
    process.exitCode = await command()
  }
}
