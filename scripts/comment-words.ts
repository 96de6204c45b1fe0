// Counts words in comments that show private English, so that test/tidy.test.ts can limit them. It measures habits, not quality: only a reader can
// judge whether a sentence reads well. Uses the parser that builds the pages, because it is this project's one parser of TypeScript and JSX.
import { parseSync } from 'vite'

/** What is counted, and how often it may or must occur in 10,000 words of comments. The limits may only get tighter. */
const RATIOS: Readonly<Record<string, { words: RegExp; atMost?: number; atLeast?: number }>> = {
  'where (for a place only)': { words: /\bwhere\b/gi, atMost: 12 },
  if: { words: /\bif\b/gi, atLeast: 45 },
  because: { words: /\bbecause\b/gi, atLeast: 4 },
  'is asked, told, known or had': { words: /\b(is|are) (asked|told|known|had)\b/gi, atMost: 4 },
  'nobody, somebody, whoever, anew': { words: /\b(nobody|somebody|whoever|anew)\b/gi, atMost: 1 },
}

/** The text of a file's comments, without their marks. */
function commentsOf(path: string, text: string): string {
  const { comments, errors } = parseSync(path, text)
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`)
  return comments.map(({ value }) => value.replace(/^[\s*]+/gm, '')).join('\n')
}

/**
 * Counts over all comments of the sources, which are TypeScript by path.
 * @returns each count per 10,000 words, and a sentence for each count outside its limits.
 */
export function countWords(sources: ReadonlyMap<string, string>): { ratios: Record<string, number>; faults: string[] } {
  const text = [...sources].map(([path, source]) => (path.endsWith('.css') ? '' : commentsOf(path, source))).join('\n')
  const words = text.match(/\S*[A-Za-z]\S*/g)?.length ?? 0
  const ratios = Object.fromEntries(
    Object.entries(RATIOS).map(([name, { words: counted }]) => [
      name,
      words === 0 ? 0 : ((text.match(counted)?.length ?? 0) / words) * 10_000,
    ]),
  )
  const faults = Object.entries(RATIOS).flatMap(([name, { atMost = Infinity, atLeast = 0 }]) => {
    const ratio = ratios[name] ?? 0
    if (ratio > atMost) return `${name}: ${ratio.toFixed(1)} in 10,000 words of comments, at most ${atMost}`
    return ratio < atLeast ? `${name}: ${ratio.toFixed(1)} in 10,000 words of comments, at least ${atLeast}` : []
  })
  return { ratios, faults }
}
