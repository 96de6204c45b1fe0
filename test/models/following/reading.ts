// Which ranges a run reads, and when, as a second reading of docs/ARCHITECTURE.md (Following, Surveying): each range is read while the one before it is
// stored. Old blocks are surveyed, all others are read one by one, in ranges that get shorter towards the target.
import { paceAfter, type Step } from './pace.ts'

export interface Last {
  number: number
  /** It is another chain's block. */
  isOther: boolean
}
export interface World {
  start: number
  target: number
  surveyTo: number
  blocksMin: number
  /** The most blocks that are read one by one. */
  readMax: number
  /** How many ranges the run has time to begin. */
  time: number
  /** States of blocks below are not available. */
  statesFrom: number
  /** Each has as many candidates as one range may have. */
  busy: number[]
  /** A range from here on cannot be read. */
  faultFrom: number
  /** What follows each range: it is stored, or another instance has moved the cursor meanwhile. Then the run ends. */
  cursors: ('stored' | Last)[]
}

interface Range {
  last: number
  isSurveyed: boolean
  fails: boolean
}

interface Run {
  world: World
  lines: string[]
  pace: Step[]
  begun: number
  /** How many blocks were read one by one, of ranges that were not dropped. */
  read: number
}

/** The last block that a survey covers; null if it cannot be had. */
function surveyed({ busy, statesFrom }: World, from: number, end: number, parent: Last): number | null {
  if (parent.isOther || from - 1 < statesFrom) return null
  const second = busy.filter((block) => block >= from && block <= end)[1]
  return second === undefined ? end : second - 1
}

/** Reads the range after a block, if there is one, and notes what it asks for. */
function readAfter(run: Run, last: Last | null): Range | null {
  const { world, lines, pace } = run
  const from = last === null ? world.start : last.number + 1
  if (from > world.target || run.read >= world.readMax || run.begun >= world.time) return null
  run.begun++
  const { span, readTo } = paceAfter(pace, world.blocksMin)
  // Before the first block of all there is none from which a survey could begin.
  const parent = last ?? (from === 0 ? null : { number: from - 1, isOther: false })
  const end = Math.min(world.target, world.surveyTo, from + span - 1)
  if (parent !== null && from > readTo && end - from + 1 >= world.blocksMin) {
    lines.push(`surveys ${from} to ${end}`)
    const reached = surveyed(world, from, end, parent)
    if (reached !== null) {
      pace.push({ kind: 'succeeds', tookMs: 0, covered: reached < end ? reached - from + 1 : null })
      return { last: reached, isSurveyed: true, fails: false }
    }
    lines.push(`no survey from ${from}`)
    pace.push({ kind: 'fails', from })
  }
  // Half of what is left, so that the last range is short; never more than one transaction can store.
  const half = Math.ceil((world.target - from + 1) / 2)
  const most = Math.min(512, Math.max(64, half), world.readMax - run.read)
  const { readTo: untilSurvey } = paceAfter(pace, world.blocksMin)
  const to = Math.min(world.target, from + most - 1, untilSurvey >= from ? untilSurvey : world.target)
  lines.push(`reads ${from} to ${to} after ${parent === null ? 'none' : parent.isOther ? 'another' : parent.number}`)
  return { last: to, isSurveyed: false, fails: from >= world.faultFrom }
}

/** All that a run does, line by line. */
export function reading(world: World): string[] {
  const run: Run = { world, lines: [], pace: [], begun: 0, read: 0 }
  let from: Last | null = null
  let range = readAfter(run, from)
  for (const cursor of world.cursors) {
    if (range === null) return [...run.lines, 'has ended']
    if (range.fails) return [...run.lines, 'has failed']
    run.lines.push(`has ${range.last}`)
    if (!range.isSurveyed) run.read += range.last - (from === null ? world.start : from.number + 1) + 1
    const ahead = readAfter(run, { number: range.last, isOther: false })
    run.lines.push('next')
    from = cursor === 'stored' ? { number: range.last, isOther: false } : cursor
    // A range that was read ahead does not follow a cursor that was moved.
    range = cursor === 'stored' && ahead !== null ? ahead : readAfter(run, from)
  }
  return run.lines
}
