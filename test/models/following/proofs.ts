// What the ledger's blocks are worth, and what is said about false answers, as a second reading of docs/ARCHITECTURE.md (Proof of blocks, Halting) and docs/RUNBOOK.md
// (proof.failed): the first run finds the mode, and no later one changes it. False answers that keep coming are reported once.
//
// Choices in what the documents leave open:
// - The ledger's chain id counts before the provider's.
// - If another instance has set the mode meanwhile, that one is in force.
// - A report may come again once a person has ended the trouble, but not because the answers were good for a while.
// - An answer that lacks a part is not reported, and halts nothing.

export type Mode = 'proven' | 'agreed'
export interface Ledger {
  /** The height of the cursor; null before the first block. */
  cursor: number | null
  chainId: number | null
  modes: { fromBlock: number; mode: Mode; by: string }[]
  trouble: 'none' | 'lasts' | 'calm'
  audit: Told[]
}
export interface Told {
  action: string
  subject: string | null
  detail: Record<string, unknown>
}
export interface Start {
  /** The mode that the settings name. */
  setting: Mode | null
  /** What the newest blocks show; null if the providers do not agree on them. */
  shown: Mode | null
  /** What another instance sets while this one looks. */
  meanwhile: Mode | null
  providerChainId: number
}
export interface Failure {
  part: string
  blockNumber: number
  says: string
  host: string | null
}

/** The mode and the chain that answers must be of from now on; null if the run fails. */
export function start(ledger: Ledger, given: Start): [Mode, number] | null {
  const chainId = ledger.chainId ?? given.providerChainId
  const last = ledger.modes.toSorted((a, b) => a.fromBlock - b.fromBlock).at(-1)
  if (last) return [last.mode, chainId]
  const mode = given.setting ?? given.shown
  if (mode === null) return null
  const fromBlock = ledger.cursor === null ? 0 : ledger.cursor + 1
  if (given.meanwhile !== null) {
    ledger.modes.push({ fromBlock, mode: given.meanwhile, by: 'other' })
    return [given.meanwhile, chainId]
  }
  ledger.modes.push({ fromBlock, mode, by: 'pass' })
  ledger.audit.push({ action: 'evidenceSet', subject: null, detail: { before: null, after: mode, fromBlock } })
  return [mode, chainId]
}

export function report(ledger: Ledger, failures: Failure[]): void {
  for (const { blockNumber, ...detail } of failures) {
    if (ledger.trouble === 'none') ledger.audit.push({ action: 'proofFailed', subject: String(blockNumber), detail })
    ledger.trouble = 'lasts'
  }
}

export type Fault = 'error' | 'silent' | 'lacking' | 'false'
/** How a run ends that met such a fault, which it has reported if it is a false answer. */
export function end(ledger: Ledger, fault: Fault, failure: Failure): 'same' | Record<string, unknown> {
  if (fault !== 'false') return 'same'
  report(ledger, [{ ...failure, host: null }])
  const { part, blockNumber, says } = failure
  return { reason: 'unproven', confirmed: false, noted: false, detail: { part, blockNumber, says } }
}
