// Statistics of samples, and their formatting. Pure.

/** The value below which a share of the samples lies, by nearest rank. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  const found = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
  if (found === undefined) throw new Error('no samples')
  return found
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5)

/** Formats milliseconds with significant digits only. */
export function ms(value: number): string {
  return value < 10 ? `${value.toFixed(2)} ms` : value < 10_000 ? `${Math.round(value)} ms` : seconds(value)
}

export const seconds = (valueMs: number): string => `${(valueMs / 1000).toFixed(1)} s`

export const perSecond = (value: number, what: string): string => `${Math.round(value).toLocaleString('en')} ${what}/s`
