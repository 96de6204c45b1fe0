// A plot of amounts over time by uPlot: bars for each event, a line for their sum. Beside it stands the same in words and, for
// assistive technology, as a table; the canvas itself is hidden from it.
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { day, ether, exactTime, timeOfDay } from '../format.ts'

export interface Point {
  at: Date
  wei: bigint
}

const HEIGHT_PX = 220
/** Ether as a number is for drawing only; every figure in words is exact. */
const drawn = (wei: bigint) => Number(wei) / 1e18

/** Draws `points`, oldest first. `what` names one of them, as in "round". */
export function Chart({ points, what }: { points: readonly Point[]; what: string }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const host = place.current
    if (!host) return
    let plot = draw(host, points, what)
    const resize = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: HEIGHT_PX }))
    resize.observe(host)
    // The canvas takes its colours once: a change of theme redraws it.
    const redraw = () => {
      plot.destroy()
      plot = draw(host, points, what)
    }
    const scheme = window.matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', redraw)
    const theme = new MutationObserver(redraw)
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      resize.disconnect()
      theme.disconnect()
      scheme.removeEventListener('change', redraw)
      plot.destroy()
    }
  }, [points, what])
  const total = points.reduce((sum, { wei }) => sum + wei, 0n)
  const [first, last] = [points[0], points.at(-1)]
  return (
    <figure className="chart">
      <div ref={place} aria-hidden="true" />
      <figcaption>
        {first && last
          ? `${points.length} ${what}${points.length === 1 ? '' : 's'} from ${exactTime(first.at)} to ${exactTime(last.at)}, ${ether(total)} ETH in all.`
          : `No ${what} yet.`}
      </figcaption>
    </figure>
  )
}

function draw(host: HTMLElement, points: readonly Point[], what: string): uPlot {
  const style = getComputedStyle(host)
  const colour = (name: string) => style.getPropertyValue(name)
  // Custom properties come unresolved, so the two themes' colours are taken from real ones.
  const ink = style.color
  const grid = style.borderTopColor
  const bars = style.outlineColor
  const line = style.caretColor
  const font = `12px ${colour('font-family') || 'sans-serif'}`
  let sum = 0n
  const data: uPlot.AlignedData = [
    points.map(({ at }) => at.getTime() / 1000),
    points.map(({ wei }) => drawn(wei)),
    points.map(({ wei }) => {
      sum += wei
      return drawn(sum)
    }),
  ]
  const axis = { stroke: ink, font, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } }
  return new uPlot(
    {
      width: host.clientWidth,
      height: HEIGHT_PX,
      cursor: { y: false },
      tzDate: (sec) => uPlot.tzDate(atSec(sec), 'UTC'),
      series: [
        { label: 'time', value: (_plot, sec: number | null) => (sec === null ? '--' : exactTime(atSec(sec))) },
        {
          label: `ETH each ${what}`,
          scale: 'each',
          fill: bars,
          ...(barPaths && { paths: barPaths }),
          points: { show: false },
        },
        { label: 'ETH in all', scale: 'all', stroke: line, width: 2, points: { show: points.length === 1 } },
      ],
      scales: {
        each: { range: (_plot, _min, max) => [0, max * 1.1 || 1] },
        all: { range: (_plot, _min, max) => [0, max * 1.1 || 1] },
      },
      axes: [
        { ...axis, space: 64, values: times },
        { ...axis, scale: 'each', size: 64, values: figures },
        { ...axis, scale: 'all', side: 1, size: 64, grid: { show: false }, values: figures },
      ],
    },
    data,
    host,
  )
}

/** Bars as wide as seven tenths of their place, at most 24 pixels. */
const barPaths = uPlot.paths.bars?.({ size: [0.7, 24] })
const atSec = (sec: number) => new Date(sec * 1000)
const DAY_SEC = 86_400
/** In UTC like all times written out: the day where marks are days apart, the time of day otherwise. */
const times = (_plot: uPlot, secs: number[], _axis: number, _space: number, stepSec: number) =>
  secs.map((sec) => (stepSec < DAY_SEC ? timeOfDay : day)(atSec(sec)))
const figures = (_plot: uPlot, values: number[]) =>
  values.map((value) => value.toLocaleString('en-US', { maximumSignificantDigits: 4 }))
