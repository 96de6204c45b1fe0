// Mutants of SQL. Stryker only empties a statement, which every test that runs it notices. These change what it means: a comparison, a side of a join, an
// order, a bound, an assignment.

// The parser that builds the pages, because it is this project's one parser of TypeScript.
import { parseSync } from 'vite'

/** One change of a template: `put` stands for the `length` characters at `at` of its part `part`. */
export interface SqlEdit {
  part: number
  at: number
  length: number
  put: string
}

export interface SqlMutant extends SqlEdit {
  id: string
  mutatorName: string
  replacement: string
  location: { start: { line: number } }
}

interface Node {
  type: string
  start: number
  end: number
}
interface Template extends Node {
  quasis: (Node & { value: { raw: string; cooked: string } })[]
}
interface Tagged extends Node {
  tag: Node
  quasi: Template
}

const isKeyword = /\b(SELECT|FROM|WHERE|AND|OR|NOT|CASE|ORDER BY|IS|SET|coalesce\(|EXISTS)/

/** What to find in a statement, and what replaces it. An empty replacement removes the text. */
const CHANGES: readonly { name: string; from: RegExp; to: (found: string) => string }[] = [
  { name: 'SqlLogical', from: /(?<!BETWEEN [^ ]+ )\bAND\b|\bOR\b(?! REPLACE)/g, to: swap('AND', 'OR') },
  { name: 'SqlNot', from: /\bNOT (?!NULL|MATERIALIZED|VALID)|\bIS NOT\b|\bIS\b(?! NOT)/g, to: negate },
  { name: 'SqlComparison', from: /(?<= )(<=|>=|<>|<|>)(?= |$)/g, to: boundary },
  { name: 'SqlArithmetic', from: /(?<= )[+-](?= |$)/g, to: swap('+', '-') },
  { name: 'SqlOrder', from: /\bDESC\b|\bASC\b/g, to: swap('DESC', 'ASC') },
  { name: 'SqlOrder', from: /(?<=\bORDER BY [\w.]+)(?=[ ,)]|$)(?! DESC| ASC)/g, to: () => ' DESC' },
  { name: 'SqlAggregate', from: /\b(min|max)\(/g, to: swap('min(', 'max(') },
  { name: 'SqlAggregate', from: /\b(least|greatest)\(/g, to: swap('least(', 'greatest(') },
  { name: 'SqlAggregate', from: /\bbool_(and|or)\(/g, to: swap('bool_and(', 'bool_or(') },
  { name: 'SqlAggregate', from: /\bsum\(/g, to: () => 'max(' },
  { name: 'SqlJoin', from: /\bLEFT JOIN\b/g, to: () => 'JOIN' },
  { name: 'SqlJoin', from: /\bUNION ALL\b/g, to: () => 'UNION' },
  { name: 'SqlJoin', from: /\bDISTINCT (?!ON|FROM)/g, to: () => '' },
  { name: 'SqlBoolean', from: /\b(true|false)\b/g, to: swap('true', 'false') },
  { name: 'SqlNumber', from: /(?<![\w.$'{:])\d+(?![\w.'])/g, to: (number) => String(BigInt(number) + 1n) },
  {
    name: 'SqlAssignment',
    from: /(?<=\bSET\b[^;]*), \w+ = (NULL|true|false|\w+|now\(\))(?=,|\s)(?! [+\-*/])/g,
    to: () => '',
  },
]

function swap(one: string, other: string): (found: string) => string {
  return (found) => (found === one ? other : one)
}

function boundary(found: string): string {
  return { '<': '<=', '<=': '<', '>': '>=', '>=': '>', '<>': '=' }[found] ?? found
}

function negate(found: string): string {
  if (found === 'IS') return 'IS NOT'
  return found === 'IS NOT' ? 'IS' : ''
}

/** Wraps each template with SQL, so that the hook (hook.ts) can change it. @returns the new text, and its mutants, numbered from `firstTemplate`. */
export function wrapSql(path: string, source: string, hook: string, firstTemplate: number) {
  const inserts: [at: number, text: string][] = []
  const mutants: SqlMutant[] = []
  const words = new Set<string>()
  const templates: { template: Template; tag: Node | null }[] = []
  visit(parseSync(path, source).program, null, (node, parent) => {
    if (node.type !== 'TemplateLiteral') return
    const template = node as Template
    const tag = parent?.type === 'TaggedTemplateExpression' ? (parent as Tagged).tag : null
    if (tag === null && !template.quasis.some(({ value }) => isKeyword.test(value.raw))) return
    templates.push({ template, tag })
    for (const { value } of template.quasis)
      for (const [, word = ''] of value.cooked.matchAll(/'(\w+)'/g)) words.add(word)
  })
  let next = firstTemplate
  for (const { template, tag } of templates) {
    const edits = template.quasis.flatMap((quasi, part) =>
      editsOf(quasi, { part, words: [...words], line: lineAt(source, quasi) }),
    )
    if (edits.length === 0) continue
    const number = next++
    mutants.push(...edits.map((edit) => ({ ...edit, id: `sql${number}:${edit.part}:${edit.at}:${edit.put}` })))
    inserts.push([tag?.start ?? template.start, tag ? 'mutateTag(' : `mutateText(${number})`])
    if (tag) inserts.push([tag.end, `, ${number})`])
  }
  const import_ = `\nimport { mutateTag, mutateText } from ${JSON.stringify(hook)}\nvoid mutateTag\nvoid mutateText\n`
  return { text: insertAll(source, inserts) + import_, mutants, wrapped: next - firstTemplate }
}

interface Place {
  part: number
  /** The line in which the part begins. */
  line: number
  /** Every literal of the file. */
  words: readonly string[]
}

function editsOf({ value }: Template['quasis'][number], { part, line: first, words }: Place): Omit<SqlMutant, 'id'>[] {
  const text = value.cooked.replaceAll(/--.*/g, (comment) => ' '.repeat(comment.length))
  const edit = (mutatorName: string, at: number, found: string, put: string) => {
    const before = text.slice(0, at)
    const line = first + before.split('\n').length - 1
    const replacement = `${before.split(/\s+/).slice(-3).join(' ')}[${found} -> ${put}]${text
      .slice(at + found.length)
      .split(/\s+/)
      .slice(0, 3)
      .join(' ')}`
    return { part, at, length: found.length, put, mutatorName, replacement, location: { start: { line } } }
  }
  const changes = CHANGES.flatMap(({ name, from, to }) =>
    [...text.matchAll(from)].map((match) => edit(name, match.index, match[0], to(match[0]))),
  )
  // The next word of the same file is the likeliest mistake.
  const others = [...text.matchAll(/'(\w+)'/g)].flatMap((match) => {
    const next = words[(words.indexOf(match[1] as string) + 1) % words.length]
    return next === match[1] ? [] : [edit('SqlWord', match.index, match[0], `'${next}'`)]
  })
  const equal = [...text.matchAll(/(?<= )=(?= |$)/g)]
    .filter(({ index }) => !isAssigned(text.slice(0, index)))
    .map(({ index }) => edit('SqlComparison', index, '=', '<>'))
  return [...changes, ...others, ...equal]
}

/** True if an `=` after this text assigns: it comes after SET, or stands in a fragment and names a bare column. */
function isAssigned(before: string): boolean {
  const last = before.match(/\b(SET|WHERE|ON|AND|OR|WHEN|HAVING|FILTER|SELECT)\b/g)?.at(-1)
  return last === 'SET' || (last === undefined && !/\.\w+ $/.test(before))
}

const lineAt = (source: string, { start }: Node): number => source.slice(0, start).split('\n').length

function visit(node: unknown, parent: Node | null, see: (node: Node, parent: Node | null) => void): void {
  if (Array.isArray(node)) for (const each of node) visit(each, parent, see)
  if (Array.isArray(node) || node === null || typeof node !== 'object' || !('type' in node)) return
  see(node as Node, parent)
  for (const [key, child] of Object.entries(node)) if (key !== 'parent') visit(child, node as Node, see)
}

function insertAll(source: string, inserts: [at: number, text: string][]): string {
  return inserts
    .toSorted(([a], [b]) => b - a)
    .reduce((text, [at, put]) => text.slice(0, at) + put + text.slice(at), source)
}
