// Payments as a caller names them, as a second reading of docs/ADMIN.md: by hash in any case, or by row; each once, and never one of several.

export interface Paid {
  id: number
  txHash: string | null
  state: string
  reason: string | null
  tierId: string | null
  valueWei: bigint
  from: string | null
  /** True if a signed mint of it may still be executed. */
  mayMint: boolean
}
export type Named = { row: number } | { refused: 'invalid' | 'notFound' | 'several' | 'twice' }

/** The row of each name, in order. */
export function namedRows(payments: Paid[], names: string[]): Named[] {
  const taken = new Set<number>()
  return names.map((name) => {
    const isHash = /^0x[0-9a-fA-F]{64}$/.test(name)
    // A number beyond 2^53 - 1 would be rounded to another row's.
    if (!isHash && !(/^[1-9][0-9]*$/.test(name) && BigInt(name) < 2n ** 53n)) return { refused: 'invalid' }
    const found = isHash
      ? payments.filter(({ txHash }) => txHash === name.toLowerCase()).map(({ id }) => id)
      : [Number(name)]
    const [row] = found
    if (row === undefined) return { refused: 'notFound' }
    if (found.length > 1) return { refused: 'several' }
    if (taken.has(row)) return { refused: 'twice' }
    taken.add(row)
    return { row }
  })
}

export interface Decided {
  id: number | null
  txHash: string | null
  status: string | null
  tierId: string | null
  /** When a file was made that pays it back. */
  fileMadeAt: string | null
  isRefused: boolean
}
export interface Told {
  actor: string
  subject: string
  before: object
  after: object
}

/** Dismisses what is held, and not about to be refunded or minted. */
export function dismissEach(
  payments: Paid[],
  names: string[],
  given: { by: string; note: string | null; dryRun: boolean },
) {
  const none = { id: null, txHash: null, status: null, tierId: null, fileMadeAt: null, isRefused: true }
  const told: Told[] = []
  const states = new Map(payments.map((one) => [one.id, one.state]))
  const results = namedRows(payments, names).map((named): Decided => {
    const one = 'row' in named ? payments.find(({ id }) => id === named.row) : undefined
    if (one?.state !== 'held' || one.reason === 'refunding' || one.mayMint) return none
    if (!given.dryRun) {
      states.set(one.id, 'dismissed')
      const before = { status: 'held', reason: one.reason, tierId: one.tierId }
      const evidence = { rule: 'dismissed', heldFor: one.reason, note: given.note, from: one.from }
      const after = { ...evidence, status: 'dismissed', tierId: one.tierId, receivedWei: String(one.valueWei) }
      told.push({ actor: given.by, subject: one.txHash ?? String(one.id), before, after })
    }
    return {
      id: one.id,
      txHash: one.txHash,
      status: 'dismissed',
      tierId: one.tierId,
      fileMadeAt: null,
      isRefused: false,
    }
  })
  return { results, told, states }
}
