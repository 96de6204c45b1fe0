// Owns the compilation of the contracts outside forge: the settings (read from foundry.toml, their one home) and npm's
// solc. It must never set a compiler option of its own, or the committed bytecode would not be what forge tested.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Abi } from 'viem'

export const CONTRACTS_DIR = fileURLToPath(new URL('..', import.meta.url))

/** What the generator needs of one compiled contract. Hex without `0x`, as solc writes it. */
export type Artifact = {
  abi: Abi
  evm: {
    bytecode: { object: string }
    deployedBytecode: {
      object: string
      immutableReferences: Record<string, { start: number; length: number }[]>
    }
  }
}

type Solc = {
  compile(input: string, callbacks: { import(path: string): { contents: string } | { error: string } }): string
}
type Output = {
  contracts?: Record<string, Record<string, Artifact>>
  errors?: { severity: string; formattedMessage: string; sourceLocation?: { file: string } }[]
}

/** Settings of `[profile.default]` in foundry.toml. Its values are all written so that they are JSON too. */
function foundrySettings(): Record<string, unknown> {
  const toml = readFileSync(join(CONTRACTS_DIR, 'foundry.toml'), 'utf8')
  const profile = /^\[profile\.default\]\n([\s\S]*?)(?=^\[|$(?![\s\S]))/m.exec(toml)?.[1]
  if (profile === undefined) throw new Error('contracts/foundry.toml has no [profile.default]')
  const entries = [...profile.matchAll(/^(\w+)\s*=\s*(.+)$/gm)].map(([, key, value]) => [key, JSON.parse(`${value}`)])
  return Object.fromEntries(entries)
}

function setting<T>(settings: Record<string, unknown>, key: string): T {
  if (!(key in settings)) throw new Error(`contracts/foundry.toml sets no ${key} in [profile.default]`)
  return settings[key] as T
}

function compilerInput(): unknown {
  const settings = foundrySettings()
  const sources = readdirSync(join(CONTRACTS_DIR, 'src'))
    .sort()
    .map((file) => [`src/${file}`, { content: readFileSync(join(CONTRACTS_DIR, 'src', file), 'utf8') }])
  return {
    language: 'Solidity',
    sources: Object.fromEntries(sources),
    settings: {
      remappings: setting(settings, 'remappings'),
      optimizer: { enabled: setting(settings, 'optimizer'), runs: setting(settings, 'optimizer_runs') },
      metadata: { bytecodeHash: setting(settings, 'bytecode_hash') },
      evmVersion: setting(settings, 'evm_version'),
      viaIR: setting(settings, 'via_ir'),
      outputSelection: {
        '*': {
          '*': [
            'abi',
            'evm.bytecode.object',
            'evm.deployedBytecode.object',
            'evm.deployedBytecode.immutableReferences',
          ],
        },
      },
    },
  }
}

function readImport(path: string): { contents: string } | { error: string } {
  try {
    return { contents: readFileSync(join(CONTRACTS_DIR, path), 'utf8') }
  } catch (error) {
    return { error: String(error) }
  }
}

/** Warnings about a dependency's code are its authors' to heed. */
const isOurs = ({ severity, sourceLocation }: NonNullable<Output['errors']>[number]) =>
  severity === 'error' || sourceLocation?.file.startsWith('src/')

/** Compiles every file in `contracts/src`. Throws, in the compiler's words, on any error and on a warning about ours. */
export function compileContracts(): (file: string, contract: string) => Artifact {
  const solc = createRequire(import.meta.url)('solc') as Solc
  const output = JSON.parse(solc.compile(JSON.stringify(compilerInput()), { import: readImport })) as Output
  const faults = (output.errors ?? []).filter(isOurs)
  if (faults.length > 0) throw new Error(faults.map((fault) => fault.formattedMessage).join('\n'))
  return (file, contract) => {
    const artifact = output.contracts?.[`src/${file}`]?.[contract]
    if (!artifact) throw new Error(`solc compiled no ${contract} in contracts/src/${file}`)
    return artifact
  }
}
