// The table of all settings, each in one place: its name, kind of value, default, secrecy, and text for people. The names in names.ts,
// .env.example and docs/SETTINGS.md are made from it. It holds texts only: the readers beside it check and default the values, and a test
// holds them to this table.
import { KEY_GROUPS } from './keys/table.ts'
import type { SettingGroup } from './setting.ts'
import { SITE_GROUP } from './site/table.ts'

export const SETTING_GROUPS = [
  {
    title: 'The service',
    settings: [
      {
        name: 'NODE_ENV',
        kind: 'word',
        default: 'development',
        text: '`production`, `development` or `test`. In production nothing embedded runs, secrets must be strong, and `.env` is not read. Set it in the environment: production is refused in `.env`.',
      },
      {
        name: 'LOG_LEVEL',
        kind: 'word',
        default: 'info',
        text: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
      },
      {
        name: 'HOST',
        kind: 'host',
        default: '127.0.0.1',
        text: 'Where the service listens. 0.0.0.0 is every interface.',
      },
      { name: 'PORT', kind: 'port', default: '3000', text: 'And its port; 0 takes any free one.' },
      {
        name: 'METRICS_HOST',
        kind: 'host',
        default: '127.0.0.1',
        text: 'Where metrics (`GET /metrics`) are served. They have a port of their own, so that they need not be public.',
      },
      { name: 'METRICS_PORT', kind: 'port', default: '9464', text: 'And their port; `off` serves none.' },
      {
        name: 'PUBLIC_URL',
        kind: 'url',
        default: 'http://127.0.0.1:3000',
        otherwise: '`http://HOST:PORT`',
        example: 'https://nodes.example.org',
        text: 'The origin that wallets see: it stands in the message that people sign to sign in, and its host is what operators’ passkeys are made for. Required in production unless `HOST` is a loopback address.',
      },
      {
        name: 'TRUSTED_PROXIES',
        kind: 'list',
        example: '10.0.0.0/8,fd00::/8',
        text: 'Networks (CIDR) or addresses of proxies whose `x-forwarded-for` is believed, with commas between them.',
      },
      {
        name: 'SMART_WALLET_LOGIN',
        kind: 'switch',
        default: 'false',
        text: 'Whether contract wallets (ERC-1271, ERC-6492) can sign in, and prove themselves by it where `CONTRACT_WALLETS` is `proven`. Costs a call to the chain for each attempt.',
      },
      {
        name: 'FRAME_ANCESTORS',
        kind: 'list',
        example: 'https://app.safe.global',
        text: "Origins of pages that may show the public pages in a frame, with commas between them. Safe's makes the service a Safe App, with its `/manifest.json`. The console is never framed.",
      },
    ],
  },
  SITE_GROUP,
  {
    title: 'The embedded parts, if any run',
    settings: [
      {
        name: 'DATA_DIR',
        kind: 'path',
        default: '.node-ledger',
        text: 'Where the embedded database and chain, and generated secrets, are kept. One service at a time.',
      },
      {
        name: 'CHAIN_PORT',
        kind: 'port',
        embedded: '8545',
        text: 'Port of the embedded chain, on 127.0.0.1.',
      },
    ],
  },
  {
    title: 'The database',
    settings: [
      {
        name: 'DATABASE_URL',
        kind: 'url',
        secret: true,
        otherwise: 'the embedded one; required in production',
        example: 'postgres://user:password@db.example.org:5432/node_ledger',
        text: 'PostgreSQL 15 or later.',
      },
      {
        name: 'DATABASE_DIRECT_URL',
        kind: 'url',
        secret: true,
        otherwise: '`DATABASE_URL`',
        text: 'The same database past any pooler, for locks and notifications.',
      },
      {
        name: 'DATABASE_READ_URL',
        kind: 'url',
        secret: true,
        otherwise: '`DATABASE_URL`',
        text: 'A replica for the public reads.',
      },
      {
        name: 'DATABASE_PREPARE',
        kind: 'switch',
        default: 'true',
        text: '`false` behind a transaction pooler that knows no prepared statements (PgBouncer before 1.21).',
      },
    ],
  },
  {
    title: 'The chain',
    settings: [
      {
        name: 'RPC_URL',
        kind: 'url',
        secret: true,
        otherwise: 'the embedded chain; required in production',
        example: 'https://rpc.example.org/v1/key',
        text: 'JSON-RPC over http(s); several, separated by commas, in order of preference.',
      },
      {
        name: 'PUBLIC_RPC_URL',
        kind: 'url',
        example: 'https://public-rpc.example.org',
        text: 'A JSON-RPC that is meant for everybody: shown in `/.well-known/node-ledger.json`.',
      },
      {
        name: 'CHAIN_ID',
        kind: 'whole',
        otherwise: "the chain's own; required in production",
        text: 'Chain id. `node-ledger deploy` prints it, and the next two.',
      },
      {
        name: 'FACTORY_ADDRESS',
        kind: 'address',
        otherwise: 'the embedded one; required wherever `RPC_URL` is set',
        text: "The factory's address.",
      },
      {
        name: 'START_BLOCK',
        kind: 'whole',
        otherwise: '0; required in production',
        text: 'The block that the factory was deployed in, where following begins.',
      },
      {
        name: 'FACTORY_CODE_HASH',
        kind: 'hash',
        text: 'The keccak256 of the code at `FACTORY_ADDRESS`, where that is a factory of another version and you trust it all the same: without this the service does not start on code that it does not know.',
      },
      {
        name: 'FORMER_FACTORIES',
        kind: 'list',
        otherwise: 'not said',
        text: 'Factories that this sale has had before, with commas between them, or `none`. Needed at the first start on a real chain where `PAYMENT_ADDRESS` was used already: a payment must never count at two factories (docs/MOVING.md).',
      },
      {
        name: 'FINALITY',
        kind: 'word',
        default: 'guarded',
        text: 'When a payment is settled enough to mint for: `guarded` (at once; the mint is void on any fork without the payment), `finalized`, or a number of confirmations.',
      },
      {
        name: 'VALID_FOR_SEC',
        kind: 'seconds',
        default: '900',
        text: 'Seconds of block time after which a transaction that the service signed can no longer be carried out. 60 to 3600.',
      },
      {
        name: 'FEE_CAP_WEI',
        kind: 'wei',
        otherwise: '500 gwei on Ethereum and elsewhere, 50 on known rollups',
        example: '50000000000',
        text: 'Most that is offered per gas in all. What the last blocks show bounds it, too.',
      },
      {
        name: 'TIP_MAX_WEI',
        kind: 'wei',
        otherwise: '10 gwei on Ethereum, 2 on known rollups, 100 elsewhere',
        text: 'Most that is offered per gas as a tip. What the last blocks show bounds it, too.',
      },
    ],
  },
  {
    title: 'What is sold',
    settings: [
      {
        name: 'PAYMENT_ADDRESS',
        kind: 'address',
        otherwise: 'none, and nothing can be bought (embedded chain: its account 3)',
        text: 'The wallet that buyers pay to, for a ledger that has none yet (later: `node-ledger wallets set`). The service never needs its key.',
      },
      {
        name: 'QUOTE_TIER',
        kind: 'text',
        otherwise: 'the first one on sale',
        example: 'basic',
        text: 'Tier that `/api/deploy-quote` quotes.',
      },
      {
        name: 'PRICE_GRACE_SEC',
        kind: 'seconds',
        default: '900',
        text: 'How long what was on sale still buys after a change, in seconds of block time; 120 at least, the time a quote may stay in caches. Named for the first tier of a ledger: what tiers have is theirs (`node-ledger tiers`).',
      },
      {
        name: 'HOLDING_RETRY_SEC',
        kind: 'seconds',
        default: '3600',
        text: 'How long a token holding that cannot be read is asked again before the payment is held. For the first tier of a ledger, too.',
      },
      {
        name: 'CONTRACT_WALLETS',
        kind: 'word',
        default: 'hold',
        text: 'Who may buy by an internal call, as a Safe and other contract wallets pay: `hold` (none by itself: held for you), `proven` (a contract that has signed in, is a known wallet, or is allowed by you), `all` (any contract). For a ledger that has none yet (later: `node-ledger contract-wallets mode`).',
      },
    ],
  },
  ...KEY_GROUPS,
  {
    title: 'Rewards',
    text: "The credit terms are the ledger's: `node-ledger terms` lists and changes them. All of these but `DIST_MODE` name them for a ledger that has none, as long as the factory has no nodes and no rounds: all of them, or none. Later they are ignored, and a start says where they differ.",
    settings: [
      { name: 'DIST_ENABLED', kind: 'switch', embedded: 'true', text: 'Whether turns are paid.' },
      {
        name: 'DIST_MODE',
        kind: 'word',
        default: 'treasury',
        text: "Who pays for a round: `treasury` (the distributor's account) or `swaps` (the factory's surplus, as far as its owner allows).",
      },
      {
        name: 'CREDIT_MIN_WEI',
        kind: 'wei',
        embedded: '500000000000000',
        text: "Least of one turn's draw for a node at the base rate (a tier's `payoutBps` multiplies it).",
      },
      { name: 'CREDIT_MAX_WEI', kind: 'wei', embedded: '1500000000000000', text: 'Most of the same draw.' },
      {
        name: 'CREDIT_INTERVAL_SEC',
        kind: 'seconds',
        embedded: '60',
        text: "Time between two turns of a node; a day, 86400, suits most. A group that is open keeps its interval until the contract's owner sets it (`setInterval`), while a new range holds for all from its time on: change the two together there, or old nodes are paid the new amounts at the old pace.",
      },
      {
        name: 'CREDIT_SLOT_SEC',
        kind: 'seconds',
        embedded: '10',
        text: "Time between the turns of a tier's groups of nodes; it divides the interval, at most 255 times. An hour, 3600, suits most.",
      },
    ],
  },
  {
    title: 'The schedule',
    settings: [
      {
        name: 'SCHEDULER',
        kind: 'switch',
        default: 'off',
        embedded: 'on',
        text: 'Whether the built-in timer runs the passes. Where it is off, something outside calls `/api/cron/*`.',
      },
      { name: 'TICK_SEC', kind: 'seconds', default: '60', embedded: '3', text: 'Time between two runs.' },
      {
        name: 'STALE_AFTER_SEC',
        kind: 'seconds',
        default: '300',
        text: '`/api/cron/health` calls the worker stale if its last run, or the last one that ended well, is longer ago. `doctor` fails then.',
      },
    ],
  },
  {
    title: 'Secrets',
    text: 'Not set in development, all but `SESSION_SECRET_PREVIOUS` are generated once and kept in `DATA_DIR/secrets.json`. `openssl rand -hex 32` makes a good one.',
    settings: [
      {
        name: 'SESSION_SECRET',
        kind: 'key',
        secret: true,
        otherwise: 'generated; required in production',
        text: 'Signs sessions; 32 characters at least.',
      },
      {
        name: 'SESSION_SECRET_PREVIOUS',
        kind: 'key',
        secret: true,
        text: 'The one before, whose sessions stay valid while you rotate.',
      },
      {
        name: 'ADMIN_KEY',
        kind: 'key',
        secret: true,
        otherwise: 'generated; in production none',
        text: 'Opens all of `/api/admin`, beside the keys of the ledger (`node-ledger admin-keys create`), also while the database is away; without any key `/api/admin` is not there. Several as `label:key`, separated by commas (in a file also by lines); the label stands in the audit log. 32 random characters at least; in development 8 will do.',
      },
      {
        name: 'CRON_KEY',
        kind: 'key',
        secret: true,
        otherwise: 'generated; in production none, and neither can be called',
        text: 'Opens `/api/cron/payments` and `/api/cron/credit`. As long as an `ADMIN_KEY`.',
      },
    ],
  },
  {
    title: 'The price of ether',
    settings: [
      {
        name: 'PRICE_URL',
        kind: 'url',
        secret: true,
        otherwise: 'none, and `usd` is null',
        example: 'https://price.example.org/eth',
        text: 'Where `/api/price` asks for dollars per ether.',
      },
      {
        name: 'PRICE_FIELD',
        kind: 'text',
        example: 'data.usd',
        text: 'The path of the number in the JSON that it answers. Required with `PRICE_URL`.',
      },
    ],
  },
  {
    title: 'Webhooks',
    text: 'Endpoints for a ledger that never had any; later `node-ledger webhooks` adds and removes them.',
    settings: [
      {
        name: 'WEBHOOK_URL',
        kind: 'url',
        secret: true,
        example: 'https://hooks.example.org/node-ledger',
        text: 'Where events are sent to (`payment.held`, `round.credited` and others; docs/WEBHOOKS.md), or for mail `smtps://user:password@host?from=…&to=…`; several URLs, separated by commas.',
      },
      {
        name: 'WEBHOOK_SECRET',
        kind: 'key',
        secret: true,
        text: 'What they are signed with, as Standard Webhooks has it: `whsec_` and the base64 of 24 to 64 random bytes. While you rotate, the new one and the one before, with a comma. Required with a `WEBHOOK_URL` that is neither a chat’s own nor mail.',
      },
      {
        name: 'WEBHOOK_EVENTS',
        kind: 'list',
        example: 'payment.held,funds.low',
        text: 'The kinds of events that they are sent, with commas, or `all`: one list for all of `WEBHOOK_URL`, or one for each in its order with a `/` between them. Without it all, and by mail what asks for somebody.',
      },
      {
        name: 'WEBHOOK_ALLOW_PRIVATE',
        kind: 'switch',
        text: 'Whether receivers may be at private addresses, and spoken to without TLS.',
        otherwise: 'false',
      },
    ],
  },
] as const satisfies readonly SettingGroup[]
