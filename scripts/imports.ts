// The allowed directions of imports: one whitelist, and the check that enforces it (test/imports.test.ts). Types,
// re-exports and dynamic imports count like any import. UNREACHABLE lists what can never send: src/http, src/operator,
// src/mending, src/books, src/claims.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
// The parser that builds the pages, because it is this project's one parser of TypeScript and JSX.
import { parseSync } from 'vite'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

export interface Layer {
  /**
   * The folders or files of a layer. The longest prefix of a file's path decides its layer. Entries of one layer may
   * not import each other.
   */
  of: readonly string[]
  /**
   * What the layer may import: folders or files of other layers, each named exactly as in its layer. `src/**` means
   * every layer under `src`.
   */
  may: readonly string[]
  /** The packages that it may import, including everything under them; `node` means every built-in module. */
  packages?: readonly string[]
}

/**
 * Everything that signs or sends. Each file or folder is its own layer, so that naming a parent folder never allows it
 * by accident.
 */
const SENDING = ['src/chain/send', 'src/chain/send/kms', 'src/passes/steps/send.ts', 'src/boot/keys.ts']
/** Types of the chain. */
const CHAIN_TYPES = ['src/ports/chain.ts', 'src/ports/contract.ts', 'src/ports/sending.ts']
/** Modules of the chain that the passes and the operator may import. */
const CHAIN_FACTS = [...CHAIN_TYPES, 'src/ports/faults.ts', 'src/chain/digest.ts']
const STEP = ['src/lib', 'src/domain', 'src/db', ...CHAIN_FACTS, 'src/ports']
const WIRING = ['src/config/load.ts', 'src/domain', 'src/db', 'src/chain', ...CHAIN_FACTS, 'src/lib']

/** The import rules. The check rejects every import that is not listed here. */
const LAYERS: readonly Layer[] = [
  { of: ['src/lib'], may: [], packages: ['node', 'pino', 'undici'] },
  { of: ['src/domain'], may: [] },
  { of: ['src/db'], may: ['src/domain', 'src/lib'], packages: ['node', 'postgres'] },
  // Reads for callers. Nothing that judges, follows, mends or sends may use them.
  { of: ['src/db/reads'], may: ['src/domain', 'src/db', 'src/lib'] },

  { of: ['src/chain'], may: ['src/domain', ...CHAIN_FACTS, 'src/lib'], packages: ['node', 'undici', 'viem'] },
  { of: CHAIN_FACTS, may: ['src/domain', 'src/ports/chain.ts', 'src/lib'], packages: ['@noble/hashes'] },
  { of: ['src/chain/pages/wallets.ts'], may: ['src/domain', 'src/chain', 'src/ports/faults.ts'], packages: ['viem'] },
  { of: ['src/chain/send'], may: ['src/domain', 'src/chain', ...CHAIN_FACTS], packages: ['viem'] },
  { of: ['src/chain/send/kms/key.ts'], may: [] },
  {
    of: ['src/chain/send/kms'],
    may: ['src/domain', 'src/lib', 'src/ports/faults.ts', 'src/chain/send', 'src/chain/send/kms/key.ts'],
    packages: ['node', 'viem', '@noble/curves', '@aws-sdk/client-kms', 'google-auth-library'],
  },
  { of: ['src/chain/factory/owner-calls.ts'], may: ['src/domain'], packages: ['viem'] },
  { of: ['src/chain/factory/bounds.ts'], may: ['src/domain', ...CHAIN_TYPES] },
  {
    of: ['src/chain/factory/deploy.ts'],
    may: ['src/domain', 'src/chain', ...CHAIN_FACTS, 'src/chain/send', 'src/lib'],
    packages: ['node', 'viem'],
  },

  { of: ['src/ports'], may: ['src/domain', 'src/db', ...CHAIN_TYPES, 'src/lib'] },
  { of: ['src/follower'], may: STEP, packages: ['node'] },
  { of: ['src/mending'], may: [...STEP, 'src/follower'], packages: ['node'] },
  { of: ['src/books'], may: [...STEP, 'src/follower', 'src/mending'], packages: ['node'] },
  { of: ['src/passes/steps'], may: [...STEP, 'src/follower', 'src/mending'], packages: ['node'] },
  { of: ['src/passes/steps/send.ts'], may: [...STEP, 'src/passes/steps'] },
  {
    of: ['src/passes/steps/mint.ts', 'src/passes/steps/send-round.ts'],
    may: [...STEP, 'src/passes/steps', 'src/passes/steps/send.ts'],
  },
  {
    of: ['src/passes/payments.ts', 'src/passes/credit.ts'],
    may: [
      ...[...STEP, 'src/follower', 'src/mending', 'src/books', 'src/passes', 'src/passes/steps'],
      ...['src/passes/steps/mint.ts', 'src/passes/steps/send-round.ts', 'src/passes/steps/send.ts'],
    ],
  },
  { of: ['src/passes'], may: [...STEP, 'src/follower'], packages: ['node'] },
  { of: ['src/claims'], may: [...STEP, 'src/mending'], packages: ['node'] },
  { of: ['src/price/price.ts'], may: STEP },
  { of: ['src/price/eth-usd.ts'], may: ['src/lib'], packages: ['node', 'undici'] },

  {
    of: ['src/operator'],
    may: [
      ...STEP,
      'src/db/reads',
      'src/follower',
      'src/mending',
      'src/passes/steps',
      'src/chain/factory/owner-calls.ts',
      'src/chain/factory/bounds.ts',
      'src/operator/acts/keys/webauthn.ts',
      'src/operator/columns.ts',
    ],
    packages: ['node'],
  },
  { of: ['src/operator/columns.ts'], may: [] },
  { of: ['src/operator/acts/keys/webauthn.ts'], may: ['src/domain'], packages: ['node', '@simplewebauthn/server'] },
  {
    of: ['src/http'],
    may: [
      ...[
        'src/domain',
        'src/db',
        'src/db/reads',
        ...CHAIN_TYPES,
        'src/operator',
        'src/operator/acts/keys/webauthn.ts',
        'src/ports',
        'src/price/price.ts',
        'web/src/words',
      ],
      'src/lib',
    ],
    packages: ['node', 'find-my-way', 'yaml'],
  },
  {
    of: ['src/webhooks'],
    may: ['src/domain', 'src/db', 'src/lib'],
    packages: ['node', 'nodemailer'],
  },
  {
    of: ['src/metrics'],
    may: ['src/domain', 'src/db', 'src/db/reads', ...CHAIN_TYPES, 'src/lib'],
    packages: ['node', 'prom-client'],
  },
  { of: ['src/mending/rebuild'], may: [...STEP, 'src/follower', 'src/books', 'src/passes/steps'] },

  {
    of: ['src/config'],
    may: ['src/lib', 'src/domain', 'src/chain/digest.ts', 'src/chain/send/kms/key.ts'],
    packages: ['node'],
  },
  { of: ['src/config/load.ts'], may: ['src/config', 'src/lib'], packages: ['node'] },
  {
    of: ['src/boot/keys.ts'],
    may: ['src/config', 'src/config/load.ts', 'src/chain/send/kms', 'src/chain/send'],
  },
  { of: ['src/boot/embedded.ts'], may: ['packages/embed', 'src/lib'], packages: ['node'] },
  { of: ['src/boot/database.ts'], may: ['src/config/load.ts', 'src/boot/embedded.ts'] },
  { of: ['src/boot/secrets.ts'], may: ['src/lib'], packages: ['node'] },
  {
    of: ['src/boot/parts.ts'],
    may: [...WIRING, 'src/chain/send', 'src/boot/keys.ts', 'src/boot/embedded.ts', 'src/boot/database.ts'],
    packages: ['node'],
  },
  {
    of: ['src/checks'],
    may: [
      ...[...WIRING, 'src/db/reads', 'src/chain/send', 'src/ports', 'src/follower', 'src/passes/steps', 'src/webhooks'],
      ...[
        'src/boot/database.ts',
        'src/boot/embedded.ts',
        'src/boot/first-values.ts',
        'src/boot/keys.ts',
        'src/boot/parts.ts',
      ],
    ],
  },
  { of: ['src/boot/seed.ts', 'src/boot/first-values.ts'], may: ['src/config/load.ts', 'src/domain', 'src/db'] },
  {
    of: ['src/boot/preflight.ts'],
    may: [
      ...[...WIRING, 'src/boot/database.ts', 'src/boot/parts.ts', 'src/boot/seed.ts'],
      ...['src/checks', 'src/operator', 'src/ports'],
    ],
    packages: ['node'],
  },
  {
    of: ['src/boot/pass-context.ts'],
    may: [...[...WIRING, 'src/chain/send', 'src/boot/parts.ts', 'src/ports'], 'src/operator'],
  },
  {
    of: ['src/boot/app.ts'],
    may: [
      ...[
        ...WIRING,
        'src/chain/pages/wallets.ts',
        'src/price/eth-usd.ts',
        'src/http',
        'src/metrics',
        'src/webhooks',
        'src/boot/embedded.ts',
        'src/boot/parts.ts',
      ],
      ...['src/boot/pass-context.ts', 'src/boot/preflight.ts', 'src/passes', 'src/ports'],
      ...['src/passes/payments.ts', 'src/passes/credit.ts'],
      ...['src/claims', 'src/price/price.ts'],
    ],
    packages: ['node'],
  },
  { of: ['src/cli'], may: ['src/**', 'api'], packages: ['node', 'viem'] },
  { of: ['src/main.ts'], may: ['src/cli'], packages: ['node'] },

  { of: ['api'], may: [] },
  { of: ['client/src'], may: [] },
  { of: ['client/src/viem'], may: ['client/src'], packages: ['viem'] },
  { of: ['client/test'], may: ['client/src'] },
  {
    of: ['web/src'],
    may: ['client/src', 'client/src/viem', 'web/src/words'],
    packages: ['@tanstack/react-query', 'react', 'viem'],
  },
  { of: ['web/src/words'], may: [], packages: ['react'] },
  {
    of: ['web/src/ui'],
    may: ['client/src', 'web/src', 'web/src/words'],
    packages: ['@tanstack/react-query', 'react', 'react-dom', 'wouter'],
  },
  {
    of: ['web/src/wallet'],
    may: ['client/src', 'client/src/viem', 'web/src', 'web/src/ui', 'web/src/words'],
    packages: ['@tanstack/react-query', 'react', 'uqr', 'viem', 'wagmi'],
  },
  {
    of: ['web/src/pages'],
    may: ['client/src', 'client/src/viem', 'web/src', 'web/src/ui', 'web/src/wallet', 'web/src/words'],
    packages: ['@tanstack/react-query', 'react', 'viem', 'wouter'],
  },
  { of: ['web/src/keep'], may: ['client/src', 'client/src/viem', 'web/src'], packages: ['viem'] },
  {
    of: ['web/src/console'],
    may: ['api', 'client/src', 'src/operator/columns.ts', 'web/src', 'web/src/ui'],
    packages: ['@simplewebauthn/browser', '@tanstack/react-query', 'react', 'wouter'],
  },
  {
    of: ['web/src/app.tsx', 'web/src/main.tsx'],
    may: ['web/src/**', 'client/src'],
    packages: ['@tanstack/react-query', 'react', 'react-dom', 'wouter'],
  },
  {
    of: ['web/vite.config.ts'],
    may: ['web/contents.ts', 'web/reference.ts'],
    packages: ['@vitejs/plugin-react', 'marked', 'node', 'viem', 'vite'],
  },
  { of: ['web/reference.ts'], may: ['web/contents.ts'], packages: ['marked', 'node', 'yaml'] },
  { of: ['web/contents.ts'], may: [], packages: [] },

  // Not in a production tree, because only src/boot/embedded.ts loads it.
  {
    of: ['packages/embed'],
    may: ['src/chain/factory/deploy.ts', 'src/domain', 'src/lib'],
    packages: ['node'],
  },

  { of: ['bin'], may: [], packages: ['node'] },
  {
    of: ['scripts'],
    may: ['src/**', 'packages/embed', 'test', 'contracts/tools', 'client/src/viem'],
    packages: ['node', 'playwright-core', 'postgres', 'viem', 'vite', 'yaml'],
  },
  { of: ['bench'], may: ['src/**', 'packages/embed', 'test'], packages: ['node', 'undici', 'viem'] },
  // Listed so that other layers may import them. Their own imports are not checked.
  { of: ['test', 'contracts/tools'], may: [] },
]

/** Modules that `of` cannot reach by any chain of imports, so that it cannot send. */
const UNREACHABLE = {
  of: ['src/http', 'src/operator', 'src/mending', 'src/mending/rebuild', 'src/books', 'src/claims'],
  never: SENDING,
}

/** Files that the table covers. `bench/peers` holds other programs' code. */
const CHECKED = ['{src,scripts,bench,bin,client/src,client/test,web/src,packages}/**/*.{ts,tsx,mts,js,mjs}', 'web/*.ts']
const EXCLUDED = ['bench/peers/**', '**/node_modules/**']

/** The names under which packages of this repository are imported. */
const OWN_PACKAGES: Readonly<Record<string, string>> = {
  '@node-ledger/client': 'client/src/index.ts',
  '@node-ledger/client/viem': 'client/src/viem/index.ts',
}

/** The imports of a file: module names as written. Null means a computed name. */
export function importsOf(path: string, text: string): (string | null)[] {
  const { program, errors } = parseSync(path, text)
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`)
  const found: (string | null)[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    // Covers imports, exports from, import() and import('…') types; the last is `import x = require('…')`.
    const { type, source, expression } = node as { type?: string; source?: unknown; expression?: unknown }
    if (source && (type?.startsWith('Import') || type?.startsWith('Export') || type === 'TSImportType')) {
      found.push(literal(source))
    }
    if (type === 'TSExternalModuleReference') found.push(literal(expression))
    for (const child of Object.values(node)) visit(child)
  }
  visit(program)
  return found
}

/** The text of a literal, or of a template without placeholders; null for anything else. */
function literal(node: unknown): string | null {
  const { value, quasis } = node as { value?: unknown; quasis?: { value: { cooked: string } }[] }
  if (typeof value === 'string') return value
  return quasis?.length === 1 ? (quasis[0]?.value.cooked ?? null) : null
}

const UNITS = LAYERS.flatMap((layer) => layer.of.map((name) => ({ name, layer })))
const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)

function unitOf(path: string) {
  const owners = UNITS.filter(({ name }) => isIn(path, name))
  return owners.reduce<(typeof UNITS)[number] | null>(
    (longest, unit) => (longest && longest.name.length > unit.name.length ? longest : unit),
    null,
  )
}

/** The path in this repository; null if the import is a package. */
export function target(path: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return join(dirname(path), specifier)
  return OWN_PACKAGES[specifier] ?? null
}

/** Every import that the table forbids, and every path to an unreachable module, as sentences. */
export function checkImports(sources: ReadonlyMap<string, string>): string[] {
  const problems: string[] = []
  const graph = new Map<string, string[]>()
  for (const [path, text] of sources) {
    const unit = unitOf(path)
    if (!unit) problems.push(`${path} belongs to no layer: name it in scripts/imports.ts`)
    const targets: string[] = []
    for (const specifier of importsOf(path, text)) {
      const to = specifier === null ? null : target(path, specifier)
      if (to !== null) targets.push(to)
      if (unit && !isAllowed(unit, specifier, to)) {
        problems.push(
          `${path} may not import ${to ?? specifier ?? 'what it computes'}: ${unit.name} has its list in scripts/imports.ts`,
        )
      }
    }
    graph.set(path, targets)
  }
  return [...problems, ...reachProblems(graph)]
}

function isAllowed({ name, layer }: (typeof UNITS)[number], specifier: string | null, to: string | null): boolean {
  if (specifier === null) return false
  if (to === null) {
    const plain = specifier.startsWith('node:') ? 'node' : specifier
    return (layer.packages ?? []).some((each) => isIn(plain, each))
  }
  const owner = unitOf(to)?.name
  if (owner === undefined) return false
  return (
    owner === name ||
    layer.may.some((each) => each === owner || (each.endsWith('/**') && isIn(owner, each.slice(0, -3))))
  )
}

/** Walks from every file of `UNREACHABLE.of`, breadth first, so that it finds the shortest path. */
function reachProblems(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const ways = new Map<string, string>()
  for (const path of graph.keys()) if (UNREACHABLE.of.some((from) => isIn(path, from))) ways.set(path, path)
  // A Map also yields entries added during the walk.
  for (const [path, way] of ways) {
    for (const to of graph.get(path) ?? []) if (!ways.has(to)) ways.set(to, `${way} > ${to}`)
  }
  return [...ways]
    .filter(([path]) => UNREACHABLE.never.some((never) => isIn(path, never)))
    .map(([, way]) => `must not be reached: ${way}`)
}

/** Every file that the table covers, by its path. */
export function readSources(): Map<string, string> {
  const paths = globSync(CHECKED, { cwd: ROOT, exclude: EXCLUDED })
  return new Map(paths.sort().map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))
}

/** Names in the table that match nothing: the file does not exist, or no layer owns it. */
export function checkTable(): string[] {
  const names = UNITS.map(({ name }) => name)
  const listed = LAYERS.flatMap(({ may }) => may).filter((each) => !each.endsWith('**'))
  return [
    ...names.filter((name) => !existsSync(join(ROOT, name))).map((name) => `${name} does not exist`),
    ...[...new Set([...listed, ...UNREACHABLE.of, ...UNREACHABLE.never])]
      .filter((name) => !names.includes(name))
      .map((name) => `${name} is no folder or file of its own in the table`),
  ]
}
