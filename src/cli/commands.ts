// The table of all commands. Help, docs/CLI.md and the parser are made from it; what each command does is in its module.
import type { Command } from './command.ts'

const YES = { yes: { help: 'do not ask' } }
const REASON = { reason: { value: 'text', help: 'kept in the audit log' } }
const REASON_WANTED = { reason: { ...REASON.reason, required: true } }
const PAGE = {
  limit: { value: 'n', help: 'rows, 1 to 200; 50 where it is left out' },
  cursor: { value: 'cursor', help: 'the page after the one that named it' },
}
const PERIOD = {
  month: { value: 'yyyy-mm', help: 'a month, by UTC' },
  from: { value: 'moment', help: 'its first block, or a time like 2026-10-01 or 2026-10-01T00:00:00Z' },
  to: { value: 'moment', help: 'its last block, or the first time that does not belong to it' },
}
const PAYMENT = { name: 'payment', help: "its transaction's hash, or its row id" }
const TIER = { name: 'tier-id', help: 'the tier' }
/** Said of every preview of the owner's transactions. */
const SIGNED_ELSEWHERE = `Prints the transaction for the owner's wallet, a multisig as a rule: to whom, its data, what stands before and
after it, and whether the contract would take it now. Nothing is signed or sent.`
const BOUNDS = {
  'floor-gwei': { value: 'gwei', help: 'the least that a node may be credited for a turn', required: true },
  'ceiling-gwei': { value: 'gwei', help: 'the most', required: true },
}
/** Terms of a tier that a version may change. */
const TERMS = {
  label: { value: 'text', help: 'its name, as buyers see it' },
  'max-per-wallet': { value: 'n', help: 'nodes of this tier that one wallet may hold' },
  'payout-bps': { value: 'bps', help: 'its share of a draw, in basis points; 10000 is the whole' },
  'holding-token': { value: 'address', help: 'ERC-20 token that a buyer must hold' },
  'holding-wei': { value: 'amount', help: 'how much of it, in its smallest unit; 0: open to anyone' },
  'holding-symbol': { value: 'text', help: "the token's symbol, as buyers see it" },
  'holding-decimals': { value: 'n', help: "the token's decimals" },
  'holding-retry-sec': { value: 'n', help: 'seconds for which a holding that cannot be read is asked again' },
}
const GRACE = {
  'grace-sec': { value: 'n', help: 'seconds for which what was on sale before still buys it; as at the last change' },
  'at-once': { help: 'for a mistake: it ends with the next block, and any grace with it' },
}

export const COMMANDS: readonly Command[] = [
  {
    name: 'start',
    group: 'run',
    summary: 'run the service; with nothing configured, on an embedded database and chain',
    details: 'The log goes to stdout as JSON lines, what a person wants to know at the start to stderr.',
    examples: ['node-ledger start'],
    longRunning: true,
    load: async () => (await import('./start.ts')).start,
  },
  {
    name: 'dev',
    group: 'run',
    summary: 'run the service for working on it: a readable log, and a new start whenever a file changes',
    details: 'For a checkout. Whatever the embedded parts hold is kept between starts.',
    examples: ['node-ledger dev'],
    longRunning: true,
    load: async () => (await import('./dev.ts')).dev,
  },
  {
    name: 'migrate',
    group: 'run',
    summary: 'bring the database to the current schema',
    details: 'The service does so itself at its start. An older service goes on reading a newer schema.',
    options: { status: { help: 'only say which migrations are missing; exit code 1 when any is' } },
    examples: ['node-ledger migrate --status', 'node-ledger migrate'],
    load: async () => (await import('./migrate.ts')).migrate,
  },
  {
    name: 'deploy',
    group: 'run',
    summary: 'put the node factory on a chain and print the settings for it',
    details: `Shows chain, balance and cost, and asks. The deployer pays and gets no role. Its key is read from
DEPLOYER_PRIVATE_KEY, or from the file that DEPLOYER_PRIVATE_KEY_FILE names.`,
    options: {
      owner: {
        value: 'address',
        help: 'may pause, set the two roles below and what they may do, and sweep what is owed to no node; best a cold wallet',
      },
      minter: { value: 'address', help: 'the account of MINTER_PRIVATE_KEY' },
      distributor: { value: 'address', help: 'the account of DISTRIBUTOR_PRIVATE_KEY' },
      nodes: { value: 'n', help: 'nodes the minter may mint before the owner refills it; 1000 where it is left out' },
      cohorts: {
        value: 'n',
        help: 'cohorts the minter may open before the owner refills it; 1000 where it is left out',
      },
      'floor-gwei': { value: 'gwei', help: 'the least a node may be credited for a turn; 0 where it is left out' },
      'ceiling-gwei': {
        value: 'gwei',
        help: 'the most a node may be credited for a turn; 1 ether where it is left out',
      },
      'max-per-wallet': { value: 'n', help: 'nodes one wallet may hold, 1 to 256; 20 where it is left out' },
      'least-interval': {
        value: 'sec',
        help: 'the shortest time between turns that any cohort may have; 3600 where it is left out',
      },
      salt: {
        value: 'hex',
        help: 'deploy to an address that is the same on every chain, through the deterministic deployer; 32 bytes of your choice',
      },
      kit: {
        value: 'directory',
        help: 'where to write what verifies the source; "factory-", chain id and address where it is left out',
      },
      'rpc-url': { value: 'url', help: "the chain's JSON-RPC; RPC_URL where it is left out" },
      ...YES,
    },
    examples: [
      'node-ledger deploy --rpc-url <url> --owner <owner> --minter <minter> --distributor <distributor> --yes',
    ],
    load: async () => (await import('./deploy.ts')).deploy,
  },
  {
    name: 'pass',
    group: 'run',
    summary: 'run one pass now, under the same locks as the service, and print its outcome',
    details: `payments: follow the chain, judge, mint. credit: pay the turns that are due. reconcile: compare the whole ledger with the
contract, and insert nodes that it lacks. Exit code 1 when it did not run (another run holds the lock), or did not do its work
(paused, halted, underfunded, not signed, the minter's budget spent).`,
    args: [{ name: 'pass', help: 'payments, credit or reconcile', choices: ['payments', 'credit', 'reconcile'] }],
    examples: ['node-ledger pass payments', 'node-ledger pass credit --json', 'node-ledger pass reconcile'],
    load: async () => (await import('./pass.ts')).pass,
  },
  {
    name: 'doctor',
    group: 'look',
    summary: 'look at everything the service needs, and say what is wrong and what to do',
    details: `Settings, service, database, each chain provider, factory and its first block, roles, keys, signers, funds, payments wallet, clocks, passes, sale, webhooks, drift. Each is looked at by
itself, whatever else is down. Exit code 0 when nothing is worse than a warning, 1 when something is wrong, 3 when nothing is known to
be wrong but not everything could be looked at.`,
    examples: ['node-ledger doctor', 'node-ledger doctor --json'],
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'verify',
    group: 'look',
    summary: 'compare the whole ledger with the contract at one block: counters, every node, every cohort, cover',
    details:
      'Exit code 0 when they are equal, 1 when they differ or the contract holds less than it owes, 3 when they could not be compared.',
    examples: ['node-ledger verify', 'node-ledger verify --json'],
    load: async () => (await import('./verify.ts')).verify,
  },
  {
    name: 'rescan',
    group: 'look',
    summary: 'read blocks anew and hold them against the ledger; where something is missing, go back and follow again',
    details:
      'Shows first what it would do. It never goes below the headers that are stored; beyond them, "rebuild" compares.',
    options: {
      'from-block': { value: 'block', help: 'the first block', required: true },
      ...REASON,
      ...YES,
    },
    examples: ['node-ledger rescan --from-block <block> --yes'],
    load: async () => (await import('./rescan.ts')).rescanBlocks,
  },
  {
    name: 'rebuild',
    group: 'look',
    summary: 'follow the chain anew into an empty database, and tell what differs from the ledger',
    details: `Never sends, and never writes to the current ledger, which may go on meanwhile. Exit code 1 when something differs
that must be equal. The database may also be named by REBUILD_DATABASE_URL, which other users of the machine cannot see.`,
    options: { into: { value: 'url', help: 'an empty PostgreSQL database' } },
    examples: ['node-ledger rebuild --into <url>'],
    load: async () => (await import('./rebuild.ts')).rebuildLedger,
  },
  {
    name: 'payments list',
    group: 'decide',
    summary: 'list payments, newest first, with where each stands and why',
    options: {
      status: {
        value: 'status',
        help: 'seen, accepted, minting, minted, held, refunded, dismissed, orphaned or ignored',
      },
      reason: { value: 'reason', help: 'why it is held: wrongAmount, tierAllowance and so on' },
      ...PAGE,
    },
    examples: ['node-ledger payments list --status held', 'node-ledger payments list --limit 10 --json'],
    load: async () => (await import('./payments.ts')).list,
  },
  {
    name: 'payments show',
    group: 'decide',
    summary: 'show a payment with all that is known of it: verdicts and their evidence, refund, mint',
    args: [PAYMENT],
    examples: ['node-ledger payments show <hash>'],
    load: async () => (await import('./payments.ts')).show,
  },
  {
    name: 'payments claim',
    group: 'decide',
    summary: "follow to a payment's block and judge it now, as its buyer's claim does",
    args: [{ name: 'hash', help: 'the transaction' }],
    examples: ['node-ledger payments claim <hash>'],
    load: async () => (await import('./payments.ts')).claim,
  },
  {
    name: 'payments release',
    group: 'decide',
    summary: 'accept a held payment whatever the rules said; the next pass mints its node to its sender',
    args: [PAYMENT],
    options: {
      'tier-id': { value: 'tier', help: 'the tier, where the amount is the price of none' },
      ...REASON,
      ...YES,
    },
    examples: ['node-ledger payments release <hash> --tier-id basic --reason "agreed by mail" --yes'],
    load: async () => (await import('./payments.ts')).release,
  },
  {
    name: 'payments attribute',
    group: 'decide',
    summary: 'name the transaction by which value came that no transaction’s own value explains',
    details: `For a payment held "unattributed", as a Safe's or an exchange's is. The provider's trace of the transaction (it must speak
debug_traceTransaction) has to show an inner transfer of just that value to the payments wallet. Whoever made it is the sender from then
on, and the payment can be released to it.`,
    args: [{ name: 'payment', help: 'its row id, as "payments list" shows it' }],
    options: {
      'tx-hash': { value: 'hash', help: 'the transaction, as an explorer shows it', required: true },
      ...REASON,
      ...YES,
    },
    examples: ['node-ledger payments attribute <unattributed> --tx-hash <inner> --reason "their Safe" --yes'],
    load: async () => (await import('./payments.ts')).attribute,
  },
  {
    name: 'payments dismiss',
    group: 'decide',
    summary: 'decide that neither a node nor a refund comes of a held payment, or of all the dust',
    args: [{ ...PAYMENT, optional: true }],
    options: {
      'below-wei': { value: 'wei', help: 'instead of one payment: all held ones of less than this' },
      ...REASON,
      ...YES,
    },
    examples: [
      'node-ledger payments dismiss <hash> --reason "a test of ours" --yes',
      'node-ledger payments dismiss --below-wei 1000000000000000 --yes',
    ],
    load: async () => (await import('./payments.ts')).dismiss,
  },
  {
    name: 'payments refund-prepare',
    group: 'decide',
    summary: 'hold a payment for its refund, and say whether the ether may be sent back already',
    details: `The first step of a refund, for any payment without a node. No mint is signed for it from then on; one that was signed before may
be carried out until the time that is told. Send nothing before this command says "Send it now": run it again until it does.`,
    args: [PAYMENT],
    options: { ...REASON, ...YES },
    examples: ['node-ledger payments refund-prepare <hash> --reason "agreed by mail" --yes'],
    load: async () => (await import('./payments.ts')).refundPrepare,
  },
  {
    name: 'payments refund-cancel',
    group: 'decide',
    summary: 'give a refund up that was prepared: the payment stands as before, or is judged again',
    args: [PAYMENT],
    options: { ...REASON, ...YES },
    examples: ['node-ledger payments refund-cancel <refunding> --yes'],
    load: async () => (await import('./payments.ts')).refundCancel,
  },
  {
    name: 'payments refund',
    group: 'decide',
    summary: 'record that you paid a payment back, which the chain must confirm',
    details: `You send the refund with a wallet of your own, once "payments refund-prepare" says so: nothing here sends it. The transaction must be in
a block, have succeeded, go to whoever paid, and carry the very amount; where a Safe made it, the provider's trace has to show that. What
is on chain is recorded whenever it was sent; too early, it is told.`,
    args: [PAYMENT],
    options: {
      'refund-tx-hash': { value: 'hash', help: 'the transaction of your refund', required: true },
      ...REASON,
      ...YES,
    },
    examples: ['node-ledger payments refund <hash> --refund-tx-hash <refund> --yes'],
    load: async () => (await import('./payments.ts')).refund,
  },
  {
    name: 'wallets list',
    group: 'decide',
    summary: 'list the payments wallets: the one buyers pay to, those still watched, those closed',
    examples: ['node-ledger wallets list'],
    load: async () => (await import('./wallets.ts')).list,
  },
  {
    name: 'wallets set',
    group: 'decide',
    summary: 'change the wallet that buyers pay to',
    details: `It holds from 64 blocks and five minutes ahead of the followed block on; quotes change then. For a grace more a payment to the one
before is a sale, later it is held (oldWallet). With --stolen it holds from the next block on, and no later payment to the one before is a sale.`,
    args: [{ name: 'address', help: 'the wallet' }],
    options: {
      'grace-sec': { value: 'n', help: 'seconds for which the one before still sells; as at the last change' },
      stolen: { help: 'the key of the present one is in the wrong hands' },
      ...REASON,
      ...YES,
    },
    examples: [
      'node-ledger wallets set <new-address> --reason "new custodian" --yes',
      'node-ledger wallets set <new-address> --stolen --yes',
    ],
    load: async () => (await import('./wallets.ts')).set,
  },
  {
    name: 'wallets take-back',
    group: 'decide',
    summary:
      'take back the latest change of the payments wallet, as long as it does not hold and nothing was paid there',
    args: [{ name: 'address', help: 'the wallet' }],
    options: { ...REASON, ...YES },
    examples: ['node-ledger wallets take-back <new-address> --reason "a slip" --yes'],
    load: async () => (await import('./wallets.ts')).takeBack,
  },
  {
    name: 'wallets close',
    group: 'decide',
    summary: 'close the books of a wallet that was replaced: what comes there later is not seen',
    args: [{ name: 'address', help: 'the wallet' }],
    options: { ...REASON, ...YES },
    examples: ['node-ledger wallets close <old-address> --yes'],
    load: async () => (await import('./wallets.ts')).close,
  },
  {
    name: 'terms list',
    group: 'decide',
    summary: "list the credit terms, and what the contract's owner has to do for them",
    examples: ['node-ledger terms list'],
    load: async () => (await import('./terms.ts')).list,
  },
  {
    name: 'terms set',
    group: 'decide',
    summary: 'enter credit terms that hold from a time on: whether turns are owed, their range, the schedule',
    details: `They hold from five minutes after the latest block time that any provider shows, or from --from-time. What is left out stays.
Turns due before are paid by the terms of their time. "--payouts false" takes effect once the contract's owner has sent the transaction that is
printed; until then turns are owed and wait.`,
    options: {
      payouts: { value: 'true|false', help: 'whether turns due from then on are owed' },
      'min-wei': { value: 'wei', help: "least draw of a turn; a tier's rate multiplies it" },
      'max-wei': { value: 'wei', help: 'most of it' },
      'interval-sec': {
        value: 's',
        help: 'time between two turns of a node, for cohorts that are opened from then on',
      },
      'slot-sec': { value: 's', help: 'time between the phases of a tier; it divides the interval' },
      'from-time': { value: 'unix', help: 'block time from which they hold, unix seconds' },
      zero: { help: 'allow turns that pay nothing' },
      before: {
        value: 'word',
        help: 'for a ledger without terms: who pays turns due before, "same", "range" or "notOwed"',
      },
      'before-min-wei': { value: 'wei', help: 'with --before range: least draw of turns due before' },
      'before-max-wei': { value: 'wei', help: 'most of it' },
      ...REASON,
      ...YES,
    },
    examples: [
      'node-ledger terms set --max-wei 1600000000000000 --reason "summer" --yes',
      'node-ledger terms set --payouts false --yes',
    ],
    load: async () => (await import('./terms.ts')).set,
  },
  {
    name: 'terms take-back',
    group: 'decide',
    summary: 'take back the latest credit terms, as long as they do not hold yet',
    details: "Terms that switch payouts off can be taken back until the contract's owner has set a window for them.",
    options: { ...REASON, ...YES },
    examples: ['node-ledger terms take-back --reason "a slip" --yes'],
    load: async () => (await import('./terms.ts')).takeBack,
  },
  {
    name: 'tiers list',
    group: 'decide',
    summary: 'list the tiers with their prices and terms',
    examples: ['node-ledger tiers list'],
    load: async () => (await import('./tiers.ts')).list,
  },
  {
    name: 'tiers create',
    group: 'decide',
    summary: 'enter a new tier, which is on sale from the next block on',
    details:
      'A tier has its number on the contract for good. No two tiers on sale have one price: the amount selects the tier.',
    args: [TIER],
    options: {
      'price-wei': { value: 'wei', help: 'its price; the exact amount of a payment', required: true },
      ...TERMS,
      label: { ...TERMS.label, required: true },
      'max-per-wallet': { ...TERMS['max-per-wallet'], required: true },
      'tier-no': { value: 'n', help: 'its number on the contract; the next free one where it is left out' },
      ...REASON,
      ...YES,
    },
    examples: ['node-ledger tiers create silver --label Silver --price-wei 30000000000000000 --max-per-wallet 5 --yes'],
    load: async () => (await import('./tiers.ts')).create,
  },
  {
    name: 'tiers price',
    group: 'decide',
    summary: "change a tier's price or other terms, from the next block on",
    details:
      'What was on sale before still buys the tier for a grace, because quotes live in caches. What is left out stays as it is.',
    args: [TIER],
    options: { 'price-wei': { value: 'wei', help: 'its new price' }, ...TERMS, ...GRACE, ...REASON, ...YES },
    examples: ['node-ledger tiers price basic --price-wei 12000000000000000 --reason "spring prices" --yes'],
    load: async () => (await import('./tiers.ts')).price,
  },
  {
    name: 'tiers on-sale',
    group: 'decide',
    summary: 'put a tier on sale again',
    args: [TIER],
    options: { ...REASON, ...YES },
    examples: ['node-ledger tiers on-sale plus --yes'],
    load: async () => (await import('./tiers.ts')).onSale,
  },
  {
    name: 'tiers off-sale',
    group: 'decide',
    summary: 'take a tier off sale; its nodes go on being credited',
    details: 'It still sells for a grace, because quotes live in caches; later payments are held (saleClosed).',
    args: [TIER],
    options: { ...GRACE, ...REASON, ...YES },
    examples: ['node-ledger tiers off-sale plus --reason "sold out" --yes'],
    load: async () => (await import('./tiers.ts')).offSale,
  },
  {
    name: 'senders list',
    group: 'decide',
    summary: 'list the wallets whose payments are held for you to see first',
    examples: ['node-ledger senders list'],
    load: async () => (await import('./senders.ts')).list,
  },
  {
    name: 'senders deny',
    group: 'decide',
    summary: "hold every payment of a wallet, an exchange's for one, which pays for many people",
    args: [{ name: 'address', help: 'the wallet' }],
    options: { label: { value: 'text', help: 'whose it is', required: true }, ...REASON_WANTED },
    examples: ['node-ledger senders deny <address> --label "an exchange" --reason "pays for many people"'],
    load: async () => (await import('./senders.ts')).deny,
  },
  {
    name: 'senders allow',
    group: 'decide',
    summary: 'take a wallet off that list; what is held stays held until you decide',
    args: [{ name: 'address', help: 'the wallet' }],
    options: REASON,
    examples: ['node-ledger senders allow <address>'],
    load: async () => (await import('./senders.ts')).allow,
  },
  {
    name: 'nodes unpaid',
    group: 'decide',
    summary: 'list nodes that nobody paid for, each with its grant',
    details:
      'A cohort that holds a node with neither payment nor grant is not credited: the node may come from a stolen key.',
    options: { open: { help: 'only those without a grant' }, ...PAGE },
    examples: ['node-ledger nodes unpaid --open'],
    load: async () => (await import('./nodes.ts')).unpaid,
  },
  {
    name: 'nodes grant',
    group: 'decide',
    summary: 'say that a node without a payment is meant to be, so that its cohort is credited',
    args: [{ name: 'node-id', help: 'its id on the contract' }],
    options: { ...REASON_WANTED, ...YES },
    examples: ['node-ledger nodes grant <node> --reason "a gift of the house" --yes'],
    load: async () => (await import('./nodes.ts')).grant,
  },
  {
    name: 'nodes revoke',
    group: 'decide',
    summary: 'take a grant back; what was credited stays',
    args: [{ name: 'node-id', help: 'its id on the contract' }],
    options: { ...REASON_WANTED, ...YES },
    examples: ['node-ledger nodes revoke <node> --reason "a mistake" --yes'],
    load: async () => (await import('./nodes.ts')).revoke,
  },
  {
    name: 'pause',
    group: 'decide',
    summary: 'stop crediting rounds; payments are still followed, judged and minted',
    details:
      'A round that is sent already is settled. Turns that are missed are owed, and paid one after the other later.',
    options: REASON,
    examples: ['node-ledger pause --reason "the treasury moves"'],
    load: async () => (await import('./pause.ts')).pause,
  },
  {
    name: 'resume',
    group: 'decide',
    summary: 'end the pause; with --halt clear a halt, once you have looked at why',
    details: `A pause is yours. A halt is the passes' own: they stop when the chain is not the one they had followed, and say why in the
health report and the audit log. Where nothing has changed, they halt anew.`,
    options: {
      halt: { help: 'clear the halt instead of the pause; says what it was, and asks' },
      ...REASON,
      ...YES,
    },
    examples: ['node-ledger resume', 'node-ledger resume --halt --yes'],
    load: async () => (await import('./pause.ts')).resume,
  },
  {
    name: 'recheck',
    group: 'decide',
    summary: 'have every payment up to a block that has no node held, as after a restore from a backup',
    details: `The service notices a restore by itself when something of its own is on chain that the ledger does not know. Where nothing was
minted or credited since the backup, it cannot: then run this before the first start. It never goes down again.`,
    options: { 'up-to': { value: 'block', help: 'the block, as a rule the head', required: true }, ...YES },
    examples: ['node-ledger recheck --up-to 1 --yes'],
    load: async () => (await import('./recheck.ts')).recheck,
  },
  {
    name: 'owner show',
    group: 'owner',
    summary: "show the contract's owner, the two keys and what the owner lets them do",
    examples: ['node-ledger owner show', 'node-ledger owner show --json'],
    load: async () => (await import('./owner.ts')).show,
  },
  {
    name: 'owner refill-minter',
    group: 'owner',
    summary: 'preview the transaction that adds nodes and cohorts to what the minter may still mint and open',
    details: SIGNED_ELSEWHERE,
    options: {
      nodes: { value: 'n', help: 'nodes more' },
      cohorts: { value: 'n', help: 'cohorts more' },
      'nodes-most': {
        value: 'n',
        help: 'what it leaves at most; what is left now and those more where it is left out',
      },
      'cohorts-most': { value: 'n', help: 'the same for cohorts' },
    },
    examples: ['node-ledger owner refill-minter --nodes 500', 'node-ledger owner refill-minter --cohorts 100 --json'],
    load: async () => (await import('./owner.ts')).refillMinter,
  },
  {
    name: 'owner set-minter',
    group: 'owner',
    summary: 'preview the transaction that gives the minter’s role to another key, with a budget of its own',
    details: SIGNED_ELSEWHERE,
    args: [{ name: 'address', help: 'the account of the new key' }],
    options: {
      nodes: { value: 'n', help: 'nodes it may mint', required: true },
      cohorts: { value: 'n', help: 'cohorts it may open', required: true },
    },
    examples: ['node-ledger owner set-minter <address> --nodes 500 --cohorts 100'],
    load: async () => (await import('./owner.ts')).setMinter,
  },
  {
    name: 'owner set-distributor',
    group: 'owner',
    summary: 'preview the transaction that gives the distributor’s role to another key, with bounds of its own',
    details: SIGNED_ELSEWHERE,
    args: [{ name: 'address', help: 'the account of the new key' }],
    options: BOUNDS,
    examples: ['node-ledger owner set-distributor <address> --floor-gwei 0 --ceiling-gwei 10000000'],
    load: async () => (await import('./owner.ts')).setDistributor,
  },
  {
    name: 'owner set-bounds',
    group: 'owner',
    summary: 'preview the transaction that sets the least and the most a node may be credited for a turn',
    details: SIGNED_ELSEWHERE,
    options: BOUNDS,
    examples: ['node-ledger owner set-bounds --floor-gwei 0 --ceiling-gwei 10000000'],
    load: async () => (await import('./owner.ts')).setBounds,
  },
  {
    name: 'owner expel',
    group: 'owner',
    summary: 'preview the transaction that takes nodes which were never credited out of their cohorts',
    details: `${SIGNED_ELSEWHERE} For nodes that a stolen minter made. A ref that has a payment or a grant is refused unless it is
named a second time with --again: expelling takes what somebody paid for, or was given.`,
    args: [{ name: 'refs', help: 'the refs of the nodes, with commas between them; "nodes unpaid" lists them' }],
    options: { again: { value: 'refs', help: 'those of them that have a payment or a grant, named a second time' } },
    examples: ['node-ledger owner expel <ref>'],
    load: async () => (await import('./owner.ts')).expel,
  },
  {
    name: 'owner pause',
    group: 'owner',
    summary: 'preview the transaction that stops opening, minting and crediting on the contract',
    details: SIGNED_ELSEWHERE,
    examples: ['node-ledger owner pause'],
    load: async () => (await import('./owner.ts')).pause,
  },
  {
    name: 'owner unpause',
    group: 'owner',
    summary: 'preview the transaction that ends that',
    details: SIGNED_ELSEWHERE,
    examples: ['node-ledger owner unpause'],
    load: async () => (await import('./owner.ts')).unpause,
  },
  {
    name: 'rounds list',
    group: 'books',
    summary: 'list the rounds, newest first, with what they credited and cost',
    options: PAGE,
    examples: ['node-ledger rounds list'],
    load: async () => (await import('./rounds.ts')).list,
  },
  {
    name: 'rounds preview',
    group: 'books',
    summary: 'say what a credit pass would pay now, what stands in its way, and what the next day will cost',
    examples: ['node-ledger rounds preview'],
    load: async () => (await import('./rounds.ts')).preview,
  },
  {
    name: 'transactions list',
    group: 'books',
    summary: 'list the transactions of our senders, newest first: nonces, what became of them, gas, fees',
    options: {
      sender: { value: 'address', help: 'only of this one' },
      status: { value: 'status', help: 'pending, mined, reverted or displaced' },
      ...PAGE,
    },
    examples: ['node-ledger transactions list --status reverted', 'node-ledger transactions list --limit 5 --json'],
    load: async () => (await import('./transactions.ts')).list,
  },
  {
    name: 'transactions stuck',
    group: 'books',
    summary: 'list senders and transactions that are stuck, and why',
    details: `A sender whose nonce the providers name higher than followed blocks bear out sends nothing: either the key was used elsewhere,
or a provider is wrong. After 64 blocks in which all of them say so it is taken for true by itself; "transactions free" does so at once.

A transaction is listed once it is in no block after 12. Why: "nonce", its sender is such a one; "behind", one before it is; "over", its
time is over, and the next run takes its nonce for nothing and sends what it was for again; "fee", blocks ask for more than it offers, which
is raised every 12 blocks up to FEE_CAP_WEI; "refused", the providers do not take it, and say why; "waiting", they have it.`,
    examples: ['node-ledger transactions stuck'],
    load: async () => (await import('./transactions.ts')).stuck,
  },
  {
    name: 'transactions free',
    group: 'books',
    summary: "have a sender's nonce taken over as the providers name it; what can no longer be mined is made anew",
    args: [{ name: 'sender', help: 'the account, as "transactions stuck" lists it' }],
    options: { reason: { value: 'text', help: 'for the audit log' } },
    examples: ['node-ledger transactions free <address>'],
    load: async () => (await import('./transactions.ts')).free,
  },
  {
    name: 'export',
    group: 'books',
    summary: 'write a table of the books as CSV, its last line with the number of rows and the totals',
    details: `From one snapshot of the ledger, in constant memory. Without a period the whole ledger. "owner" is what one wallet was
credited and withdrew, with the price of the hour where it is known. With --json JSON lines instead of CSV.`,
    args: [
      {
        name: 'kind',
        help: 'which table',
        choices: ['payments', 'nodes', 'credits', 'withdrawals', 'refunds', 'transactions', 'outflows', 'owner'],
      },
    ],
    options: {
      ...PERIOD,
      address: { value: 'address', help: 'the wallet, for "owner"' },
      out: { value: 'file', help: 'write to this file, which is whole or not there; stdout where it is left out' },
    },
    examples: [
      'node-ledger export payments --month 2026-10 --out payments.csv',
      'node-ledger export owner --address <address>',
      'node-ledger export credits --json',
    ],
    load: async () => (await import('./export.ts')).exportRows,
  },
  {
    name: 'statement',
    group: 'books',
    summary:
      "a period's books: sales, mints, refunds, credits, withdrawals, gas, and every account from opening to closing balance",
    details: `Exit code 0 when all of it adds up to the chain's own balances to the wei, 1 when something is left over, 3 when a balance could
not be read.`,
    options: { ...PERIOD, csv: { help: 'print it as CSV' } },
    examples: ['node-ledger statement --month <month>', 'node-ledger statement --json', 'node-ledger statement --csv'],
    load: async () => (await import('./statement.ts')).statement,
  },
  {
    name: 'audit list',
    group: 'books',
    summary: 'list who did what to what, newest first',
    options: {
      actor: { value: 'name', help: 'the label of an admin key, cli:<user>, or pass' },
      action: { value: 'action', help: 'released, tierChanged, paused and so on' },
      subject: { value: 'text', help: 'a hash, a tier, an address, a node' },
      ...PAGE,
    },
    examples: ['node-ledger audit list --limit 20', 'node-ledger audit list --action released --json'],
    load: async () => (await import('./audit.ts')).list,
  },
  {
    name: 'webhooks list',
    group: 'decide',
    summary: 'list the endpoints that events are sent to, and how they do',
    details: 'An endpoint is named by its host and a digest of its URL, which may itself be a secret.',
    examples: ['node-ledger webhooks list'],
    load: async () => (await import('./webhooks.ts')).list,
  },
  {
    name: 'webhooks add',
    group: 'decide',
    summary: 'tell the endpoints that WEBHOOK_URL names, or change the secrets of those that are told',
    details: `For all instances, from now on. URL and secret are read from WEBHOOK_URL and WEBHOOK_SECRET (or WEBHOOK_URL_FILE, WEBHOOK_SECRET_FILE), so
that neither is seen in a list of processes. Two secrets with a comma, the newest first, sign each event twice while receivers change over.`,
    examples: ['node-ledger webhooks add'],
    load: async () => (await import('./webhooks.ts')).add,
  },
  {
    name: 'webhooks remove',
    group: 'decide',
    summary: 'tell an endpoint nothing more',
    args: [{ name: 'endpoint', help: 'as "webhooks list" shows it' }],
    examples: ['node-ledger webhooks remove <endpoint>'],
    load: async () => (await import('./webhooks.ts')).remove,
  },
  {
    name: 'webhooks deliveries',
    group: 'decide',
    summary: 'list deliveries, newest first, with what came of them; --json has each event and the log of its attempts',
    options: {
      state: { value: 'state', help: 'pending, delivered or failed' },
      type: { value: 'type', help: 'payment.minted, round.credited and so on' },
      ...PAGE,
    },
    examples: ['node-ledger webhooks deliveries --state failed', 'node-ledger webhooks deliveries --json'],
    load: async () => (await import('./webhooks.ts')).deliveries,
  },
  {
    name: 'webhooks redeliver',
    group: 'decide',
    summary: 'make a delivery again, whatever became of it',
    args: [{ name: 'id', help: 'the delivery, as "webhooks deliveries" shows it' }],
    examples: ['node-ledger webhooks redeliver <delivery>'],
    load: async () => (await import('./webhooks.ts')).sendAgain,
  },
  {
    name: 'webhooks enable',
    group: 'decide',
    summary: 'send again to an endpoint that was given up on; what waited goes at once',
    args: [{ name: 'endpoint', help: 'as "webhooks list" shows it' }],
    examples: ['node-ledger webhooks enable <endpoint>'],
    load: async () => (await import('./webhooks.ts')).enable,
  },
  {
    name: 'config',
    group: 'tools',
    summary: 'print the settings as they are in effect, secrets masked',
    examples: ['node-ledger config'],
    load: async () => (await import('./config.ts')).config,
  },
  {
    name: 'keys new',
    group: 'tools',
    summary: 'make a key for the minter, the distributor or the deployer, and print its address',
    details: `Written as an encrypted keystore (Web3 Secret Storage, version 3), which geth and most wallets read. The password is asked
for, or read from a file. The key itself is never printed, and an existing file never overwritten.`,
    options: {
      out: { value: 'file', help: 'where to write it; must not exist', required: true },
      'password-file': { value: 'file', help: 'a file that holds the password, instead of being asked for it' },
      plain: { help: 'write the bare key, as MINTER_PRIVATE_KEY_FILE reads it; only its owner may read the file' },
    },
    examples: [
      'node-ledger keys new --out minter.json --password-file <password-file>',
      'node-ledger keys new --out distributor.key --plain',
    ],
    load: async () => (await import('./keys.ts')).newKey,
  },
]
