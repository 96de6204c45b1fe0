// A plot that loads and draws when it scrolls into view, because drawing is slow, and on a phone most stay out of view.
import { Suspense, useEffect, useRef, useState } from 'react'
import type { Point } from '../bins.ts'
import { later } from './boundary.tsx'
import type { Plotted } from './chart.tsx'
import { Waiting } from './states.tsx'

const Chart = later(async () => (await import('./chart.tsx')).Chart)

/** Draws `points`, oldest first. */
export function Plot({ points, what }: { points: readonly Point[]; what: Plotted }) {
  const place = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    if (!place.current) return
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true)
    })
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={place}>
      {seen ? (
        <Suspense fallback={<Waiting shape="plot" />}>
          <Chart points={points} what={what} />
        </Suspense>
      ) : (
        <div className="place" />
      )}
    </div>
  )
}
