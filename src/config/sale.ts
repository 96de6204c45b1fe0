// The settings that define what is sold, what nodes are credited, when the passes run, and where the price of ether comes from. Most of them only fill
// an empty ledger (`first`); after that, the ledger's own values count.
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
  why: 'after that the service holds the payment',
}
const TIMES = { min: 1, max: 365 * DAY_SEC, why: 'a year' }
/** Names separated by dots: the path to a value in a JSON object. */
const FIELD_FORM = /^[^.\s]+(\.[^.\s]+){0,15}$/

export const SALE = {
  title: 'What is sold',
  settings: {
    PAYMENT_ADDRESS: {
      parse: account,
      part: 'chain',
      first: true,
      otherwise: 'none, and nothing can be bought (embedded chain: its account 3)',
      text: 'The wallet that buyers pay. It only fills a ledger without one; later use `node-ledger wallets set`. The service never needs its key.',
    },
    QUOTE_TIER: {
      parse: formed({ form: TIER_ID_FORM, remedy: "set it to a tier's id, like basic" }),
      otherwise: 'the first one on sale',
      example: 'basic',
      text: 'The tier that `/api/deploy-quote` quotes.',
    },
    PRICE_GRACE_SEC: {
      parse: whole(GRACE),

      default: '900',
      text: 'How long the old price still buys a tier after a change, in seconds of block time; at least 120, because a quote may stay in caches that long. It applies to the first tier of a ledger; later each tier has its own (`node-ledger tiers`).',
    },
    HOLDING_RETRY_SEC: {
      parse: whole(HOLDING_RETRY),

      default: '3600',
      text: 'How long the service retries to read a token holding before it holds the payment. It applies to the first tier of a ledger; later each tier has its own.',
    },
    CONTRACT_WALLETS: {
      parse: oneOf(CONTRACT_WALLET_MODES),
      first: true,
      default: 'hold',
      text: 'Which contract wallets (a Safe, for example) may buy without your review: `hold` (none; the service holds the payment for you), `proven` (one that has signed in, is a known wallet, or is allowed by you), `all` (any contract). It only fills a ledger without a mode; later use `node-ledger contract-wallets mode`.',
    },
  },
} satisfies SettingGroup

export const REWARDS = {
  title: 'Rewards',
  text: 'The ledger keeps the credit terms; `node-ledger terms` lists and changes them. All of these settings but `DIST_MODE` fill a ledger without terms, if the factory has no nodes and no rounds. Set all of them, or none. Later the service ignores them. If they differ from the ledger’s terms, it warns at start, until you change those.',
  settings: {
    DIST_ENABLED: { parse: onOff, first: true, embedded: 'true', text: 'Pays turns.' },
    DIST_MODE: {
      parse: oneOf(['treasury', 'swaps']),
      default: 'treasury',
      text: "What pays for a round: `treasury` (the distributor's account) or `swaps` (the factory's surplus, as far as its owner allows).",
    },
    CREDIT_MIN_WEI: {
      parse: wei,
      first: true,
      embedded: '500000000000000',
      text: "The least that a node draws in a turn at the base rate (a tier's `payoutBps` multiplies it).",
    },
    CREDIT_MAX_WEI: { parse: wei, first: true, embedded: '1500000000000000', text: 'The most of that draw.' },
    CREDIT_INTERVAL_SEC: {
      parse: whole(TIMES),
      first: true,
      embedded: '60',
      text: "The time between two turns of a node; a day (86400) suits most. Open cohorts keep their interval until the contract's owner sets it (`setInterval`), but a new range applies to all of them. So change both together, or old nodes get the new amounts at the old pace.",
    },
    CREDIT_SLOT_SEC: {
      parse: whole(TIMES),
      first: true,
      embedded: '10',
      text: "The time between the turns of a tier's cohorts. It must divide the interval, at most 255 times. An hour (3600) suits most.",
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
      text: 'Runs the passes by the built-in timer. If it is off, call `/api/cron/*` from a scheduler of yours.',
    },
    TICK_SEC: {
      parse: whole({ min: 1, max: DAY_SEC, why: 'a day' }),
      default: '60',
      embedded: '3',
      text: 'The time between two runs of the passes, whichever scheduler runs them. `/api/cron/health` reports the worker as stale, and `doctor` fails, if there was no good run for five times as long, and for at least 300 s.',
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
      text: 'The source of dollars per ether for `/api/price`.',
    },
    PRICE_FIELD: {
      parse: formed({ form: FIELD_FORM, remedy: 'set it to the path of the number, like ethereum.usd' }),
      example: 'data.usd',
      text: "The path of the number in that source's JSON. Required with `PRICE_URL`.",
    },
  },
} satisfies SettingGroup
