// The repository's documents, and the code in them: fenced blocks, and words in backticks.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Page {
  /** Path from the repository's root. */
  readonly path: string
  readonly text: string
}

/** A fenced block. */
export interface Block {
  readonly language: string
  readonly text: string
}

const PLACES = ['*.md', 'docs/**/*.md', 'test/*/README.md', 'test/README.md', 'client/README.md', 'bench/README.md']

/** Reads every document, except records of past runs and past changes. */
export function readPages(): Page[] {
  return globSync(PLACES, { cwd: ROOT })
    .filter((path) => path !== 'CHANGELOG.md')
    .sort()
    .map(readPage)
}

export function readPage(path: string): Page {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') }
}

/** Fenced blocks, in their order; an indented block loses its indentation. */
export function blocksOf({ text }: Page): Block[] {
  return [...text.matchAll(/^( *)```(\w*)[^\n]*\n([\s\S]*?)^ *```$/gm)].map(
    ([, indent = '', language = '', body = '']) => ({
      language,
      text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )
}

/** The document without its blocks. */
export const proseOf = ({ text }: Page): string => text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')

/** The texts in backticks outside blocks, on one line or two. */
export const spansOf = (page: Page): string[] =>
  [...proseOf(page).matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s*\n\s*/g, ' '))

/** The anchors of a document's headings, as GitHub and GitLab make them; a repeated heading gets a number. */
export function anchorsOf(page: Page): string[] {
  const seen = new Map<string, number>()
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => {
    const base = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const times = seen.get(base) ?? 0
    seen.set(base, times + 1)
    return times === 0 ? base : `${base}-${times}`
  })
}

/** The commands of a shell block: joins continued lines, drops comments. */
export function commandLines({ text }: Block): string[] {
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
}
