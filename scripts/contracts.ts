// The contracts' commands: build, check, units, rest, test (both), coverage, prove, soak. Compiler settings belong in contracts/foundry.toml; never pass them here.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { forgePath } from '../contracts/tools/binaries.ts'
import { CONTRACTS_DIR } from '../contracts/tools/compile.ts'
import { forge } from '../contracts/tools/forge.ts'
import { BUILD_COMMAND, buildContracts, staleInput, staleModules } from '../contracts/tools/generate.ts'
import { copyContracts } from './planted/forge-bench.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Writes the TypeScript generated from the contracts. Returns the exit code. */
export function buildCommand(): number {
  for (const path of buildContracts()) console.log(`wrote ${path}`)
  return 0
}

/** Fails if the committed files were generated from other contracts or settings. Compiles nothing. Returns the exit code. */
export const checkContracts = (): number => report(staleInput())

function report(stale: readonly string[]): number {
  for (const path of stale) console.error(`${path} is not what contracts/src gives. Run: ${BUILD_COMMAND}`)
  if (stale.length === 0) console.log('generated contract files are up to date')
  return stale.length === 0 ? 0 : 1
}

/** The tests that repeat random acts. `rest` runs them, `units` all others. */
const RANDOM_ACTS = 'test/{Invariants,Proofs}.t.sol'

/** Runs forge's unit tests, then checks that the committed code and ABI are what they ran. Returns the exit code. */
async function testUnits(): Promise<number> {
  const { code } = await forge(['test', '--no-match-path', RANDOM_ACTS])
  return code === 0 ? report(staleModules()) : code
}

/**
 * Runs the invariants and properties, then checks gas, lint, the proofs' record and the explorers' input. Returns the exit code.
 */
async function testRest(): Promise<number> {
  const { code } = await forge(['test', '--match-path', RANDOM_ACTS])
  if (code !== 0) return code
  const args = ['--test', ...['gas', 'lint', 'proofs', 'verification'].map((name) => `contracts/test/${name}.test.ts`)]
  return run(process.execPath, args, process.env)
}

async function testContracts(): Promise<number> {
  const code = await testUnits()
  return code === 0 ? testRest() : code
}

/** Options of halmos. Solady derives its own slots, and loops in the properties run at most four times. */
const HALMOS_OPTIONS = ['--storage-layout', 'generic', '--loop', '4']

/**
 * Proves the properties of contracts/proofs whose name begins with `word`, using halmos with further `options` of its
 * own. Returns the exit code, 2 if halmos is not on the PATH. Without halmos, `test` still runs them as fuzz tests.
 */
function proveContracts(word = '', options: readonly string[] = []): Promise<number> {
  const { PATH = '' } = process.env
  const halmos = PATH.split(delimiter)
    .map((directory) => join(directory, 'halmos'))
    .find((path) => existsSync(path))
  if (!halmos) {
    console.error('halmos is not on the PATH: nothing was proven. "test" runs the same properties as fuzz tests.')
    return Promise.resolve(2)
  }
  // Halmos builds with forge, which it looks for on the PATH.
  const path = [dirname(forgePath()), dirname(process.execPath), PATH].join(delimiter)
  const which = ['--root', CONTRACTS_DIR, '--contract', 'ProofsTest', '--function', `check_${word}`]
  const args = [...which, ...HALMOS_OPTIONS, ...options]
  // The working directory, from which foundry.toml finds its compiler.
  return run(halmos, args, { ...process.env, PATH: path }, CONTRACTS_DIR)
}

/**
 * Prints how much of contracts/src forge's unit tests cover. Works in a copy that compiles without the intermediate representation, because forge can
 * only measure coverage that way. Returns the exit code: 1 unless they cover all lines, statements, branches and functions.
 */
async function coverContracts(): Promise<number> {
  const args = [
    'coverage',
    '--no-match-path',
    'test/{Invariants,Proofs}.t.sol',
    '--no-match-coverage',
    '^(test|proofs|\\.\\.)/',
  ]
  const { code, output } = await forge(args, { directory: join(copyContracts(), 'contracts'), quiet: true })
  const rows = output.split('\n').filter((line) => /^\| (File|src\/|Total)/.test(line))
  console.log(code === 0 ? rows.join('\n') : output)
  return code === 0 && rows.length > 2 && rows.slice(1).every((row) => row.match(/100\.00%/g)?.length === 4) ? 0 : 1
}

/** How many parts the soak runs: three million acts in total. It runs in parts so that each reports its progress. */
const SOAK_PARTS = 24

/** Runs the invariants in `parts` of 125,000 random acts, each with a new seed, and prints the total after each. Returns the exit code. */
async function soakContracts(parts = String(SOAK_PARTS)): Promise<number> {
  for (let part = 1; part <= Number(parts); part++) {
    const args = ['test', '--match-path', 'test/Invariants.t.sol', '--fuzz-seed', String(part)]
    const { code, output } = await forge(args, { profile: 'soak', quiet: true })
    if (code !== 0) {
      console.error(output)
      return code
    }
    console.log(`part ${part} of ${parts}: ${part * 125_000} acts, no property broken`)
  }
  return 0
}

function run(program: string, args: string[], env: NodeJS.ProcessEnv, cwd = ROOT): Promise<number> {
  const child = spawn(program, args, { cwd, env, stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}

const COMMANDS: Record<string, (word?: string, options?: readonly string[]) => number | Promise<number>> = {
  build: buildCommand,
  check: checkContracts,
  test: testContracts,
  units: testUnits,
  rest: testRest,
  coverage: coverContracts,
  prove: proveContracts,
  soak: soakContracts,
}

if (import.meta.main) {
  const command = COMMANDS[process.argv[2] ?? '']
  if (!command) console.error(`usage: scripts/contracts.ts ${Object.keys(COMMANDS).join(' | ')}`)
  process.exitCode = command ? await command(process.argv[3], process.argv.slice(4)) : 2
}
