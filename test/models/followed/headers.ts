// Stored headers and the blocks that give turns their seeds, over rows in memory, as a second reading of docs/DATA-MODEL.md.

export interface Header {
  number: number
  hash: string
  time: number
}
export interface Seed {
  number: number
  time: number
  parentTime: number | null
  seed: string
  proof: string
}
export interface Chain {
  head: number
  headers: Header[]
  seeds: Seed[]
  /** When cohorts are due, now and in states that a rewind may restore. */
  dues: { size: number; due: number }[]
}

const inOrder = (headers: Header[]) => headers.toSorted((a, b) => a.number - b.number)
const lowest = ({ headers }: Chain) => inOrder(headers)[0]?.number ?? null

export function stored(chain: Chain, headers: Header[]): void {
  for (const one of headers) chain.headers = [...chain.headers.filter(({ number }) => number !== one.number), one]
}

export const upTo = ({ headers }: Chain, number: number, time: number) =>
  inOrder(headers.filter((one) => one.number <= number && one.time <= time)).at(-1)?.number ?? null

/** The last before a time. */
export const before = ({ headers }: Chain, time: number) =>
  inOrder(headers.filter((one) => one.time < time)).at(-1)?.number ?? null

/** The first at or after a time, if its parent shows that it is the first. */
export function firstAt({ headers }: Chain, time: number): { block: number; parent: number } | null {
  const first = inOrder(headers).find((one) => one.time >= time)
  const parent = headers.find(({ number }) => number === (first?.number ?? 0) - 1)
  return first === undefined || parent === undefined ? null : { block: first.number, parent: parent.number }
}

export const oldest = lowest

/** Kept whatever is known of it. */
export function keep(chain: Chain, seeds: Seed[]): void {
  for (const one of seeds) chain.seeds = [...chain.seeds.filter(({ number }) => number !== one.number), one]
}

/** Only one that is older than all headers, and that is not kept. */
export function keepOld(chain: Chain, one: Seed): void {
  const least = lowest(chain)
  if (least === null || one.number >= least || chain.seeds.some(({ number }) => number === one.number)) return
  chain.seeds.push(one)
}

/** Only for a followed block. */
export function keepAgreed(chain: Chain, one: Seed): void {
  if (one.number <= chain.head) keep(chain, [one])
}

/** The first block at or after the time of a turn, if its parent is before it. What only one provider told counts only if nothing else is there. */
export function seedOf({ seeds }: Chain, due: number) {
  const firstOf = (some: Seed[]) => {
    const [first] = some.filter(({ time }) => time >= due).toSorted((a, b) => a.time - b.time || a.number - b.number)
    const isSure = first !== undefined && (first.parentTime === null || first.parentTime < due)
    return isSure ? { seedBlock: first.number, seed: first.seed, proof: first.proof } : null
  }
  return firstOf(seeds.filter(({ proof }) => proof !== 'believed')) ?? firstOf(seeds)
}

/** Those before every turn that may still be paid. */
export function forget(chain: Chain): void {
  const dues = chain.dues.filter(({ size }) => size > 0).map(({ due }) => due)
  if (dues.length > 0) chain.seeds = chain.seeds.filter(({ time }) => time >= Math.min(...dues))
}
