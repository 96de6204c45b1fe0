// What single acts find on record, by docs/ADMIN.md (Tiers, Refunds, Referrals, Residues), docs/CONTRACT.md (windows) and the tables of
// migrations/0001_schema.sql.
//
// Choices in what the documents leave open:
// - Of several acts of the contract's owner on one window, the last in the chain's order holds, also within a block.
// - A grace period alone is no change of a tier. To end one that runs is: the former price no longer buys.
// - A commission may be paid to a payee of its code in any version, because what a former payee earned stays due to them.

export interface WindowAct {
  window: number
  from: number
  until: number
  block: number
  log: number
}

/** The windows as the last act on each left them, by number. */
export function windowsOf(acts: WindowAct[]): { window: number; from: number; until: number }[] {
  const found = new Map<number, WindowAct>()
  for (const act of acts) {
    const other = found.get(act.window)
    const isLater = other === undefined || act.block > other.block || (act.block === other.block && act.log > other.log)
    if (isLater) found.set(act.window, act)
  }
  const all = [...found.values()].sort((a, b) => a.window - b.window)
  return all.map(({ window, from, until }) => ({ window, from, until }))
}

export interface Orphan {
  /** Whether it was in the residue's wallet and at its time. */
  isOfResidue: boolean
  hasNode: boolean
  isRefunded: boolean
  /** A mint of it: on its way, past its last time, on another fork, or settled. */
  mint: 'pending' | 'expired' | 'forked' | 'mined' | null
}

/** Why a residue cannot be decided in one piece; null if it can. */
export function refusalOf(orphans: Orphan[]): 'conflict' | 'notYet' | null {
  const own = orphans.filter(({ isOfResidue }) => isOfResidue)
  for (const one of own) if (one.hasNode || one.isRefunded) return 'conflict'
  for (const one of own) if (one.mint === 'pending') return 'notYet'
  return null
}

export interface Transfer {
  to: string
  valueWei: bigint
}

/** What a transaction proves of a code's commissions: its amount, or why it proves none. */
export function commissionOf(
  payees: string[],
  transfers: Transfer[],
  asked: bigint | null,
): bigint | 'none' | 'several' {
  const paid = transfers.filter(({ to, valueWei }) => payees.includes(to) && valueWei > 0n)
  const meant = paid.filter(({ valueWei }) => asked === null || valueWei === asked)
  const amounts = new Set(meant.map(({ valueWei }) => valueWei))
  if (amounts.size > 1) return 'several'
  const [only] = amounts
  return only ?? 'none'
}

export interface Version {
  label: string
  priceWei: bigint
  maxPerWallet: number
  payoutBps: number
  holdingRetrySec: number
  supply: number | null
  opensAt: number | null
  closesAt: number | null
  onSale: boolean
  graceSec: number
}
export type Asked = Partial<Omit<Version, 'graceSec'>> & { graceSec?: number; immediately?: boolean }

/** The version that an act enters after these, the last of which is in force; null if it changes nothing. */
export function entered(versions: Version[], { immediately, graceSec, ...asked }: Asked): Version | null {
  const before = versions.at(-1) as Version
  const next = { ...before }
  let isChanged = immediately === true && before.graceSec > 0
  for (const [name, value] of Object.entries(asked)) {
    // Without a bound is said by 0.
    const wanted = ['supply', 'opensAt', 'closesAt'].includes(name) && value === 0 ? null : value
    if ((before as unknown as Record<string, unknown>)[name] !== wanted) isChanged = true
    Object.assign(next, { [name]: wanted })
  }
  if (!isChanged) return null
  const usual = versions.findLast((one) => one.graceSec > 0)?.graceSec ?? 900
  return { ...next, graceSec: immediately ? 0 : (graceSec ?? usual) }
}
