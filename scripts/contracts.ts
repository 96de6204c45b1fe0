// Owns the contracts' commands: build, check, test. It must never compile with settings of its own: they live
// in contracts/foundry.toml.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { forge, forgeBytecode } from '../contracts/tools/forge.ts'
import { BUILD_COMMAND, buildContracts, staleContracts } from '../contracts/tools/generate.ts'
import { factoryBytecode } from '../src/chain/factory.bytecode.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Writes the TypeScript generated from the contracts. Returns the exit code. */
export function buildCommand(): number {
  for (const path of buildContracts()) console.log(`wrote ${path}`)
  return 0
}

/** Fails when a committed generated file is not what the contracts give. Returns the exit code. */
export function checkContracts(): number {
  const stale = staleContracts()
  for (const path of stale) console.error(`${path} is not what contracts/src gives. Run: ${BUILD_COMMAND}`)
  if (stale.length === 0) console.log('generated contract files are up to date')
  return stale.length === 0 ? 0 : 1
}

/** Runs forge's tests, makes sure that what they ran is what is committed, then the gas tests. Returns the exit code. */
export async function testContracts(): Promise<number> {
  const { code } = await forge(['test'])
  if (code !== 0) return code
  if (`0x${forgeBytecode('NodeFactory')}` !== factoryBytecode) {
    console.error(`forge tested other bytecode than src/chain/factory.bytecode.ts holds. Run: ${BUILD_COMMAND}`)
    return 1
  }
  return runGasTest()
}

function runGasTest(): Promise<number> {
  const args = ['--test', 'contracts/test/gas.test.ts']
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}

const COMMANDS: Record<string, () => number | Promise<number>> = {
  build: buildCommand,
  check: checkContracts,
  test: testContracts,
}

if (import.meta.main) {
  const command = COMMANDS[process.argv[2] ?? '']
  if (!command) console.error(`usage: scripts/contracts.ts ${Object.keys(COMMANDS).join(' | ')}`)
  process.exitCode = command ? await command() : 2
}
