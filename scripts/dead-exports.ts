// Finds unused code: exports that no other file imports, and files that no file imports and no command starts. Ignores
// types, because an exported function needs its types exported. test/tidy.test.ts checks that nothing is unused. Uses
// the parser that builds the pages, because it is this project's one parser of TypeScript and JSX.
import { parseSync } from 'vite'
import { target } from './imports.ts'

/** Files that a command, a build, the test runner or a published package starts. Nothing imports them. */
const STARTED = [
  /^src\/main\.ts$/,
  /^bin\/|\.config\.ts$/,
  /^scripts\/((release\/)?[^/]+|mutation\/hook)\.ts$/,
  /^bench\/([^/]+|servers\/[^/]+)\.ts$/,
  /^(test|client\/test|contracts\/test)\/.*\.test\.ts$|^client\/test\/types\.ts$/,
  /^client\/src\/(viem\/)?index\.ts$/,
  /^client\/src\/schema\.ts$/,
  /^web\/src\/(main\.tsx|keep\/withdraw\.ts)$/,
]

interface Node {
  type: string
  source?: { value: string } | null
  declaration?: { type: string; id?: { name: string }; declarations?: { id: { name?: string } }[] } | null
  specifiers?: { type: string; exported?: { name: string }; imported?: { name: string }; local?: { name: string } }[]
  exportKind?: string
}

/** The values that a statement exports, by name. */
function exportsOf({ type, declaration, specifiers = [], exportKind }: Node): string[] {
  if (type !== 'ExportNamedDeclaration' || exportKind === 'type') return []
  if (declaration?.declarations) return declaration.declarations.flatMap(({ id }) => id.name ?? [])
  if (declaration?.id) return declaration.type.startsWith('TS') ? [] : [declaration.id.name]
  return specifiers.flatMap(({ exported }) => exported?.name ?? [])
}

type Taken = [specifier: string, name: string]

/** The names that a statement imports from its module; `*` means all. */
function takenBy({ type, source, specifiers = [] }: Node): Taken[] {
  if (!source) return []
  if (type === 'ExportAllDeclaration') return [[source.value, '*']]
  return specifiers.map(({ type: kind, imported, local }) => [
    source.value,
    kind === 'ImportNamespaceSpecifier' ? '*' : ((imported ?? local)?.name ?? '*'),
  ])
}

const SPECIFIER = /(?:import\()?['"`](\.{1,2}\/[^'"`\n]+\.(?:tsx?|mjs))['"`]/g

/**
 * The exports of a file, and what it uses of others: its imports, or a whole file if it imports that dynamically or
 * names it as a file to start.
 */
function read(path: string, text: string): { exported: string[]; taken: Taken[] } {
  const body = parseSync(path, text).program.body as unknown as Node[]
  const taken = body.flatMap(takenBy)
  const named = new Set(taken.map(([specifier]) => specifier))
  const whole = [...text.matchAll(SPECIFIER)].flatMap(([all, specifier = '']): Taken[] =>
    all.startsWith('import(') || !named.has(specifier) ? [[specifier, '*']] : [],
  )
  return { exported: body.flatMap(exportsOf), taken: [...taken, ...whole] }
}

/** Every dead export and every dead file, as sentences. */
export function findDead(sources: ReadonlyMap<string, string>): string[] {
  const code = [...sources].filter(([path]) => /\.(ts|tsx|mjs)$/.test(path))
  const files = new Map(code.map(([path, text]) => [path, read(path, text)]))
  const used = new Map<string, Set<string>>()
  for (const [path, { taken }] of files) {
    for (const [specifier, name] of taken) {
      const to = target(path, specifier)
      if (to !== null) used.set(to, (used.get(to) ?? new Set()).add(name))
    }
  }
  return [...files].flatMap(([path, { exported }]) => {
    const names = used.get(path)
    const isStarted = STARTED.some((pattern) => pattern.test(path))
    if (!names) return isStarted ? [] : [`${path} is imported by nothing`]
    if (names.has('*') || path.startsWith('client/src/')) return []
    return exported.filter((name) => !names.has(name)).map((name) => `${path}: nothing imports ${name}`)
  })
}
