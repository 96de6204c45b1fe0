// Owns the compilation of the contracts outside forge: the settings (read from foundry.toml, their one home) and npm's
// solc. It must never set a compiler option of its own, or the committed bytecode would not be what forge tested.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Abi } from 'viem'

export const CONTRACTS_DIR = fileURLToPath(new URL('..', import.meta.url))

/** Where solc's answers are kept, by what was compiled. */
const COMPILED = join(CONTRACTS_DIR, '../node_modules/.cache/solc')
const OUTPUT = ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object', 'evm.deployedBytecode.immutableReferences']

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

/** Compiler input in solc's own form. */
export type StandardInput = {
  language: string
  sources: Record<string, { content: string }>
  settings: Record<string, unknown>
}

type Solc = {
  version(): string
  compile(input: string): string
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

function compilerSettings(): StandardInput['settings'] {
  const setting = settingsReader()
  return {
    remappings: setting('remappings'),
    optimizer: { enabled: setting('optimizer'), runs: setting('optimizer_runs') },
    metadata: { bytecodeHash: setting('bytecode_hash') },
    evmVersion: setting('evm_version'),
    viaIR: setting('via_ir'),
  }
}

/** Warnings about a dependency's code are its authors' to heed. */
const isOurs = ({ severity, sourceLocation }: NonNullable<Output['errors']>[number]) =>
  severity === 'error' || sourceLocation?.file.startsWith('src/')

/** solc's version as explorers name it: 0.8.37+commit.…. */
export function compilerVersion(): string {
  const version = (createRequire(import.meta.url)('solc') as Solc).version()
  return /^[\d.]+\+commit\.[0-9a-f]+/.exec(version)?.[0] ?? version
}

/** The input of one contract with every source that it needs and nothing else, so that it compiles anywhere to the same bytes. */
export function standardInput(file: string): StandardInput {
  const settings = compilerSettings()
  const needed: StandardInput['sources'] = {}
  const add = (path: string) => {
    if (needed[path]) return
    const content = readFileSync(join(CONTRACTS_DIR, path), 'utf8')
    needed[path] = { content }
    for (const [, imported = ''] of content.matchAll(/^\s*(?:import|\}\s*from)\b[^"']*["']([^"']+)["']/gm)) {
      add(imported.startsWith('.') ? posix.join(dirname(path), imported) : remapped(imported, settings.remappings))
    }
  }
  add(`src/${file}`)
  const ordered = Object.fromEntries(Object.entries(needed).sort(([a], [b]) => (a < b ? -1 : 1)))
  return { language: 'Solidity', sources: ordered, settings }
}

function remapped(path: string, remappings: unknown): string {
  for (const remapping of remappings as string[]) {
    const [prefix = '', target = ''] = remapping.split('=')
    if (path.startsWith(prefix)) return target + path.slice(prefix.length)
  }
  throw new Error(`no remapping leads to ${path}`)
}

/**
 * Compiles a standard input on its own, with no file besides: its contract `contract` in `contracts/src/<file>`. Throws, in the
 * compiler's words, on any error and on a warning about ours.
 */
export function compileAlone(input: StandardInput, file: string, contract: string): Artifact {
  const alone = { ...input, settings: { ...input.settings, outputSelection: { '*': { '*': OUTPUT } } } }
  const { contracts, errors = [] } = JSON.parse(compiled(JSON.stringify(alone))) as Output
  const faults = errors.filter(isOurs)
  if (faults.length > 0) throw new Error(faults.map((fault) => fault.formattedMessage).join('\n'))
  const artifact = contracts?.[`src/${file}`]?.[contract]
  if (!artifact) throw new Error(`solc compiled no ${contract} in contracts/src/${file}`)
  return artifact
}

/** solc's answer to an input; the same input is compiled once, since that takes many seconds. */
function compiled(input: string): string {
  const solc = createRequire(import.meta.url)('solc') as Solc
  const digest = createHash('sha256').update(solc.version()).update(input).digest('hex')
  const path = join(COMPILED, `${digest}.json`)
  if (existsSync(path)) return readFileSync(path, 'utf8')
  const output = solc.compile(input)
  mkdirSync(COMPILED, { recursive: true })
  // Whole, or not under its name: another process may read it.
  writeFileSync(`${path}.${process.pid}`, output)
  renameSync(`${path}.${process.pid}`, path)
  return output
}
