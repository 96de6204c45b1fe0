// A plot of several series over the same hours or days, loaded on first use.
import { Suspense } from 'react'
import { later } from '../boundary.tsx'
import { Waiting } from '../states.tsx'
import type { TrendChartProps } from './trend-chart.tsx'

const TrendChart = later(async () => (await import('./trend-chart.tsx')).TrendChart)

export type { TrendSeries } from './trend-chart.tsx'

export function Trend(props: TrendChartProps) {
  return (
    <Suspense fallback={<Waiting shape="plot" />}>
      <TrendChart {...props} />
    </Suspense>
  )
}
