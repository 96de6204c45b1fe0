// The table of events: each kind's words for a person, the console page for handling it, whether a person must act, and the rows of the audit log
// that trigger it. docs/RUNBOOK.md explains under the kind's name what to do; the service serves it as /runbook.html. A kind without rows reports the
// ledger's facts, through triggers (migrations/0001_schema.sql).

export interface Kind {
  words: string
  /** True if a person must look at it. Such a kind has a section in the runbook. */
  asks?: true
  /** The path of a page. */
  place: string | ((data: Data) => string)
  /** Actions of the audit log. Each row with such an action is an event, written in the row's transaction. */
  acts?: readonly string[]
  /** What the event shows of the row; by default who did what to what. The row itself has everything, for those who may read it. */
  data?: (row: Audited) => Data
}
/** A row of the audit log. */
export interface Audited {
  actor: string
  action: string
  subject?: string
  detail: object
}
type Data = Readonly<Record<string, unknown>>

const STATE = '/console'
const AUDIT = '/console/audit'
const HELD = '/console/payments?status=held'

/** A payment's page in the console, by its hash or number; a list if neither is known. */
const paymentNamed = (name: unknown, otherwise: string) =>
  /^(0x[0-9a-f]{64}|[1-9][0-9]*)$/.test(String(name)) ? `/console/payments/${name}` : otherwise
const ofPayment = ({ txHash }: Data) => paymentNamed(txHash, HELD)
const ofNode = ({ nodeId }: Data) => `/node/${nodeId}`

const without = (detail: object, ...names: string[]): Data =>
  Object.fromEntries(Object.entries(detail).filter(([each]) => !names.includes(each)))
const actOf = ({ actor, action, subject }: Audited): Data => ({ action, actor, subject: subject ?? null })
const DRIFTS_MAX = 20
/** A tier's terms before, which are null if it is new, and after. */
function tierOf(row: Audited): Data {
  const { before = null, after = {} } = row.detail as { before?: Data | null; after?: Data }
  const termsOf = (version: Data) => Object.fromEntries(Object.keys(after).map((name) => [name, version[name]]))
  return { ...actOf(row), before: before && termsOf(before), after }
}
function driftOf({ detail }: Audited): Data {
  const { count, drifts } = detail as { count: number; drifts: readonly object[] }
  return { count, drifts: drifts.slice(0, DRIFTS_MAX) }
}

export const KINDS: Readonly<Record<string, Kind>> = {
  'payment.held': { words: 'A payment is held and needs your decision', asks: true, place: ofPayment },
  'payment.minted': { words: 'A node was sold', place: ofPayment },
  'payment.decided': {
    words: 'A held payment was decided',
    place: ({ subject }) => paymentNamed(subject, AUDIT),
    acts: [
      ...['released', 'dismissed', 'dustDismissed', 'attributed'],
      ...['refunding', 'refunded', 'refundPrepared', 'refundCancelled'],
    ],
  },
  'round.credited': { words: 'A round was credited', place: '/console/rounds' },
  'rounds.paused': { words: 'Rounds were paused', place: '/console/rounds', acts: ['paused'] },
  'rounds.resumed': { words: 'Rounds were resumed', place: '/console/rounds', acts: ['unpaused'] },
  'withdrawal.seen': { words: 'An owner withdrew', place: ofNode },
  'refund.alarm': {
    words: 'A refund contradicts the chain',
    asks: true,
    place: AUDIT,
    acts: [
      ...['mintedThoughRefunding', 'mintedThoughRefunded', 'refundTooEarly'],
      ...['refundOfMinted', 'refundOfOrphaned', 'refundGone'],
    ],
    data: ({ action, subject, detail }) => ({ ...detail, alarm: action, ref: subject }),
  },
  'drift.found': { words: 'Ledger and contract differ', asks: true, place: STATE, acts: ['drift'], data: driftOf },
  'funds.low': {
    words: 'An account is low on ether',
    asks: true,
    place: STATE,
    acts: ['fundsLow'],
    data: ({ detail }) => without(detail, 'low'),
  },
  'budget.low': {
    words: 'The minter’s budget is low',
    asks: true,
    place: STATE,
    acts: ['budgetLow'],
    data: ({ detail }) => without(detail, 'spent', 'soldOut'),
  },
  'budget.spent': {
    words: 'The minter’s budget is spent, and a payment waits',
    asks: true,
    place: STATE,
    acts: ['budgetSpent'],
    data: ({ detail }) => without(detail, 'low', 'soldOut'),
  },
  'chain.reorganised': {
    words: 'A reorganisation replaced blocks',
    place: AUDIT,
    acts: ['reorganisation'],
    data: ({ detail }) => ({ ...detail }),
  },
  'passes.halted': { words: 'Minting and crediting are halted', asks: true, place: STATE, acts: ['halted'] },
  'passes.stuck': {
    words: 'One block stops minting and crediting',
    asks: true,
    place: STATE,
    acts: ['stuck'],
    data: ({ detail }) => without(detail, 'lasts'),
  },
  'passes.waiting': {
    words: 'Mints or rounds cannot be sent',
    asks: true,
    place: STATE,
    acts: ['unsent'],
    data: ({ detail }) => without(detail, 'lasts'),
  },
  'passes.resumed': {
    words: 'Minting and crediting work again',
    place: STATE,
    acts: ['resumed', 'haltWithdrawn', 'unstuck', 'sentAgain', 'historiesAgree'],
  },
  'terms.changed': {
    words: 'The credit terms were changed',
    place: '/console/terms',
    acts: ['termsEntered', 'termsCancelled'],
  },
  'tiers.changed': {
    words: 'A tier was changed, or a change was planned or cancelled',
    place: '/console/tiers',
    acts: ['tierCreated', 'tierChanged', 'tierPlanned', 'tierPlanCancelled'],
    data: tierOf,
  },
  'tier.unfit': {
    words: 'A planned change of a tier did not take effect',
    asks: true,
    place: '/console/tiers',
    acts: ['tierUnfit'],
    data: ({ detail }) => ({ ...detail }),
  },
  'referrals.changed': {
    words: 'A referral code was registered',
    place: '/console/referrals',
    acts: ['referralRegistered'],
  },
  'tier.scarce': {
    words: 'A tier is nearly sold out',
    asks: true,
    place: '/console/tiers',
    acts: ['tierNearlySold'],
    data: ({ detail }) => ({ ...detail }),
  },
  'tier.sold': {
    words: 'A tier is sold out',
    place: '/console/tiers',
    acts: ['tierSoldOut'],
    data: ({ detail }) => ({ ...detail }),
  },
  'wallet.changed': {
    words: 'The payments wallet was changed',
    place: '/console/wallets',
    acts: ['walletChanged', 'walletCancelled', 'walletClosed'],
  },
  'signer.down': { words: 'A signer does not sign', asks: true, place: '/console/transactions', acts: ['signerDown'] },
  'signer.restored': { words: 'A signer signs again', place: '/console/transactions', acts: ['signerRestored'] },
  'role.lost': {
    words: 'The minter or distributor lost its role on the contract',
    asks: true,
    place: '/console/transactions',
    acts: ['roleLost'],
  },
  'role.restored': { words: 'An account has its role again', place: '/console/transactions', acts: ['roleRestored'] },
  'fee.capped': {
    words: 'A fee is at its cap, and the network requires more',
    asks: true,
    place: '/console/transactions',
    acts: ['feeCapped'],
    data: ({ subject, detail }) => ({ ...detail, address: subject }),
  },
  'key.used': {
    words: 'A key of the service was used elsewhere',
    asks: true,
    place: '/console/transactions',
    acts: ['foreignTransaction'],
  },
  'proof.failed': {
    words: 'A provider’s answer failed its proof',
    asks: true,
    place: STATE,
    acts: ['proofFailed'],
  },
  'guard.refused': {
    words: 'A provider is wrong about a block',
    asks: true,
    place: AUDIT,
    acts: ['guardRefused'],
  },
  'keys.wrong': {
    words: 'Someone used wrong admin keys, or a copied passkey',
    asks: true,
    place: AUDIT,
    acts: ['wrongAdminKeys', 'passkeyCopied'],
  },
  'action.proposed': { words: 'An action waits for a second person', place: '/console/proposals', acts: ['proposed'] },
  'keys.changed': {
    words: 'An admin key or a passkey was made or revoked',
    place: '/console/keys',
    acts: [
      ...['keyMade', 'keyRevoked', 'keysRevoked', 'passkeyInvited', 'invitationRevoked'],
      ...['passkeyMade', 'passkeyRevoked'],
    ],
  },
  'node.expelled': {
    words: 'A paid node was expelled',
    asks: true,
    place: ({ subject }) => paymentNamed(subject, AUDIT),
    acts: ['paidNodeExpelled'],
  },
  'ledger.restored': {
    words: 'The ledger lacks mints or rounds that it sent',
    asks: true,
    place: `${HELD}&reason=recheck`,
    acts: ['restored'],
  },
}

/** The actions of the audit log that trigger these kinds. */
export const actsOf = (...kinds: readonly string[]): string[] => kinds.flatMap((kind) => KINDS[kind]?.acts ?? [])

const KIND_OF = new Map(
  Object.entries(KINDS).flatMap(([type, { data = actOf }]) => actsOf(type).map((act) => [act, { type, data }])),
)

/** The event for a row of the audit log; null if there is none. */
export function eventOf(row: Audited): { type: string; data: Data } | null {
  const kind = KIND_OF.get(row.action)
  return kind ? { type: kind.type, data: kind.data(row) } : null
}

/** A stored event. */
export interface Told {
  type: string
  timestamp: string
  data: Data
}

/** Links to the page for looking at the event, and to the instructions; the second is null if nothing needs to be done. */
export interface Links {
  consoleUrl: string
  runbookUrl: string | null
}

/** The links of an event, on the service's own origin. The anchor of a heading has no full stop. */
export function linksOf({ type, data }: Told, publicUrl: string): Links {
  const { asks, place = AUDIT } = KINDS[type] ?? {}
  const path = typeof place === 'string' ? place : place(data)
  return {
    consoleUrl: new URL(path, publicUrl).href,
    runbookUrl: asks ? new URL(`/runbook.html#${type.replace('.', '')}`, publicUrl).href : null,
  }
}
