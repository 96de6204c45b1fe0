// Limits sizes: no file above 400 lines, no function above 60, no folder above 24 files, except those listed with their reasons. The list may only
// shrink: an exception fails if the part is larger than it says, or no longer needs it.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
// The parser that builds the pages, because it is this project's one parser of TypeScript and JSX.
import { parseSync } from 'vite'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The limits: lines of a file, lines of a function, and files in a folder. */
export const LIMITS = { file: 400, function: 60, folder: 24 } as const
export type Kind = keyof typeof LIMITS

/** The parts above a limit (by path, or `path: function`), each with its size and its reason. */
export type Exceptions = Readonly<Record<Kind, Readonly<Record<string, readonly [size: number, why: string]>>>>

const CHECKED = [
  '{src,scripts,bin,bench,test,client/src,client/test,web/src,packages}/**/*.{ts,tsx,mjs,css}',
  'contracts/{test,tools}/**/*.ts',
]
/** Generated files, and code of other programs. */
const EXCLUDED = [
  'bench/peers/**',
  '**/node_modules/**',
  '**/dist/**',
  '**/*abi.ts',
  '**/*bytecode.ts',
  'client/src/schema.ts',
]

/** Every file to which the limits apply, by its path. */
export function readTidied(): Map<string, string> {
  const paths = globSync(CHECKED, { cwd: ROOT, exclude: EXCLUDED })
  return new Map(paths.sort().map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))
}

/** Measures everything, and returns the parts above their limits, by kind and name. */
export function measure(sources: ReadonlyMap<string, string>): Record<Kind, Map<string, number>> {
  const above: Record<Kind, Map<string, number>> = { file: new Map(), function: new Map(), folder: new Map() }
  const note = (kind: Kind, name: string, size: number) => size > LIMITS[kind] && above[kind].set(name, size)
  for (const [path, text] of sources) {
    note('file', path, text.split('\n').length - 1)
    if (!path.endsWith('.css'))
      for (const { name, lines } of functionsOf(path, text)) note('function', `${path}: ${name}`, lines)
  }
  for (const [folder, files] of Map.groupBy(sources.keys(), (path) => dirname(path)))
    note('folder', folder, files.length)
  return above
}

interface Node {
  type?: string
  start: number
  end: number
  id?: { name?: string } | null
  key?: { name?: string }
}

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']

/** The named functions of a file with their lines. The body of a test or a describe has no name, so it does not count. */
export function functionsOf(path: string, text: string): { name: string; lines: number }[] {
  const { program, errors } = parseSync(path, text)
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`)
  const found: { name: string; lines: number }[] = []
  const visit = (node: unknown, name: string | undefined): void => {
    if (typeof node !== 'object' || node === null) return
    if (Array.isArray(node)) {
      for (const each of node) visit(each, undefined)
      return
    }
    const { type, start, end, id, key } = node as Node
    const own = id?.name ?? key?.name ?? name
    if (type && FUNCTIONS.includes(type) && own !== undefined)
      found.push({ name: own, lines: text.slice(start, end).split('\n').length })
    const passes =
      type === 'VariableDeclarator' ||
      type === 'MethodDefinition' ||
      type === 'PropertyDefinition' ||
      type === 'Property'
    for (const [field, child] of Object.entries(node)) {
      visit(child, passes && (field === 'init' || field === 'value') ? own : undefined)
    }
  }
  visit(program, undefined)
  return found
}

/**
 * Compares sizes with the exceptions. @returns a sentence for each part that is too large, and for each exception that is too wide or no longer
 * needed.
 */
export function checkTidy(above: Record<Kind, ReadonlyMap<string, number>>, exceptions: Exceptions): string[] {
  return (Object.keys(LIMITS) as Kind[]).flatMap((kind) => {
    const unit = kind === 'folder' ? 'files' : 'lines'
    const allowed = new Map(Object.entries(exceptions[kind]))
    const large = [...above[kind]].flatMap(([name, size]) => {
      const most = allowed.get(name)?.[0]
      if (most === undefined)
        return `${name}: ${size} ${unit} are more than ${LIMITS[kind]}: cut it, or give its reason in scripts/tidy-exceptions.ts`
      if (size > most) return `${name}: ${size} ${unit} are more than the ${most} of its exception`
      return size < most ? `${name}: ${size} ${unit}, and its exception says ${most}: lower it` : []
    })
    const spare = [...allowed.keys()].filter((name) => !above[kind].has(name))
    return [...large, ...spare.map((name) => `${name}: its exception is no longer needed`)]
  })
}
