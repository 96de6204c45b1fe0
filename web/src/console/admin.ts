// The operator's routes, asked with a key that lives in this module's memory alone: a reload forgets it.
import { LedgerError, type Revived } from '@node-ledger/client'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { revive } from '../../../client/src/revive.ts'
import { queries, type Reading } from '../ledger.ts'

const EVERY_MS = 10_000
let key: string | null = null

/** Takes a key once the service has accepted it. Throws a LedgerError: 401 for a wrong one, 404 where none is configured. */
export async function enter(given: string): Promise<void> {
  key = given
  try {
    await ask('GET', 'senders')
  } catch (error) {
    key = null
    throw error
  }
}

/** Forgets the key and everything that was read with it. */
export function leave(): void {
  key = null
  queries.removeQueries({ queryKey: ['admin'] })
}

/** Asks one of the operator's routes; amounts come as bigint, times as Date. */
async function ask<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
  const response = await fetch(`/api/admin/${path}`, {
    method,
    credentials: 'omit',
    headers: {
      'x-admin-key': key ?? '',
      ...(method === 'POST' && { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() }),
    },
    ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }),
  }).catch((cause: unknown) => {
    throw refusal(null, 'The service could not be reached.', cause)
  })
  const json = (await response.json().catch(() => ({}))) as { error?: string }
  if (!response.ok) throw refusal(response.status, json.error ?? `The service answered ${response.status}.`)
  return revive(json) as T
}

function refusal(status: number | null, message: string, cause?: unknown): LedgerError {
  return new LedgerError(message, { status, retryable: status === null || status >= 500, retryAfter: null, cause })
}

/** A reading of the operator's, kept current while the page is open. */
export function useAdmin<T>(path: string): Reading<T> {
  return useQuery<T, Error>({
    queryKey: ['admin', path],
    queryFn: () => ask<T>('GET', path),
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  })
}

/** An act of the operator's: once done, everything that was read is read again. */
export function useAct<T>() {
  return useMutation<T, Error, { path: string; body?: object }>({
    mutationFn: ({ path, body }) => ask<T>('POST', path, body),
    onSuccess: () => queries.invalidateQueries(),
  })
}

/** Saves a file of the operator's routes; resolves once it is all there. */
export async function download(path: string): Promise<void> {
  const response = await fetch(`/api/admin/${path}`, { credentials: 'omit', headers: { 'x-admin-key': key ?? '' } })
  if (!response.ok) {
    const { error } = (await response.json().catch(() => ({}))) as { error?: string }
    throw refusal(response.status, error ?? `The service answered ${response.status}.`)
  }
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'export.csv'
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

/** An entry of the credit terms. Times are unix seconds of block time; 0 is the beginning. */
export interface AdminTerms {
  fromTime: number
  payouts: boolean
  minWei: bigint
  maxWei: bigint
  intervalSec: number
  slotSec: number
  state: 'past' | 'inForce' | 'toCome'
  enteredAt: Date
  enteredBy: string
}

/** An account of which the providers name a nonce that no followed block bears out. */
export interface StuckSender {
  sender: Hex
  said: number
  known: number
  sinceBlock: number
  takeOver: boolean
}

/** A transaction that is in no block after twelve. */
export interface StuckTransaction {
  id: number
  sender: Hex
  nonce: number
  kind: string
  pendingBlocks: number
  attempts: number
  lastOutcome: string | null
  why: 'nonce' | 'behind' | 'over' | 'fee' | 'refused' | 'waiting'
}

/** A wallet that buyers pay or paid to. Blocks, and unix seconds of block time. */
export interface PaymentsWallet {
  wallet: Hex
  state: 'toCome' | 'inForce' | 'grace' | 'old' | 'closed'
  fromBlock: number
  fromTime: number
  stolen: boolean
  closedBlock: number | null
  enteredAt: Date
  enteredBy: string
}

/** What a change of the payments wallet does. */
export interface WalletChange {
  wallet: Hex
  before: Hex | null
  fromBlock: number
  fromTime: number
  graceUntil: number | null
  stolen: boolean
}

/** A transaction for the contract's owner to send. */
export interface OwnersTransaction {
  to: string
  call: string
  data: string
}

type Hex = `0x${string}`
export type Verdict = Revived<{
  verdict: string
  reason: string | null
  decidedBy: string
  decidedAt: string
  evidence: Record<string, unknown>
  withdrawnBy?: string | null
  withdrawnAt?: string | null
}>
export interface HeldPayment {
  id: number
  txHash: Hex | null
  innerIndex: number
  from: Hex | null
  valueWei: bigint
  status: string
  reason: string | null
  tierId: string | null
  blockNumber: number
  blockTime: string
  nodeId: string | null
  updatedAt: Date
  verdict: Verdict | null
}
export interface PaymentInFull extends HeldPayment {
  ref: Hex
  verdicts: Verdict[]
  refund: { txHash: Hex } | null
}
export interface DeniedSender {
  address: Hex
  label: string
  reason: string
  addedBy: string
  addedAt: Date
}
export interface UnpaidNode {
  nodeId: string
  owner: Hex
  cohort: number
  tierNo: number
  mintTxHash: Hex
  mintedAt: Date
  grant: { reason: string; grantedBy: string; grantedAt: Date } | null
}
export interface Endpoint {
  endpoint: string
  /** False once it was removed. */
  active: boolean
  failingSince: string | null
  disabledAt: Date | null
  lastSuccessAt: Date | null
  lastError: string | null
  pending: number
}
export interface Delivery {
  id: number
  eventId: string
  type: string
  endpoint: string
  state: 'pending' | 'delivered' | 'failed'
  createdAt: Date
  dueAt: Date | null
  event: { data: Record<string, unknown> }
  /** The attempts, oldest first. */
  log: { at: string; status: number | null; error: string | null; durationMs: number }[]
}
export interface AdminTier {
  tierId: string
  version: number
  tierNo: number
  label: string
  priceWei: bigint
  maxPerWallet: number
  holdingWei: bigint
  payoutBps: number
  onSale: boolean
  fromBlock: number
  enteredAt: Date
  enteredBy: string
  cohorts: number
  versions: AdminTier[]
}
export interface Sent {
  id: number
  sender: Hex
  nonce: number
  kind: string
  status: string
  txHash: Hex | null
  valueWei: bigint
  gasLimit: number
  gasUsed: number | null
  feeWei: bigint | null
  blockNumber: number | null
  createdAt: Date
  pendingSec: number | null
  attempts: { txHash: Hex; attempt: number; sends: number; lastOutcome: string | null }[]
}
export interface Preview {
  blockNumber: number
  round: {
    totalWei: bigint
    nodeCount: number
    turns: {
      cohort: number
      tierId: string | null
      due: Date
      count: number
      nodeCount: number
      amountWei: bigint | null
    }[]
    unbackedCohorts: number[]
  }
  funds: {
    balanceWei: bigint | null
    gasCostWei: bigint | null
    sufficient: boolean | null
    contractPaused: boolean | null
  }
  stops: string[]
  nextDay: { minWei: bigint | null; maxWei: bigint | null }
}
export interface Reconciliation {
  drift: { by: string; count: number; since: string; drifts: Record<string, unknown>[] } | null
  halted: { reason: string } | null
  passes: Record<
    string,
    { error: string | null; outcome: Record<string, unknown>; startedAt: Date; finishedAt: Date | null }
  >
  wallets: { address: string; auditedBlock: number | null; bookedWei: bigint | null; closedBlock: number | null }[]
  followed: { blockNumber: number; blockTime: string } | null
}
export interface Entry {
  id: number
  at: string
  actor: string
  action: string
  subject: string | null
  requestId: string | null
  detail: Record<string, unknown>
}
export interface Statement {
  period: { opening: { blockNumber: number }; closing: { blockNumber: number }; complete: boolean }
  sales: { tierId: string | null; count: number; valueWei: bigint }[]
  totalSalesWei: bigint
  happened: Record<string, number | bigint>
  gasWei: bigint
  accounts: {
    name: string
    address: Hex
    openingWei: bigint | null
    movements: { what: string; count: number; wei: string }[]
    closingWei: bigint | null
    otherWei: bigint | null
    unexplainedWei: bigint | null
  }[]
  balanced: boolean | null
}
