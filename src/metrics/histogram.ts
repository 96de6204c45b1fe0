// A histogram counted in plain numbers, and rendered when it is scraped. Answers from memory are counted tens of thousands of times a
// second, and prom-client checks, joins and hashes the labels each time.
import { labelled } from './samples.ts'

interface Series {
  labels: Readonly<Record<string, string>>
  /** The number of values up to each bound and above the one before; the last: above all bounds. */
  counts: number[]
  sum: number
}

export class Histogram {
  readonly #name: string
  readonly #help: string
  /** Ascending. */
  readonly #bounds: readonly number[]
  readonly #series: Series[] = []

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name
    this.#help = help
    this.#bounds = bounds
  }

  /** A new series of these labels, which must be unique: a function that counts a value. */
  series(labels: Readonly<Record<string, string>>): (value: number) => void {
    const bounds = this.#bounds
    const series = { labels, counts: Array<number>(bounds.length + 1).fill(0), sum: 0 }
    this.#series.push(series)
    return (value) => {
      let bucket = 0
      while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
      series.sum += value
    }
  }

  /** The Prometheus text form: its buckets are cumulative. */
  render(): string {
    const lines = this.#series.flatMap(({ labels, counts, sum }) => {
      let count = 0
      const buckets = [...this.#bounds, '+Inf'].map((le, bucket) => {
        count += counts[bucket] ?? 0
        return labelled(`${this.#name}_bucket`, { le: String(le), ...labels }, count)
      })
      return [...buckets, labelled(`${this.#name}_sum`, labels, sum), labelled(`${this.#name}_count`, labels, count)]
    })
    return `# HELP ${this.#name} ${this.#help}\n# TYPE ${this.#name} histogram\n${lines.join('')}`
  }
}
