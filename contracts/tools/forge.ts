// Owns how forge is run: its own binary, in the contracts' directory, with its real exit code. It must never judge what
// forge prints.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { forgePath } from './binaries.ts'
import { type Artifact, CONTRACTS_DIR } from './compile.ts'

/** Foundry's profiles, as foundry.toml names them. */
export type Profile = 'default' | 'light' | 'soak'

export type ForgeRun = { code: number; output: string }

/**
 * Runs forge in `directory`. Its output goes to the terminal, or is returned when `quiet`. Throws when forge is missing.
 */
export function forge(
  args: string[],
  options: { directory?: string; profile?: Profile; quiet?: boolean } = {},
): Promise<ForgeRun> {
  const { directory = CONTRACTS_DIR, profile, quiet = false } = options
  // The solc wrapper runs whatever `node` it finds: let it be this one.
  const { PATH = '' } = process.env
  const path = [dirname(process.execPath), PATH].join(delimiter)
  const env = { ...process.env, PATH: path, ...(profile ? { FOUNDRY_PROFILE: profile } : {}) }
  const child = spawn(forgePath(), args, {
    cwd: directory,
    env,
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
  })
  let output = ''
  child.stdout?.on('data', (chunk) => (output += chunk))
  child.stderr?.on('data', (chunk) => (output += chunk))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    // No code: a signal ended it, which is no success.
    child.once('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/** A contract as forge compiled it last. */
export function forgeArtifact(contract: string): Artifact {
  const path = join(CONTRACTS_DIR, 'out', `${contract}.sol`, `${contract}.json`)
  const { abi, bytecode, deployedBytecode } = JSON.parse(readFileSync(path, 'utf8'))
  return {
    abi,
    evm: {
      bytecode: { object: bytecode.object.slice(2) },
      deployedBytecode: {
        object: deployedBytecode.object.slice(2),
        immutableReferences: deployedBytecode.immutableReferences ?? {},
      },
    },
  }
}
