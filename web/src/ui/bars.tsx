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
  /** Room for at least so many bars, so that few are not as wide as walls. They stand at its right end. An empty place shows a low line. */
  least?: number
  /** The value at full height. The highest bar's, if left out. */
  top?: number
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
      {Array.from({ length: emptyCount }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: places that never move
        <rect key={`none ${at}`} x={at * WIDTH + GAP / 2} y={HEIGHT - LEAST} width={WIDTH - GAP} height={LEAST} />
      ))}
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

/** Bars on a line. Below it, in words, what they show and what comes next. */
export const Course = ({ bars, shown, next }: { bars: readonly Bar[]; shown: string; next?: ReactNode }) => (
  <div className="course">
    <Bars least={COURSE_LEAST} bars={bars} />
    <p className="bar">
      <span>{shown}</span>
      {next && <span>{next}</span>}
    </p>
  </div>
)
