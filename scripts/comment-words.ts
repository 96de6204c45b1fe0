// Counts words in comments, in names of tests and in names of locals that show private English, and finds such words in texts for users, so that
// test/tidy.test.ts can limit them. It measures habits, not quality: only a reader can judge whether a sentence reads well. Uses the parser that builds
// the pages, this project's one parser of TypeScript and JSX.
import { parseSync } from 'vite'

type Ratios = Readonly<Record<string, { words: RegExp; atMost?: number; atLeast?: number }>>

/** What is counted, and how often it may or must occur in 10,000 words of comments. The limits may only get tighter. */
const RATIOS: Ratios = {
  'where (for a place only)': { words: /\bwhere\b/gi, atMost: 12 },
  if: { words: /\bif\b/gi, atLeast: 45 },
  because: { words: /\bbecause\b/gi, atLeast: 4 },
  'is asked, told, known or had': { words: /\b(is|are) (asked|told|known|had)\b/gi, atMost: 4 },
  'nobody, somebody, whoever, anew': { words: /\b(nobody|somebody|whoever|anew)\b/gi, atMost: 1 },
}

/** The same without what must occur, because a test's name needs no condition and no reason. */
const RATIOS_OF_NAMES: Ratios = Object.fromEntries(Object.entries(RATIOS).filter(([, { atMost }]) => atMost))

/** Letters that a test's name may have, because it is read as one line of a report. The values of a template do not count. */
const NAME_LETTERS_MAX = 90
/** The functions that take a name first and a body later: those of node:test, then those of test/ that call them. */
const TAKERS = ['test', 'it', 'describe', 'inWorld', 'attack', 'onBoth', 'act']

/** Words of this project that no user knows: users read action, undo or cancel, takes effect, immediately. */
const DIALECT = /\b(?:an?|the|this|each|every|another|new) acts?\b|\btak(?:e|es|en) back\b|\bholds? from\b|\bat once\b/i
/** Such words in comments, where an act keeps its name. */
const DIALECT_IN_COMMENTS = /\bt(?:ak(?:e|es|en)|ook) back\b|\bholds? from\b|\bat once\b|\bthe rest\b/i
/** And in names of tests: only people say and tell. */
const DIALECT_IN_NAMES = new RegExp(`${DIALECT_IN_COMMENTS.source}|\\b(?:says?|said|tells?|told)\\b`, 'i')
/** Whose texts are for users. */
const READ_BY_USERS = /^(?:src\/|web\/src\/|client\/src\/).*\.tsx?$/

/** The parts of a call and of its arguments that show a name. */
interface Node {
  type?: string
  value?: unknown
  quasis?: { value: { cooked: string } }[]
  callee?: { name?: string; property?: { name?: string } }
  arguments?: Node[]
}

type Parsed = Pick<ReturnType<typeof parseSync>, 'program' | 'comments'>
/** Each check reads the same files, so each is parsed once. */
const parsedFiles = new Map<string, { text: string; parsed: Parsed }>()

function parse(path: string, text: string): Parsed {
  const earlier = parsedFiles.get(path)
  if (earlier?.text === text) return earlier.parsed
  const { program, comments, errors } = parseSync(path, text)
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`)
  const parsed = { program, comments }
  parsedFiles.set(path, { text, parsed })
  return parsed
}

/** What a file's nodes yield, in the order of the text. */
function collect(path: string, text: string, of: (node: Node & Pattern) => readonly string[]): string[] {
  const visit = (node: unknown): string[] =>
    typeof node === 'object' && node !== null
      ? [...of(node as Node & Pattern), ...Object.values(node).flatMap(visit)]
      : []
  return visit(parse(path, text).program)
}

/** The text of a file's comments, without their marks. */
const commentsOf = (path: string, text: string): string =>
  parse(path, text)
    .comments.map(({ value }) => value.replace(/^[\s*]+/gm, ''))
    .join('\n')

/** The names of a file's tests. Of a template this is the fixed part. Names from a table are not found. */
const namesOf = (path: string, text: string): string[] =>
  collect(path, text, ({ callee, arguments: [first, ...others] = [] }) => {
    const taker = callee?.name ?? callee?.property?.name ?? ''
    const name =
      typeof first?.value === 'string' ? first.value : first?.quasis?.map(({ value }) => value.cooked).join('')
    const isName = TAKERS.includes(taker) && others.some(({ type }) => type?.includes('Function'))
    return name !== undefined && isName ? [name] : []
  })

/** Counts in a text. @returns a sentence for each count outside its limits. */
function check(text: string, limits: Ratios, source: string): string[] {
  const words = text.match(/\S*[A-Za-z]\S*/g)?.length ?? 0
  return Object.entries(limits).flatMap(([name, { words: counted, atMost = Infinity, atLeast = 0 }]) => {
    const ratio = words === 0 ? 0 : ((text.match(counted)?.length ?? 0) / words) * 10_000
    const found = `${name}: ${ratio.toFixed(1)} in 10,000 words of ${source}`
    if (ratio > atMost) return `${found}, at most ${atMost}`
    return ratio < atLeast ? `${found}, at least ${atLeast}` : []
  })
}

/** Counts over all comments of the sources, which are TypeScript by path. @returns a sentence for each count outside its limits. */
export function checkComments(sources: ReadonlyMap<string, string>): string[] {
  const texts = [...sources].map(([path, source]) => (path.endsWith('.css') ? '' : commentsOf(path, source)))
  return check(texts.join('\n'), RATIOS, 'comments')
}

/** Counts over the names of all tests. @returns a sentence for each count outside its limits, and for each name that is too long or has a word of ours. */
export function checkNames(sources: ReadonlyMap<string, string>): string[] {
  const tests = [...sources].filter(([path]) => /^((client|contracts)\/)?test\//.test(path))
  const names = tests.flatMap(([path, source]) => namesOf(path, source).map((name) => ({ path, name })))
  const long = names.filter(({ name }) => name.length > NAME_LETTERS_MAX)
  const odd = names.filter(({ name }) => DIALECT_IN_NAMES.test(name))
  const text = names.map(({ name }) => name).join('\n')
  return [
    ...check(text, RATIOS_OF_NAMES, 'names of tests'),
    ...long.map(({ path, name }) => `${path}: ${name.length} letters, at most ${NAME_LETTERS_MAX}: ${name}`),
    ...odd.map(({ path, name }) => `${path}: a word of this project only: ${name}`),
  ]
}

/** A local that is named by what was done to it, such as `found`, in place of what it is, such as `candidate`. */
const PARTICIPLE =
  /^(?!(seed|feed|need|speed|embed|red)$)([a-z]+ed|asked|begun|bought|brought|chosen|done|drawn|found|given|gone|heard|held|kept|known|left|lost|made|meant|paid|said|seen|sent|shown|sold|spent|stolen|stood|taken|thrown|told|won|written)$/
/** The most of 100 locals of a room that may be named so. */
const PARTICIPLES_MAX = 1

interface Pattern {
  type: string
  name?: string
  shorthand?: boolean
  [key: string]: unknown
}

/** The names that a pattern chooses. What it takes apart under the field's own name is not its choice. */
function chosenBy(pattern: Pattern | null): string[] {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name ?? '']
    case 'ObjectPattern':
      return (pattern.properties as Pattern[]).flatMap((one) =>
        chosenBy(one.type === 'RestElement' ? one : one.shorthand ? null : (one.value as Pattern)),
      )
    case 'ArrayPattern':
      return (pattern.elements as Pattern[]).flatMap(chosenBy)
    case 'AssignmentPattern':
      return chosenBy(pattern.left as Pattern)
    case 'RestElement':
      return chosenBy(pattern.argument as Pattern)
    default:
      return []
  }
}

/** The names of a file's variables and parameters. */
const localsOf = (path: string, text: string): string[] =>
  collect(path, text, ({ type, id, params, body }) => {
    if (type === 'VariableDeclarator') return chosenBy(id as Pattern)
    return body && Array.isArray(params) ? params.flatMap(chosenBy) : []
  })

/** Counts participles among the locals of each room: a folder of src, the pages, the client. @returns a sentence for each room with too many. */
export function checkLocals(sources: ReadonlyMap<string, string>): string[] {
  const roomOf = (path: string) => path.match(/^(src\/[^/]+|web\/src|client\/src)\//)?.[1]
  const rooms = Map.groupBy([...sources], ([path]) => (/\.tsx?$/.test(path) ? roomOf(path) : undefined))
  return [...rooms].flatMap(([room, files]) => {
    if (room === undefined) return []
    const locals = files.flatMap(([path, text]) => localsOf(path, text))
    const participles = locals.filter((name) => PARTICIPLE.test(name))
    const share = (100 * participles.length) / locals.length
    if (!(share > PARTICIPLES_MAX)) return [] // NaN if there is no local.
    const names = [...new Set(participles)].sort().join(', ')
    return `${room}: ${share.toFixed(1)} % of ${locals.length} locals are participles, at most ${PARTICIPLES_MAX} %: ${names}`
  })
}

/** A file's texts: strings, templates and the text of elements. */
const textsOf = (path: string, text: string): string[] =>
  collect(path, text, ({ type, value }) => {
    if (type === 'JSXText' || type === 'Literal') return [String(value)]
    return type === 'TemplateElement' ? [(value as { cooked: string }).cooked] : []
  })

/** @returns each text for users, and each comment beside it, that has a word which its readers do not know. */
export function checkTexts(sources: ReadonlyMap<string, string>): string[] {
  const read = [...sources].filter(([path]) => READ_BY_USERS.test(path))
  return read.flatMap(([path, source]) => {
    const texts = DIALECT.test(source) ? textsOf(path, source).filter((text) => DIALECT.test(text)) : []
    const comments = DIALECT_IN_COMMENTS.test(source) ? commentsOf(path, source).split('\n') : []
    const odd = [...texts, ...comments.filter((line) => DIALECT_IN_COMMENTS.test(line))]
    return odd.map((text) => `${path}: ${text}`)
  })
}
