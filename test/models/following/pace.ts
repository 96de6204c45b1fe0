// How many blocks a survey covers, as a second reading of docs/ARCHITECTURE.md (Old blocks): ranges double while surveys take less than 15 s, and are an eighth after a failure,
// behind blocks that are read one by one, whose number doubles with each failure in a row.

export type Step = { kind: 'succeeds'; tookMs: number; covered: number | null } | { kind: 'fails'; from: number }

/** How long the next range is, and up to which block a run reads one by one, after all that happened. */
export function paceAfter(steps: Step[], least: number): { span: number; readTo: number } {
  const bounded = (blocks: number) => Math.min(256 * least, Math.max(least, blocks))
  let [span, readTo] = [16 * least, -1]
  for (const [n, step] of steps.entries()) {
    if (step.kind === 'succeeds') {
      const length = step.covered ?? span
      span = bounded(step.tookMs > 15_000 ? Math.floor(length / 2) : 2 * length)
      continue
    }
    span = bounded(Math.floor(span / 8))
    const before = steps
      .slice(0, n)
      .toReversed()
      .findIndex(({ kind }) => kind === 'succeeds')
    const inARow = before < 0 ? n : before
    readTo = step.from - 1 + Math.max(span, Math.min(256, 2 ** inARow) * least)
  }
  return { span, readTo }
}
