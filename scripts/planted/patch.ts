// Parses, applies and rewrites the patches of planted bugs. Pure: reads and writes no file. Never trusts a line number:
// a hunk's lines must occur in exactly one place, and it applies there.
import { createHash } from 'node:crypto'

/** One line of a hunk, and what the patch does with it. */
export interface HunkLine {
  readonly op: ' ' | '-' | '+'
  readonly line: string
}
export type Hunk = readonly HunkLine[]
export interface FileEdit {
  readonly file: string
  readonly hunks: readonly Hunk[]
}
export interface PlantedBug {
  readonly name: string
  /** Test files, the one most likely to notice first; or FORGE for all of forge's tests together. */
  readonly tests: readonly string[]
  /** Further lines of the header: why the change is a bug, if that is not obvious. */
  readonly notes: readonly string[]
  readonly edits: readonly FileEdit[]
}
export type Place = { readonly at: number } | { readonly problem: string }

/** Stands for forge's tests of the contracts in "Noticed by". */
export const FORGE = 'forge'

/**
 * Kinds of bugs that a group of tests must catch, by the letter in a patch's line "Kind:". If a bug has no kind, its
 * rule's own test catches it.
 */
export const KINDS: Readonly<Record<string, string>> = {
  a: 'the mode without a fork guard',
  b: 'the client’s verdicts on a service that lies',
  c: 'keys put together by hand',
  d: 'two transactions at once',
  e: 'long stretches',
  f: 'ties and second versions',
  g: 'odd but ordinary inputs',
  h: 'comparison by another key',
}

const TEST_LINE = /^Noticed by: (.+)$/
const KIND_LINE = /^Kind: (.+)$/
/** Lines that git writes between files. */
const GIT_LINE = /^(diff --git|index) /
/** The maximum lines of context. If a hunk needs more, the file repeats itself, and the bug belongs elsewhere. */
const CONTEXT_LINES_MAX = 12

/** Parses a patch. If it does not have the form that test/planted/README.md describes, throws with the reason. */
export function parsePatch(text: string): PlantedBug {
  const lines = text.replace(/\n$/, '').split('\n')
  const bodyAt = lines.findIndex((_, i) => startsFile(lines, i) || GIT_LINE.test(lines[i] ?? ''))
  const [name = '', ...header] = bodyAt < 0 ? lines : lines.slice(0, bodyAt)
  const tests = header.flatMap((line) => TEST_LINE.exec(line)?.[1] ?? [])
  const notes = header.filter((line) => line !== '' && !TEST_LINE.test(line))
  const edits = bodyAt < 0 ? [] : parseEdits(lines, bodyAt)
  if (name === '') throw new Error('its first line must be the name of the bug')
  const kind = kindOf({ notes })
  if (kind !== null && !(kind in KINDS)) throw new Error(`there is no kind ${kind}: ${Object.keys(KINDS).join(', ')}`)
  if (tests.length === 0) throw new Error('its header names no test: Noticed by: test/…')
  if (edits.length === 0) throw new Error('it changes no file')
  for (const { file, hunks } of edits) {
    const changeNothing = hunks.some((hunk) => hunk.every(({ op }) => op === ' '))
    if (hunks.length === 0 || changeNothing) throw new Error(`it changes nothing in ${file}`)
    if (hunks.some((hunk) => oldLines(hunk).length === 0))
      throw new Error(`a hunk of ${file} has no line to be found by`)
  }
  return { name, tests, notes, edits }
}

function parseEdits(lines: readonly string[], from: number): FileEdit[] {
  const edits: { file: string; hunks: HunkLine[][] }[] = []
  for (let i = from; i < lines.length; i++) {
    const line = lines[i] as string
    const hunks = edits.at(-1)?.hunks
    if (startsFile(lines, i)) {
      i++
      edits.push({ file: (lines[i] as string).slice('+++ b/'.length), hunks: [] })
    } else if (line.startsWith('@@ ')) hunks?.push([])
    else if (/^[ +-]/.test(line)) hunks?.at(-1)?.push({ op: line[0] as HunkLine['op'], line: line.slice(1) })
    // Some editors strip the space of an empty context line.
    else if (line === '') hunks?.at(-1)?.push({ op: ' ', line })
    else if (!GIT_LINE.test(line)) throw new Error(`line ${i + 1} is no part of a patch: ${line}`)
  }
  return edits
}

function startsFile(lines: readonly string[], i: number): boolean {
  return /^--- a\//.test(lines[i] ?? '') && /^\+\+\+ b\//.test(lines[i + 1] ?? '')
}

/** The letter of a bug's kind; null if its patch names none. */
export function kindOf({ notes }: Pick<PlantedBug, 'notes'>): string | null {
  return notes.flatMap((line) => KIND_LINE.exec(line)?.[1] ?? [])[0] ?? null
}

/** True if forge's tests must notice the bug. */
export function isForContracts({ tests }: PlantedBug): boolean {
  return tests.includes(FORGE)
}

/**
 * True if the bug of that name is in the slice, 'K/N' with K from 1. The slice depends on the name alone, so adding or
 * removing other bugs does not change it. Throws if the slice is malformed.
 */
export function isInSlice(name: string, slice: string): boolean {
  const [k = 0, n = 0] = (/^([1-9]\d*)\/([1-9]\d*)$/.exec(slice) ?? []).slice(1).map(Number)
  if (k < 1 || k > n) throw new Error(`--slice takes K/N, K from 1 to N, not ${slice}`)
  return createHash('sha256').update(name).digest().readUInt32BE() % n === k - 1
}

/** Formats a patch, with line numbers from the text that `read` returns for its files, so that git and patch can also apply it. */
export function formatPatch({ name, tests, notes, edits }: PlantedBug, read: (file: string) => string): string {
  const sections = edits.flatMap(({ file, hunks }) => {
    let shift = 0
    const body = hunks.flatMap((hunk) => {
      const place = findPlace(read(file), hunk)
      const start = 'at' in place ? read(file).slice(0, place.at).split('\n').length : 1
      const [before, after] = [oldLines(hunk).length, newLines(hunk).length]
      const head = `@@ -${start},${before} +${start + shift},${after} @@`
      shift += after - before
      return [head, ...hunk.map(({ op, line }) => op + line)]
    })
    return [`--- a/${file}`, `+++ b/${file}`, ...body]
  })
  const header = [
    name,
    '',
    ...notes,
    ...(notes.length > 0 ? [''] : []),
    ...tests.map((file) => `Noticed by: ${file}`),
    '',
  ]
  return `${[...header, ...sections].join('\n')}\n`
}

/** The file name of a bug's patch. */
export function patchFileName(name: string): string {
  const words = name
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
  return `${words.replaceAll(/^-|-$/g, '')}.patch`
}

/** The offset of the hunk's lines in the text, in characters. A problem unless they occur exactly once. */
function findPlace(text: string, hunk: Hunk): Place {
  const wanted = `\n${oldLines(hunk).join('\n')}\n`
  const inLines = `\n${text}`
  const first = inLines.indexOf(wanted)
  const shown = hunk.find(({ op }) => op !== ' ')?.line.trim()
  if (first < 0) return { problem: `stale: its lines are not there any more, around "${shown}"` }
  if (inLines.indexOf(wanted, first + 1) >= 0) {
    return { problem: `ambiguous: its lines stand in more than one place, around "${shown}"` }
  }
  return { at: first }
}

/** The text with all hunks applied. Throws if a hunk matches no place, or several. */
export function applyHunks(text: string, hunks: readonly Hunk[]): string {
  const places = hunks.map((hunk) => {
    const place = findPlace(text, hunk)
    if ('problem' in place) throw new Error(place.problem)
    return { ...place, hunk }
  })
  // Applied from the last to the first, so earlier offsets stay valid.
  return places
    .toSorted((a, b) => b.at - a.at)
    .reduce((changed, { at, hunk }) => {
      const end = at + `${oldLines(hunk).join('\n')}\n`.length
      return (
        changed.slice(0, at) +
        newLines(hunk)
          .map((line) => `${line}\n`)
          .join('') +
        changed.slice(end)
      )
    }, text)
}

/**
 * The hunk with the least context (at least one line) that makes it unique. To find its current place, it uses less and
 * less of the hunk's own context. Null if no part of the hunk occurs exactly once.
 */
export function refreshHunk(text: string, hunk: Hunk): Hunk | null {
  const first = hunk.findIndex(({ op }) => op !== ' ')
  const last = hunk.findLastIndex(({ op }) => op !== ' ')
  const choices: { from: number; to: number }[] = []
  for (let from = 0; from <= first; from++) for (let to = last + 1; to <= hunk.length; to++) choices.push({ from, to })
  choices.sort((a, b) => b.to - b.from - (a.to - a.from))
  for (const { from, to } of choices) {
    const part = hunk.slice(from, to)
    const place = oldLines(part).length > 0 ? findPlace(text, part) : { problem: '' }
    if ('problem' in place) continue
    const line = text.slice(0, place.at).split('\n').length - 1 + (first - from)
    return inContext(text, line, hunk.slice(first, last + 1))
  }
  return null
}

/** The changed lines, which begin at `line` (from 0), with the least context that is unique; null if there is none. */
function inContext(text: string, line: number, core: Hunk): Hunk | null {
  const lines = text.replace(/\n$/, '').split('\n')
  const end = line + oldLines(core).length
  const context = (from: number, to: number) =>
    lines.slice(Math.max(from, 0), to).map((each): HunkLine => ({ op: ' ', line: each }))
  for (let count = 1; count <= CONTEXT_LINES_MAX; count++) {
    const hunk = [...context(line - count, line), ...core, ...context(end, end + count)]
    if ('at' in findPlace(text, hunk)) return hunk
  }
  return null
}

function oldLines(hunk: Hunk): string[] {
  return hunk.filter(({ op }) => op !== '+').map(({ line }) => line)
}

function newLines(hunk: Hunk): string[] {
  return hunk.filter(({ op }) => op !== '-').map(({ line }) => line)
}
