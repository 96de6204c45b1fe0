// The settings of what is sold, what nodes are credited, when the passes run, and the price of ether. Most of them only fill an empty ledger
// (`first`): later the ledger's own values win.
import { CONTRACT_WALLET_MODES } from '../domain/payers/payer.ts'
import { GRACE_SEC_MAX, GRACE_SEC_MIN, HOLDING_RETRY_SEC_MAX, TIER_ID_FORM } from '../domain/tiers.ts'
import type { SettingGroup } from './setting.ts'
import { account, DAY_SEC, formed, httpUrl, oneOf, onOff, wei, whole } from './values.ts'

const GRACE = {
  min: GRACE_SEC_MIN,
  max: GRACE_SEC_MAX,
  why: 'a quote may live in caches for 120 seconds, and its price must still buy',
}
const HOLDING_RETRY = {
  min: 0,
  max: HOLDING_RETRY_SEC_MAX,
  why: 'after it a payment whose holding cannot be read is held',
}
const TIMES = { min: 1, max: 365 * DAY_SEC, why: 'a year' }
/** A path of names in a JSON. */
const FIELD_FORM = /^[^.\s]+(\.[^.\s]+){0,15}$/

export const SALE = {
  title: 'What is sold',
  settings: {
    PAYMENT_ADDRESS: {
      parse: account,
      part: 'chain',
      first: true,
      otherwise: 'none, and nothing can be bought (embedded chain: its account 3)',
      text: 'The wallet that buyers pay to, for a ledger that has none yet (later: `node-ledger wallets set`). The service never needs its key.',
    },
    QUOTE_TIER: {
      parse: formed({ form: TIER_ID_FORM, remedy: "set it to a tier's id, like basic" }),
      otherwise: 'the first one on sale',
      example: 'basic',
      text: 'Tier that `/api/deploy-quote` quotes.',
    },
    PRICE_GRACE_SEC: {
      parse: whole(GRACE),

      default: '900',
      text: 'How long what was on sale still buys after a change, in seconds of block time; 120 at least, the time a quote may stay in caches. Named for the first tier of a ledger: what tiers have is theirs (`node-ledger tiers`).',
    },
    HOLDING_RETRY_SEC: {
      parse: whole(HOLDING_RETRY),

      default: '3600',
      text: 'How long a token holding that cannot be read is asked again before the payment is held. For the first tier of a ledger, too.',
    },
    CONTRACT_WALLETS: {
      parse: oneOf(CONTRACT_WALLET_MODES),
      first: true,
      default: 'hold',
      text: 'Who may buy by an internal call, as a Safe and other contract wallets pay: `hold` (none by itself: held for you), `proven` (a contract that has signed in, is a known wallet, or is allowed by you), `all` (any contract). For a ledger that has none yet (later: `node-ledger contract-wallets mode`).',
    },
  },
} satisfies SettingGroup

export const REWARDS = {
  title: 'Rewards',
  text: "The credit terms are the ledger's: `node-ledger terms` lists and changes them. All of these but `DIST_MODE` name them for a ledger that has none, as long as the factory has no nodes and no rounds: all of them, or none. Later they are ignored; a start says so if they differ, until an act has changed the ledger's.",
  settings: {
    DIST_ENABLED: { parse: onOff, first: true, embedded: 'true', text: 'Whether turns are paid.' },
    DIST_MODE: {
      parse: oneOf(['treasury', 'swaps']),
      default: 'treasury',
      text: "Who pays for a round: `treasury` (the distributor's account) or `swaps` (the factory's surplus, as far as its owner allows).",
    },
    CREDIT_MIN_WEI: {
      parse: wei,
      first: true,
      embedded: '500000000000000',
      text: "Least of one turn's draw for a node at the base rate (a tier's `payoutBps` multiplies it).",
    },
    CREDIT_MAX_WEI: { parse: wei, first: true, embedded: '1500000000000000', text: 'Most of the same draw.' },
    CREDIT_INTERVAL_SEC: {
      parse: whole(TIMES),
      first: true,
      embedded: '60',
      text: "Time between two turns of a node; a day, 86400, suits most. A group that is open keeps its interval until the contract's owner sets it (`setInterval`), while a new range holds for all from its time on: change the two together there, or old nodes are paid the new amounts at the old pace.",
    },
    CREDIT_SLOT_SEC: {
      parse: whole(TIMES),
      first: true,
      embedded: '10',
      text: "Time between the turns of a tier's groups of nodes; it divides the interval, at most 255 times. An hour, 3600, suits most.",
    },
  },
} satisfies SettingGroup

export const SCHEDULE = {
  title: 'The schedule',
  settings: {
    SCHEDULER: {
      parse: onOff,
      show: (on: boolean) => (on ? 'on' : 'off'),
      default: 'off',
      embedded: 'on',
      text: 'Whether the built-in timer runs the passes. Where it is off, something outside calls `/api/cron/*`.',
    },
    TICK_SEC: {
      parse: whole({ min: 1, max: DAY_SEC, why: 'a day' }),
      default: '60',
      embedded: '3',
      text: 'Time between two runs.',
    },
    STALE_AFTER_SEC: {
      parse: whole({ min: 1, max: 7 * DAY_SEC, why: 'a week' }),
      default: '300',
      text: '`/api/cron/health` calls the worker stale if its last run, or the last one that ended well, is longer ago. `doctor` fails then.',
    },
  },
} satisfies SettingGroup

export const PRICE = {
  title: 'The price of ether',
  settings: {
    PRICE_URL: {
      parse: httpUrl,
      secret: 'url',
      otherwise: 'none, and `usd` is null',
      example: 'https://price.example.org/eth',
      text: 'Where `/api/price` asks for dollars per ether.',
    },
    PRICE_FIELD: {
      parse: formed({ form: FIELD_FORM, remedy: 'set it to the path of the number, like ethereum.usd' }),
      example: 'data.usd',
      text: 'The path of the number in the JSON that it answers. Required with `PRICE_URL`.',
    },
  },
} satisfies SettingGroup
