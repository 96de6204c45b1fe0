// Samples in the Prometheus text form. A failed read has no sample at all: absent, never 0.

/** One figure that is read on request. */
export interface Sample {
  name: string
  help: string
  labels?: Readonly<Record<string, string>>
  /** Null: could not be read. */
  value: number | bigint | null
}

/** The text form of gauges; samples of one name stand together, in the order of the name's first appearance. */
export function renderGauges(samples: readonly Sample[]): string {
  const families = Map.groupBy(
    samples.filter((sample) => sample.value !== null),
    (sample) => sample.name,
  )
  return [...families].map(([name, family]) => renderFamily(name, family)).join('')
}

function renderFamily(name: string, family: readonly Sample[]): string {
  const lines = family.map(({ labels = {}, value }) => labelled(name, labels, value))
  return `# HELP ${name} ${family[0]?.help ?? ''}\n# TYPE ${name} gauge\n${lines.join('')}`
}

/** The line of one sample. */
function labelled(name: string, labels: Readonly<Record<string, string>>, value: Sample['value']): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** Wei as ether, for figures on a screen: 15 digits are right. Money is never computed from it. */
export function ether(wei: bigint): number {
  return Number(wei) / 1e18
}
