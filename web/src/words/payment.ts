// A payment's states and reasons.
import { PAYMENT_STATES } from './payment-states.ts'

export const words = {
  title: 'Payment',
  transaction: 'Transaction',
  noHash: 'This is not a transaction hash. One is 0x and 64 hex digits.',
  /** The state of a payment, as the heading of its page. */
  heads: {
    unread: 'Payment',
    noPayment: 'Not a payment',
    none: 'Transfer sent',
    unknown: 'Transaction not found yet',
    orphaned: 'Waiting for your transfer again',
    seen: 'Checking your transfer',
    accepted: 'Payment accepted',
    minting: 'Minting your node',
    minted: 'Minted',
    held: 'We hold your payment',
    refunding: 'Your refund is being prepared',
    refunded: 'Your payment was refunded',
    dismissed: 'Closed without a node or a refund',
  },
  steps: {
    seen: { now: 'Waiting for a block', done: 'In a block' },
    checked: { now: 'Checking', done: 'Checked' },
    minting: { now: 'Minting', done: 'Minted' },
    minted: { now: 'Your node', done: 'Your node' },
  },
  notes: {
    waiting: 'You can close this page.',
    atOnce: 'A few seconds after the block',
    lastTook: { one: 'About {n} second, as the last one took', other: 'About {n} seconds, as the last one took' },
    lastTookMinutes: {
      one: 'About {n} minute, as the last one took',
      other: 'About {n} minutes, as the last one took',
    },
    inBlock: {
      one: '{block}, {n} confirmation',
      other: '{block}, {n} confirmations',
    },
    unconfirmed: 'Once the chain confirms the block',
    checks: 'The amount, the tier and your limit',
    sent: 'Sent to the contract',
    nextRun: 'In a few seconds',
    soldOut: 'Waits until the contract’s owner allows more nodes',
  },
  ask: 'Ask the operator',
  /** Each state, as in a title or an announcement. */
  said: {
    none: 'Not in a block yet',
    unchecked: 'Cannot check now',
    ...PAYMENT_STATES,
  },
  /** What a payment rests on. */
  assurance: {
    proven: 'Proven by the hash of its block, which the contract has named.',
    linked: 'In a block that the chain has not confirmed yet.',
    agreed: 'Two providers of the chain agree on it.',
    believed: 'One provider of the chain reports it.',
    waits: 'Only one provider of the chain reports it so far. If we use several, we wait until a second one agrees.',
  },
  cannotAsk: 'We cannot check this payment right now.',
  goesOn: 'Nothing is lost. This page continues automatically.',
  one: 'Payment {at} of {all}: {amount} from {payer}',
  orphaned: 'The chain dropped the block of this transfer. The transfer counts again once it is in a new block.',
  notAPayment: '{why} It buys no node.',
  from: 'from {payer}',
  notSeen: {
    replaced: 'Your wallet replaced this transaction. Transaction {hash} took its place:',
    other:
      'Another payment from this wallet has arrived: <other>view it</other>. If you speed up a transaction in the wallet, it gets a new hash.',
    late: 'The chain has not shown this transaction for some minutes. Check your wallet. The transaction may have too low a fee, may have been replaced by one with a new hash, or may have been cancelled. Do not pay again before you know.',
    looking: 'Looking for it',
    unsure: 'This page checks every few seconds. If it stays missing, check the hash and search for it again.',
    all: 'All payments from this wallet',
  },
  list: {
    title: 'Payments',
    count: { one: '{n} payment', other: '{n} payments' },
    payment: 'Payment',
    paid: 'Paid on',
    amount: 'Amount',
    state: 'State',
    node: 'Node',
    nodeOf: 'Node {id}',
  },
  success: {
    oneOf: 'Node {id}',
    yours: 'Node {id} is yours',
    minted: 'Node {id} is minted',
    notScheduled: 'its first round is not scheduled yet',
    expelled:
      'never: the contract’s owner has expelled this node. You can withdraw what it was credited, and the operator sends your payment back',
    nextRound: 'next round {time}',
    see: 'See the node',
  },
  receipt: {
    title: 'Receipt for node {node}',
    node: 'Node',
    tier: 'Tier',
    paid: 'Amount',
    inEther: '{ether} ETH',
    paidBy: 'Paid by',
    time: 'Time',
    block: 'Block',
    transfer: 'Transfer',
    minted: 'Minted',
    mint: 'Mint',
    contract: 'Contract',
    network: 'Network',
    soldBy: 'Sold by',
    page: 'Page',
  },
  stopped: {
    refunded: 'The operator has refunded the ether.',
    refundedBy: 'The operator has refunded the ether. Transaction {hash}',
    closed:
      '<strong>The operator closed this payment. You get no node, and no refund is planned.</strong> You can still ask the operator for one.',
    giveAddress: 'If you do, send the address of this page.',
    steps: ['Received', 'The operator decides', 'A node, or your ether back'],
    /** The second step, if the payment needs no decision. */
    held: 'Held',
    prepared: 'Refund prepared',
    /** The last step, if no node will come. */
    back: 'Your ether back',
    looks: 'The operator reviews it.',
    nothingLost:
      'Nothing is lost: your ether is in the payments wallet. {next} Come back to this page for the outcome.',
    wentElsewhere: 'Your ether went to that wallet. {next} Come back to this page for the outcome.',
    received: 'Received',
    expected: 'Expected',
    difference: 'Difference',
    keep: 'Keep this page',
    theLink: 'link to this page',
    copyLink: 'Copy link',
    expectedOf: '{amount}, the price of {tier}',
    paidBy: 'Paid by',
    paidAt: 'Paid on',
    subject: 'Payment {hash}',
    less: '{amount} too little',
    more: '{amount} too much',
    decides: 'The operator decides whether you get a node or your ether back.',
    sendsBack: 'The operator sends it back to the wallet that paid.',
    waitsForPlace:
      'If a place becomes free within a day of the payment, while the tier is on sale, you get the node automatically. Otherwise the operator decides.',
    noPlace:
      'It no longer takes a place that becomes free. The operator sends it back, or releases it if there are places again.',
    findsOut: 'The operator looks into it, then releases the node or sends the ether back.',
    noDecision: 'Nobody has to decide. If you want the ether back instead, ask the operator.',
    ofContract:
      'The operator checks that somebody can use what this contract owns, then releases the node or sends the ether back.',
    ofProven:
      '<signIn>Sign in</signIn> with that wallet, and you get your node automatically. Otherwise the operator checks that the wallet is yours, then releases the node or sends the ether back.',
  },
  /** Every reason in plain words, and what happens next. */
  reasons: {
    wrongAmount: 'The amount does not match any price.',
    saleClosed: 'The tier was not on sale when the transfer was made.',
    notOpenYet: 'The tier was not open yet when the transfer was made.',
    soldOut: 'All nodes of this tier were sold before this transfer.',
    notListed: 'The wallet is not on the list of those who may buy this tier, or has used what the list allows it.',
    tierAllowance: 'This wallet has reached its limit for this tier, counting purchases in progress.',
    holding:
      'The wallet did not hold the tokens that this tier needs at the block of the transfer, or we could not read it.',
    walletLimit:
      'The wallet holds as many nodes as the contract allows. Once you move one away, we mint this node automatically.',
    review: 'A person reviews this payment first.',
    unattributed: 'The ether came from a call inside another transaction, so its sender is not certain.',
    contractWallet: 'A contract sent the ether: a Safe, a smart account, or another.',
    mintReverted: 'The contract rejected the mint.',
    supplySpent: 'All nodes of this tier are sold, and the contract allows no more.',
    oldWallet: 'It went to a wallet that no longer takes payments.',
    mintedElsewhere: 'Another wallet got the node of this payment.',
    recheck:
      'The ledger was restored from a backup, so the operator is checking whether this payment was already handled.',
    refunding: 'The operator is about to send your ether back to the wallet that paid.',
  },
} as const
