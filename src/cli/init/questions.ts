// The questions of `node-ledger init`: the form of each answer, and what it may contradict. Nothing here asks or stores. Answers are not secret, so we
// may show them. The two URLs are.
import { parseAddress } from '../../chain/digest.ts'
import { LEAST_INTERVAL_SEC } from '../../chain/factory/deploy.ts'
import { splitRpcUrls } from '../../chain/rpc/rpc.ts'
import { inspectConfig } from '../../config/load.ts'
import { parseUrl } from '../../config/values.ts'
import { boundsNeeded, refuseTerms } from '../../domain/rounds/terms.ts'
import { TIER_ID_FORM } from '../../domain/tiers.ts'
import { BPS_BASE, wei, ZERO_ADDRESS } from '../../domain/units.ts'
import { readDatabaseUrl } from '../../lib/database-url.ts'
import { LABEL } from '../../operator/acts/tiers.ts'
import { inEther, readAmount } from '../ether.ts'

/** Names of the answers. The command's options have the same names. */
export type AnswerName =
  | 'owner'
  | 'payments'
  | 'public-url'
  | 'min-wei'
  | 'max-wei'
  | 'interval'
  | 'slot'
  | 'tier'
  | 'label'
  | 'price-wei'
  | 'per-wallet'
export type Answers = Readonly<Record<AnswerName, string>>

/** What a question knows when it judges an answer: the answers so far, with its own, and the call's options. */
interface Known {
  readonly answers: Readonly<Partial<Answers>>
  readonly options: Readonly<Record<string, string>>
}

export interface Question {
  readonly ask: string
  /** What an empty answer means; null if an answer is required. */
  readonly usual: string | null
  /** What a valid answer looks like. */
  readonly wanted: string
  /** The setting that has the answer. */
  readonly setting?: string
  /** The answer that may be the wrong one if they contradict each other. We ask for it again as well. */
  readonly pair?: AnswerName
  /** Parses an answer to the form that we store; null if it is invalid. */
  read(text: string): string | null
  /** A stored answer as the user would type it. */
  show?(answer: string): string
  /** Why a valid answer contradicts other answers, in a sentence; null if it does not. */
  refuse?(known: Known): string | null
}

const address = (text: string) => {
  const value = parseAddress(text)
  return value === null || value === ZERO_ADDRESS ? null : value
}
const whole = (most: number) => (text: string) => (/^[1-9][0-9]{0,9}$/.test(text) && Number(text) <= most ? text : null)

/** Digits below a gwei may be wei or ether, so they need a unit. With a decimal point they are ether. */
function amount(text: string): string | null {
  if (/^[1-9]\d{0,8}$/.test(text)) return null
  return readAmount(text, 'wei') ?? readAmount(`${text}ether`, 'wei')
}
const ADDRESS = 'an address, with its checksum or in small letters'
const AMOUNT = 'an amount with its unit, such as 0.01 ETH or 5 gwei'
const ether = (answer: string) => `${inEther(answer)} ETH`

const YEAR_SEC = 31_536_000
const GWEI = 10n ** 9n
const NAMED: Readonly<Record<string, string>> = {
  minWei: '--min-wei',
  maxWei: '--max-wei',
  intervalSec: '--interval',
  slotSec: '--slot',
  zero: '"terms set --zero" later',
}

/** Terms of the answers so far. What is missing gets a value that contradicts nothing. */
function termsOf(answers: Known['answers']) {
  const minWei = BigInt(answers['min-wei'] ?? answers['max-wei'] ?? 1n)
  const intervalSec = Number(answers.interval ?? YEAR_SEC)
  const slotSec = Number(answers.slot ?? intervalSec)
  return { payouts: true, minWei: wei(minWei), maxWei: wei(BigInt(answers['max-wei'] ?? minWei)), intervalSec, slotSec }
}

/** Why the range and the schedule so far contradict each other; null if they do not. */
function refuseRange({ answers, options }: Known): string | null {
  const terms = termsOf(answers)
  const leastIntervalSec = Number(options['least-interval'] ?? Math.min(LEAST_INTERVAL_SEC, terms.intervalSec))
  const limits = { leastIntervalSec, payoutBps: [], zeroAllowed: false }
  const nameOf = (field: string) => NAMED[field] ?? field
  const [first] = refuseTerms(terms, limits, nameOf)
  return first ? `${nameOf(first.field)} ${first.text}.` : null
}

/** Why the range contradicts the bounds that the call sets for the contract; null if it does not. */
function refuseBounds({ answers, options }: Known): string | null {
  const terms = termsOf(answers)
  const gweiOf = (name: string) =>
    /^[0-9]{1,15}$/.test(options[name] ?? '') ? BigInt(options[name] ?? '') * GWEI : null
  const bounds = { floorWei: gweiOf('floor-gwei') ?? 0n, ceilingWei: gweiOf('ceiling-gwei') ?? terms.maxWei }
  const boundsToSet = boundsNeeded(terms, [Number(BPS_BASE)], bounds)
  return (
    boundsToSet &&
    `--floor-gwei, --ceiling-gwei: turns of ${terms.minWei} to ${terms.maxWei} wei need ${boundsToSet.floorGwei} and ${boundsToSet.ceilingGwei}.`
  )
}

function refuseUrl({ answers: { 'public-url': url } }: Known): string | null {
  if (!url) return null
  const { problems } = inspectConfig({ NODE_ENV: 'production', PUBLIC_URL: url }, { readFile: () => '' })
  const problem = problems.find(({ setting }) => setting === 'PUBLIC_URL')
  return problem ? `PUBLIC_URL ${problem.message}` : null
}

/** The questions, in order. */
export const QUESTIONS: Readonly<Record<AnswerName, Question>> = {
  owner: { ask: 'Who owns the contract? A cold wallet.', usual: null, wanted: ADDRESS, read: address },
  payments: {
    ask: 'To which wallet do buyers pay? One of yours.',
    usual: null,
    wanted: ADDRESS,
    setting: 'PAYMENT_ADDRESS',
    read: address,
  },
  'public-url': {
    ask: 'At which https address will people find it? (empty: none yet)',
    usual: '',
    wanted: 'a URL: https://nodes.example.org',
    setting: 'PUBLIC_URL',
    read: (text) => (text === '' ? '' : (parseUrl(text, ['http:', 'https:'])?.origin ?? null)),
    refuse: refuseUrl,
  },
  'min-wei': {
    ask: 'What is the minimum credit of a node for a turn?',
    usual: null,
    wanted: AMOUNT,
    setting: 'CREDIT_MIN_WEI',
    read: amount,
    show: ether,
    refuse: refuseRange,
  },
  'max-wei': {
    ask: 'And the maximum?',
    usual: null,
    wanted: AMOUNT,
    setting: 'CREDIT_MAX_WEI',
    pair: 'min-wei',
    read: amount,
    show: ether,
    refuse: (context) => refuseRange(context) ?? refuseBounds(context),
  },
  interval: {
    ask: 'How many seconds are between two turns of a node?',
    usual: '86400',
    wanted: 'whole seconds',
    setting: 'CREDIT_INTERVAL_SEC',
    read: whole(YEAR_SEC),
    refuse: refuseRange,
  },
  slot: {
    ask: 'Within how many seconds do nodes fall due together?',
    usual: '3600',
    wanted: 'whole seconds',
    setting: 'CREDIT_SLOT_SEC',
    pair: 'interval',
    read: whole(YEAR_SEC),
    refuse: refuseRange,
  },
  tier: {
    ask: 'The first tier: its id?',
    usual: 'basic',
    wanted: 'small letters, digits and hyphens, 32 at most',
    read: (text) => (TIER_ID_FORM.test(text) ? text : null),
  },
  label: {
    ask: 'Its display name?',
    usual: 'Basic',
    wanted: LABEL.form,
    read: (text) => (text && LABEL.parse(text)) || null,
  },
  'price-wei': {
    ask: 'Its price?',
    usual: null,
    wanted: AMOUNT,
    read: amount,
    show: ether,
    refuse: ({ answers }) => (answers['price-wei'] === '0' ? '--price-wei: is 0' : null),
  },
  'per-wallet': {
    ask: 'How many of it may one wallet hold?',
    usual: '10',
    wanted: '1 to 256',
    read: whole(256),
    refuse: ({ answers, options }) =>
      Number(answers['per-wallet']) > Number(options['max-per-wallet'] ?? 256)
        ? `--per-wallet is ${answers['per-wallet']}, more than --max-per-wallet, ${options['max-per-wallet']}.`
        : null,
  },
}
export const ANSWERS = Object.keys(QUESTIONS) as AnswerName[]

export type SecretName = 'RPC_URL' | 'DATABASE_URL'
/** URLs that may contain a password. */
export const SECRETS: Readonly<Record<SecretName, Question>> = {
  RPC_URL: {
    ask: "The chain's JSON-RPC: https://…, several separated by commas?",
    usual: null,
    wanted: 'http://… or https://…',
    read: (text) => {
      const urls = splitRpcUrls(text)
      return urls.length > 0 && urls.every((url) => parseUrl(url, ['http:', 'https:'])) ? text : null
    },
  },
  DATABASE_URL: {
    ask: 'An empty PostgreSQL database: postgres://user:password@host:5432/name?',
    usual: null,
    wanted: 'postgres://user:password@host:5432/name',
    read: (text) => ('mistake' in readDatabaseUrl(text) ? null : text),
  },
}
