// How a round or a batch becomes one that can be sent, as a second reading of docs/ARCHITECTURE.md (Planning: "if gas or ether is too short for it, the pass
// halves it. If the contract rejects it, simulating halves finds the cohorts at fault, and the round goes without them"), of docs/CONTRACT.md (Orders: the
// contract skips what it cannot mint, so no order fails a batch) and of the rule that a cohort which waits holds up no other.

// Choices in what the documents leave open:
// - Half of an odd number is the larger part. Half of one cohort is about half of its turns, the larger part too.
// - A provider that says first that the account's ether is too little says nothing about faults. So one at fault is found once ether suffices for a part
//   that has it. Only then it is set aside, and all the others are tried again.
// - A rejection that is not about a cohort (another account's role, a wrong round) sets nothing aside, and nothing is sent.
// - A run may give up its search when many are at fault. What it has not looked at waits like what it found.
// - A batch of orders need not be the largest that fits: half of that will do, and the ether may be reckoned by the order.

export interface Part {
  cohort: number
  /** What a node gets for each turn. */
  turns: bigint[]
  nodes: number
}

export function weiOf(parts: Part[]): bigint {
  let sum = 0n
  for (const { turns, nodes } of parts) for (const one of turns) sum += one * BigInt(nodes)
  return sum
}

function half(parts: Part[]): Part[] | null {
  const [first, ...others] = parts
  if (first === undefined) return null
  if (others.length > 0) return parts.slice(0, Math.ceil(parts.length / 2))
  if (first.turns.length < 2) return null
  return [{ ...first, turns: first.turns.slice(0, Math.ceil(first.turns.length / 2)) }]
}

/** The round of a plan without the cohorts that are set aside: as much of it as fits, the oldest first. */
export function roundOf(plan: Part[], aside: number[], fits: (parts: Part[]) => boolean): Part[] {
  let parts: Part[] | null = plan.filter(({ cohort }) => !aside.includes(cohort))
  while (parts !== null && !fits(parts)) parts = half(parts)
  return parts ?? []
}

/** The cohorts that the contract rejects, by one part of the plan after another that ether suffices for. */
export function setAside(plan: Part[], faulty: number[], affords: (parts: Part[]) => boolean): number[] {
  const aside: number[] = []
  for (;;) {
    const tried = roundOf(plan, aside, affords)
    const found = tried.map(({ cohort }) => cohort).filter((cohort) => faulty.includes(cohort))
    if (found.length === 0) return aside
    aside.push(...found)
  }
}

/** How many orders of a batch have to go at least, if `most` of them fit. */
export function least(size: number, most: number): number {
  return most >= size ? size : Math.ceil(most / 2)
}
