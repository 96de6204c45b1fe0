// A plot of amounts over time: a bar for each slot of a range, and the same in words.
import { useMemo, useState } from 'react'
import { type Bin, binsOf, type Point, pointsIn, RANGES, type Range, rangeFor, roundTop } from '../bins.ts'
import { etherAsNumber, everySpan, everyTime, shortEther, timeMark } from '../format.ts'
import { rich } from '../words/message.ts'
import { ui } from '../words/ui.ts'
import { Bars } from './bars.tsx'
import { Choice } from './choice.tsx'
import { Amount, Time } from './facts.tsx'

const t = ui.chart
/** The kinds of points, and the words for them. */
const OF = {
  round: { some: t.ofRounds, none: t.noRounds },
  credit: { some: t.ofCredits, none: t.noCredits },
}

interface PlotProps {
  /** Oldest first. */
  points: readonly Point[]
  what: keyof typeof OF
}

export function Plot({ points, what }: PlotProps) {
  const [openedAt] = useState(Date.now)
  const [range, choose] = useState<Range>(() => rangeFor(points, openedAt))
  const inRange = useMemo(() => pointsIn(points, range, openedAt), [points, range, openedAt])
  const { stepMs, bins } = useMemo(() => binsOf(points, range, openedAt), [points, range, openedAt])
  const [first, last] = [inRange[0], inRange.at(-1)]
  const words = {
    n: inRange.length,
    total: <Amount wei={inRange.reduce((sum, { wei }) => sum + wei, 0n)} plain />,
    first: <Time at={first?.at ?? null} />,
    last: <Time at={last?.at ?? null} />,
    span: everySpan(stepMs / 1000),
  }
  return (
    <figure className="chart">
      <Choice
        legend={t.range}
        options={Object.keys(RANGES) as Range[]}
        value={range}
        choose={choose}
        word={(one) => t.ranges[one]}
      />
      <Drawn bins={bins} stepMs={stepMs} />
      <figcaption>{first ? rich(OF[what].some, words) : OF[what].none}</figcaption>
    </figure>
  )
}

const BARS_LEAST = 12
/** Below fewer bars, two times would touch each other. */
const MARKED_LEAST = 6

function Drawn({ bins, stepMs }: { bins: readonly Bin[]; stepMs: number }) {
  const top = roundTop(bins.reduce((max, { wei }) => (wei > max ? wei : max), 0n))
  const [first, last] = [bins[0], bins.at(-1)]
  const marked =
    bins.length < MARKED_LEAST
      ? [first]
      : bins.length < BARS_LEAST
        ? [first, last]
        : [first, bins[bins.length >> 1], last]
  return (
    <Axes
      top={`${shortEther(top)} ETH`}
      marks={marked.map((bin) => bin?.from)}
      share={Math.min(1, bins.length / BARS_LEAST)}
      stepMs={stepMs}
    >
      <Bars
        least={BARS_LEAST}
        top={etherAsNumber(top)}
        bars={bins.map(({ from, wei }) => ({
          key: from.getTime(),
          value: etherAsNumber(wei),
          title: `${everyTime(from)}: ${shortEther(wei)} ETH`,
        }))}
      />
    </Axes>
  )
}

interface AxesProps {
  /** The value at the top, which is round. */
  top: string
  /** Times below the bars, from the first to the last. */
  marks: readonly (Date | undefined)[]
  /** How much of the width the bars take, from its right end. */
  share: number
  /** The time that a bar spans. */
  stepMs: number
  children: React.ReactNode
}

/** The frame around the bars: the value at its top, and times in the browser's zone. */
function Axes({ top, marks, share, stepMs, children }: AxesProps) {
  return (
    <div className="axes" aria-hidden="true">
      <p className="note">{top}</p>
      {children}
      <p className="note" style={{ width: `${share * 100}%` }}>
        {marks.map((at, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: places that never move
          <span key={index} title={at && everyTime(at)}>
            {at && timeMark(at, stepMs)}
          </span>
        ))}
      </p>
    </div>
  )
}
