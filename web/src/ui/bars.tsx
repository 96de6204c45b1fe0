// Bars in SVG, whose height shows their value. The page has the same in words, so assistive technology skips them.

import type { ReactNode } from 'react'

export interface Bar {
  key: string | number
  /** The bar's value, for drawing only; null if it is unknown. */
  value: number | null
  /** Shown on hover. */
  title: string
  tone?: 'good' | 'bad' | 'calm'
}

const WIDTH = 10
const GAP = 1.6
const HEIGHT = 100
/** The lowest height of a bar, so that a value above zero never looks like zero. */
const LEAST = 2

interface BarsProps {
  bars: readonly Bar[]
  /** Room for at least so many bars, so that few are not as wide as walls. They stand at its right end. */
  least?: number
  /** The value at full height. The highest bar's, if left out. */
  top?: number | undefined
}

export function Bars({ bars, least = 0, top }: BarsProps) {
  const max = Math.max(top ?? 0, ...bars.map(({ value }) => value ?? 0), Number.MIN_VALUE)
  const emptyCount = Math.max(0, least - bars.length)
  return (
    <svg
      className="bars"
      viewBox={`0 0 ${(emptyCount + bars.length) * WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {bars.map(({ key, value, title, tone }, index) => {
        const height = value ? Math.max(LEAST, (value / max) * HEIGHT) : 0
        const x = (emptyCount + index) * WIDTH
        return (
          <g key={key} className={tone}>
            <title>{title}</title>
            <rect className="slot" x={x} width={WIDTH} height={HEIGHT} />
            <rect x={x + GAP / 2} y={HEIGHT - height} width={WIDTH - GAP} height={height} />
          </g>
        )
      })}
    </svg>
  )
}

/** Room for so many, so that the first are not as wide as walls. */
const COURSE_LEAST = 6

interface CourseProps {
  bars: readonly Bar[]
  /** What the terms allow at most. Drawn above the bars, unless one is higher, by earlier terms. */
  most: { value: number; text: string } | null
  /** What the bars show. */
  shown: string
  next?: ReactNode
}

/** Bars on a line, below the most that they can reach. Under them, in words, what they show and what comes next. */
export function Course({ bars, most, shown, next }: CourseProps) {
  const top = most && bars.every(({ value }) => (value ?? 0) <= most.value) ? most : null
  return (
    <div className="course">
      {top && <p className="most">{top.text}</p>}
      <Bars least={COURSE_LEAST} bars={bars} top={top?.value} />
      <p className="bar">
        <span>{shown}</span>
        {next && <span>{next}</span>}
      </p>
    </div>
  )
}
