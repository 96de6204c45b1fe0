// The result of a bench: rows with our figure and the peer's side by side, the ratio, and the goal. Owns the format on
// the terminal and in RESULTS.md; measures nothing.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const RESULTS = fileURLToPath(new URL('../RESULTS.md', import.meta.url))
const INTRO = `# Results

Written by \`npm run bench\`; each table says by which command, on what machine, of which commit. What is measured and how is described in
[README.md](README.md).
`

/** One comparison. */
export interface Row {
  what: string
  ours: string
  /** The peer, and its figure. */
  peer: string
  ratio: number | null
  goal: string
  /** Null if there is no goal, or nothing to compare with. */
  met: boolean | null
}

/** A row whose ratio must reach a goal. */
export function atLeast(what: string, ours: string, peer: string, ratio: number, goal: number): Row {
  return { what, ours, peer, ratio, goal: `at least ${goal}`, met: ratio >= goal }
}

/** A row whose ratio must not exceed a goal. */
export function atMost(what: string, ours: string, peer: string, ratio: number, goal: number): Row {
  return { what, ours, peer, ratio, goal: `at most ${goal}`, met: ratio <= goal }
}

/** A row without a goal, which explains another one. */
export function asIs(what: string, ours: string, peer: string, ratio: number): Row {
  return { what, ours, peer, ratio, goal: '', met: null }
}

/** A row for what we could not measure here, and why. */
export function notMeasured(what: string, why: string): Row {
  return { what, ours: 'not measured', peer: why, ratio: null, goal: '', met: null }
}

/** The rows as a Markdown table, which is also readable in a terminal. */
export function table(rows: readonly Row[]): string {
  const header = ['', 'ours', 'against', 'ratio', 'goal', '']
  const cells = rows.map((row) => {
    const verdict = row.met === null ? '' : row.met ? 'met' : '**missed**'
    return [row.what, row.ours, row.peer, row.ratio?.toFixed(2) ?? '', row.goal, verdict]
  })
  const widths = header.map((name, i) => Math.max(3, name.length, ...cells.map((row) => row[i]?.length ?? 0)))
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n')
}

/** Replaces a bench's earlier section. `order` lists all sections. */
export function writeSection(name: string, text: string, order: readonly string[]): void {
  const before = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : INTRO
  const sections = new Map(
    before
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.split('\n', 1)[0] ?? '', section.trimEnd()]),
  )
  sections.set(name, `${name}\n\n${text}`)
  const kept = order.flatMap((one) => sections.get(one) ?? [])
  writeFileSync(RESULTS, `${[INTRO.trimEnd(), ...kept.map((section) => `## ${section}`)].join('\n\n')}\n`)
}
