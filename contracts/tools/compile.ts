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

/** Reads a setting of `[profile.default]` in foundry.toml. Those asked for are all written so that they are JSON too. */
function settingsReader(): (key: string) => unknown {
  const toml = readFileSync(join(CONTRACTS_DIR, 'foundry.toml'), 'utf8')
  const profile = toml.split(/^\[/m).find((section) => section.startsWith('profile.default]')) ?? ''
  return (key) => {
    const value = new RegExp(`^${key} = (.+)$`, 'm').exec(profile)?.[1]
    if (value === undefined) throw new Error(`contracts/foundry.toml sets no ${key} in [profile.default]`)
    return JSON.parse(value)
  }
}

function compilerInput(): unknown {
  const setting = settingsReader()
  const sources = readdirSync(join(CONTRACTS_DIR, 'src'))
    .sort()
    .map((file) => [`src/${file}`, { content: readFileSync(join(CONTRACTS_DIR, 'src', file), 'utf8') }])
  return {
    language: 'Solidity',
    sources: Object.fromEntries(sources),
    settings: {
      remappings: setting('remappings'),
      optimizer: { enabled: setting('optimizer'), runs: setting('optimizer_runs') },
      metadata: { bytecodeHash: setting('bytecode_hash') },
      evmVersion: setting('evm_version'),
      viaIR: setting('via_ir'),
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
