// What each kind of event says to a person: its words, the place in the console where it is seen to, and whether somebody has to act. What has to be
// done stands in docs/RUNBOOK.md under the kind's own name, which the service serves as /runbook.html.

export interface Kind {
  words: string
  /** True where somebody has to look: it has its section in the runbook. */
  asks?: true
  /** A path of the pages. */
  place: string | ((data: Data) => string)
}
type Data = Readonly<Record<string, unknown>>

const STATE = '/console'
const AUDIT = '/console/audit'
const HELD = '/console/payments?status=held'

/** The page of a payment in the console, by its hash or number; a list where neither is known. */
const paymentNamed = (name: unknown, otherwise: string) =>
  /^(0x[0-9a-f]{64}|[1-9][0-9]*)$/.test(String(name)) ? `/console/payments/${name}` : otherwise
const ofPayment = ({ txHash }: Data) => paymentNamed(txHash, HELD)
const ofNode = ({ nodeId }: Data) => `/node/${nodeId}`

/** Every kind of event. */
export const KINDS: Readonly<Record<string, Kind>> = {
  'payment.held': { words: 'A payment is held, and waits for you', asks: true, place: ofPayment },
  'payment.minted': { words: 'A node is sold', place: ofPayment },
  'payment.decided': { words: 'A payment was decided about', place: ({ subject }) => paymentNamed(subject, AUDIT) },
  'round.credited': { words: 'A round is credited', place: '/console/rounds' },
  'rounds.paused': { words: 'Rounds are paused', place: '/console/rounds' },
  'rounds.resumed': { words: 'Rounds go on', place: '/console/rounds' },
  'withdrawal.seen': { words: 'An owner withdrew', place: ofNode },
  'refund.alarm': { words: 'A refund contradicts the chain', asks: true, place: AUDIT },
  'drift.found': { words: 'Ledger and contract differ', asks: true, place: STATE },
  'funds.low': { words: 'An account runs low on ether', asks: true, place: STATE },
  'budget.low': { words: 'The minter’s budget runs low', asks: true, place: STATE },
  'budget.spent': { words: 'The minter’s budget is spent, and a payment waits', asks: true, place: STATE },
  'chain.reorganised': { words: 'Blocks were taken back', place: AUDIT },
  'passes.halted': { words: 'The passes are halted', asks: true, place: STATE },
  'passes.resumed': { words: 'The passes go on', place: STATE },
  'terms.changed': { words: 'The credit terms were changed', place: '/console/terms' },
  'tiers.changed': { words: 'A tier was changed', place: '/console/tiers' },
  'wallet.changed': { words: 'The payments wallet was changed', place: '/console/wallets' },
  'signer.down': { words: 'A signer does not sign', asks: true, place: '/console/transactions' },
  'signer.restored': { words: 'A signer signs again', place: '/console/transactions' },
  'key.used': { words: 'A key of ours was used elsewhere', asks: true, place: '/console/transactions' },
  'proof.failed': { words: 'A provider’s answer does not prove what the chain proves', asks: true, place: STATE },
  'guard.refused': {
    words: 'A provider is wrong about a block: nothing is signed on its word',
    asks: true,
    place: AUDIT,
  },
  'node.expelled': {
    words: 'A node that was paid for is expelled',
    asks: true,
    place: ({ subject }) => paymentNamed(subject, AUDIT),
  },
  'keys.wrong': { words: 'Wrong admin keys are being tried', asks: true, place: AUDIT },
  'act.proposed': { words: 'An act waits for a second person', place: '/console/proposals' },
  'keys.changed': { words: 'An admin key or a passkey was made or revoked', place: '/console/keys' },
  'ledger.restored': {
    words: 'The ledger was restored from a backup: payments are held to be looked at',
    asks: true,
    place: `${HELD}&reason=recheck`,
  },
}

/** An event as it is stored. */
export interface Told {
  type: string
  timestamp: string
  data: Data
}

/** Where a person looks, and what they are to do; the latter null where nothing is to be done. */
export interface Links {
  consoleUrl: string
  runbookUrl: string | null
}

/** The links of an event, on the service's own origin. */
export function linksOf({ type, data }: Told, publicUrl: string): Links {
  const { asks, place = AUDIT } = KINDS[type] ?? {}
  const path = typeof place === 'string' ? place : place(data)
  return {
    consoleUrl: new URL(path, publicUrl).href,
    runbookUrl: asks ? new URL(`/runbook.html#${anchorOf(type)}`, publicUrl).href : null,
  }
}

/** The anchor of a heading that is one word, as Markdown has it: lower case, without signs. */
const anchorOf = (heading: string) => heading.toLowerCase().replaceAll(/[^a-z0-9-]/g, '')
