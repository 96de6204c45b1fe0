// A plot of amounts over time by uPlot: a bar for each hour or day, a line for their sum. The same stands beside it in
// words; the canvas itself is hidden from assistive technology.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import { type Bin, binned, type Point, pointsIn, RANGES, type Range, rangeFor } from '../bins.ts'
import 'uplot/dist/uPlot.min.css'
import { day, etherAsNumber, exactTime, markOf, minuteOfDay, ownZone, roughEther, shortEther } from '../format.ts'
import { fill, rich } from '../words/message.ts'
import { ui } from '../words/ui.ts'
import { Choice } from './choice.tsx'
import { Amount } from './facts.tsx'

export const HEIGHT_PX = 220
const HOUR_MS = 3_600_000

const words = ui.chart
/** The kinds of points, and the words for them in the text beside the plot. */
const OF = {
  round: { some: words.ofRounds, none: words.noRounds },
  credit: { some: words.ofCredits, none: words.noCredits },
}
export type Plotted = keyof typeof OF

/** Draws `points`, oldest first. */
export function Chart({ points, what }: { points: readonly Point[]; what: Plotted }) {
  const [opened] = useState(Date.now)
  const [chosen, choose] = useState<Range>(() => rangeFor(points, opened))
  const shown = useMemo(() => pointsIn(points, chosen, opened), [points, chosen, opened])
  const { binMs } = RANGES[chosen]
  const drawShown = useCallback(
    (host: HTMLElement) => {
      const bins = binned(shown, binMs)
      return draw(host, bins, binMs, edgesOf(bins, RANGES[chosen], opened))
    },
    [shown, chosen, binMs, opened],
  )
  const place = useDrawing(drawShown)
  const total = shown.reduce((sum, { wei }) => sum + wei, 0n)
  const [first, last] = [shown[0], shown.at(-1)]
  return (
    <figure className="chart">
      <Choice
        legend={words.range}
        options={Object.keys(RANGES) as Range[]}
        chosen={chosen}
        choose={choose}
        word={(range) => words.ranges[range]}
      />
      <div ref={place} aria-hidden="true" />
      <figcaption>
        {first && last
          ? rich(OF[what].some, {
              n: shown.length,
              first: exactTime(first.at),
              last: exactTime(last.at),
              total: <Amount wei={total} plain />,
              bar: binMs === HOUR_MS ? words.barHour : words.barDay,
            })
          : fill(OF[what].none, { range: words.ranges[chosen] })}
        {first && ZONE !== null && ` ${words.zones}`}
      </figcaption>
    </figure>
  )
}

/** Draws into the element of the ref, and again if its size, the colours or `drawInto` change. */
export function useDrawing(drawInto: (host: HTMLElement) => uPlot) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const host = place.current
    if (!host) return
    let plot = drawInto(host)
    const resize = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: HEIGHT_PX }))
    resize.observe(host)
    // The canvas reads its colours once, so a change of theme redraws it.
    const redraw = () => {
      plot.destroy()
      plot = drawInto(host)
    }
    const scheme = window.matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', redraw)
    const theme = new MutationObserver(redraw)
    theme.observe(document.documentElement, { attributeFilter: ['data-theme', 'style'] })
    return () => {
      resize.disconnect()
      theme.disconnect()
      scheme.removeEventListener('change', redraw)
      plot.destroy()
    }
  }, [drawInto])
  return place
}

/** The plots' look in the page's theme: the colours of bars and lines, and an axis. */
export function lookOf(host: HTMLElement) {
  const style = getComputedStyle(host)
  // Custom properties arrive unresolved, so we read the two themes' colours from real ones.
  const { color: ink, borderTopColor: grid, outlineColor: bars, caretColor: line } = style
  const font = `12px ${style.fontFamily || 'sans-serif'}`
  const axis = { stroke: ink, font, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } }
  return { bars, line, axis }
}

function draw(host: HTMLElement, bins: readonly Bin[], binMs: number, edges: Edges): uPlot {
  const { bars, line, axis } = lookOf(host)
  const sums: bigint[] = []
  for (const { wei } of bins) sums.push((sums.at(-1) ?? 0n) + wei)
  const data: uPlot.AlignedData = [
    // A bar stands in the middle of its time.
    bins.map(({ from }) => (from.getTime() + binMs / 2) / 1000),
    bins.map(({ wei }) => etherAsNumber(wei)),
    sums.map(etherAsNumber),
  ]
  // At rest the legend describes the newest bar.
  const at = (index: number | null) => (index === null ? bins.length - 1 : index)
  const figure = (weis: readonly bigint[], index: number | null) => `${shortEther(weis[at(index)] ?? 0n)} ETH`
  const each = bins.map(({ wei }) => wei)
  const span = (index: number | null) => inWords(bins[at(index)], binMs)
  return new uPlot(
    {
      width: host.clientWidth,
      height: HEIGHT_PX,
      cursor: { y: false },
      tzDate: inUtc,
      series: [
        { label: words.time, value: (_plot, _value, _series, index) => span(index) },
        {
          label: binMs === HOUR_MS ? words.hour : words.day,
          scale: 'each',
          fill: bars,
          ...(barPaths && { paths: barPaths }),
          points: { show: false },
          value: (_plot, _value, _series, index) => figure(each, index),
        },
        {
          label: words.together,
          scale: 'all',
          stroke: line,
          width: 2,
          points: { show: bins.length === 1 },
          value: (_plot, _value, _series, index) => figure(sums, index),
        },
      ],
      scales: {
        x: { range: edges },
        each: { range: (_plot, _min, max) => [0, max * 1.1 || 1] },
        all: { range: (_plot, _min, max) => [0, max * 1.1 || 1] },
      },
      axes: [
        { ...axis, ...TIME_AXIS },
        { ...axis, scale: 'each', size: 64, values: figures },
        { ...axis, scale: 'all', side: 1, size: 64, grid: { show: false }, values: figures },
      ],
    },
    data,
    host,
  )
}

/** The start and the end of a range with all of its bars, in seconds. */
function edgesOf(bins: readonly Bin[], { backMs, binMs }: (typeof RANGES)[Range], nowMs: number): Edges {
  const [first = nowMs, last = nowMs] = [bins[0]?.from.getTime(), bins.at(-1)?.from.getTime()]
  const end = backMs === null ? last : Math.max(last, nowMs - binMs)
  return [(backMs === null ? first : Math.min(first, nowMs - backMs)) / 1000, (end + binMs) / 1000]
}

type Edges = [startSec: number, endSec: number]

/** The hour or the day of a bar. */
function inWords(bin: Bin | undefined, binMs: number): string {
  if (!bin) return '–'
  if (binMs !== HOUR_MS) return fill(words.utcDay, { day: day(bin.from) })
  return fill(words.utcHours, {
    day: day(bin.from),
    from: minuteOfDay(bin.from),
    to: minuteOfDay(new Date(bin.from.getTime() + binMs)),
  })
}

/** Bars are seven tenths of their slot wide, at most 24 pixels. */
export const barPaths = uPlot.paths.bars?.({ size: [0.7, 24] })
const atSec = (sec: number) => new Date(sec * 1000)
/** Tick marks are at the hours and days of UTC. */
export const inUtc = (sec: number): Date => uPlot.tzDate(atSec(sec), 'UTC')
const DAY_SEC = 86_400
const ZONE = ownZone()
/** In UTC like all written times, and in the browser's zone: the day if marks are days apart, else the time of day. */
export const TIME_AXIS: uPlot.Axis = {
  space: ZONE === null ? 72 : 96,
  size: ZONE === null ? 50 : 64,
  values: (_plot, secs, _axis, _space, stepSec) =>
    secs.map((sec) => markOf(atSec(sec), stepSec < DAY_SEC ? 'hour' : 'day', ZONE)),
}
export const figures = (_plot: uPlot, values: number[]) => values.map(roughEther)
