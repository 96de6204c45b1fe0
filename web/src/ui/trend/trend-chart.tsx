// A plot by uPlot of several series over hours or days. A null value is unknown, so its place stays empty. The same
// stands beside the plot in words; the canvas itself is hidden from assistive technology.
import { useCallback } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { day, localTime, minuteOfDay } from '../../format.ts'
import { barPaths, figures, HEIGHT_PX, inUtc, lookOf, TIME_AXIS, useDrawing } from '../chart.tsx'

const HOUR_SEC = 3_600

export interface TrendSeries {
  label: string
  /** For drawing only; the legend is exact. */
  values: readonly (number | null)[]
  /** For one bin. */
  words: (index: number) => string
  shape: 'bars' | 'line'
}

export interface TrendChartProps {
  /** The start of each bin, oldest first. */
  at: readonly Date[]
  by: 'hour' | 'day'
  series: readonly TrendSeries[]
  /** The same in words. */
  children: React.ReactNode
}

/** Memoise `series` (`useMemo`), because the plot redraws when they change. */
export function TrendChart({ at, by, series, children }: TrendChartProps) {
  const drawInto = useCallback((host: HTMLElement) => draw(host, at, by, series), [at, by, series])
  const place = useDrawing(drawInto)
  return (
    <figure className="chart">
      <div ref={place} aria-hidden="true" />
      <figcaption>{children}</figcaption>
    </figure>
  )
}

function draw(host: HTMLElement, at: readonly Date[], by: 'hour' | 'day', series: readonly TrendSeries[]): uPlot {
  const { bars, line, axis } = lookOf(host)
  const stepSec = by === 'hour' ? HOUR_SEC : 24 * HOUR_SEC
  const first = (at[0]?.getTime() ?? 0) / 1000
  const last = (at.at(-1)?.getTime() ?? 0) / 1000
  // At rest the legend describes the newest bin.
  const shownAt = (index: number | null) => index ?? at.length - 1
  return new uPlot(
    {
      width: host.clientWidth,
      height: HEIGHT_PX,
      cursor: { y: false },
      // The last label on the time axis extends beyond the plot's own edge.
      padding: [null, 36, null, null],
      tzDate: inUtc,
      series: [
        { label: 'Time', value: (_plot, _value, _series, index) => span(at[shownAt(index)], by) },
        ...series.map(({ label, words, shape }) => ({
          label,
          spanGaps: false,
          ...(shape === 'bars'
            ? { fill: bars, points: { show: false }, ...(barPaths && { paths: barPaths }) }
            : { stroke: line, width: 2 }),
          value: (_plot: uPlot, _value: number, _series: number, index: number | null) => words(shownAt(index)),
        })),
      ],
      scales: {
        x: { range: [first, last + stepSec] },
        y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
      },
      axes: [
        { ...axis, ...TIME_AXIS },
        { ...axis, size: 64, values: figures },
      ],
    },
    // A value stands in the middle of its time.
    [at.map((time) => time.getTime() / 1000 + stepSec / 2), ...series.map(({ values }) => [...values])],
    host,
  )
}

/** The hour or the day of a bin, in UTC; for an hour also its start in local time. */
function span(at: Date | undefined, by: 'hour' | 'day'): string {
  if (!at) return '–'
  if (by === 'day') return `${day(at)}, UTC`
  const local = localTime(at)
  const utc = `${day(at)}, ${minuteOfDay(at)} to ${minuteOfDay(new Date(at.getTime() + HOUR_SEC * 1000))} UTC`
  return local ? `${utc}, from ${local} here` : utc
}
