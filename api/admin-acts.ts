// The scope that a key must have for each act of the operator's, the fields that it takes, and the columns of each list. Written by
// "npm run generate" from what the modules of src/operator/operations.ts declare; never edit it.

export const ACTS = {
  'payments/{payment}/release': {
    scope: 'decide',
    fields: {
      tierId: { help: "the tier, if no tier has that price", value: "tier", required: false },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'payments/{payment}/dismiss': {
    scope: 'decide',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'payments/decide': {
    scope: 'decide',
    fields: {
      decision: { help: "what to do with them", value: "word", required: true, words: ["release","dismiss"] },
      payments: { help: "each a transaction hash, or the row's `id`", value: "payments", required: true },
      tierId: { help: "for payments whose amount matches no tier", value: "tier", required: false },
      dryRun: { help: "only show what would happen to each: the service tries it and undoes it", value: null, required: false, words: ["true","false"] },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'payments/dismiss': {
    scope: 'decide',
    fields: {
      belowWei: { help: "held payments below this amount", value: "wei", required: true },
      dryRun: { help: "only show how many there are, and their sum", value: null, required: false, words: ["true","false"] },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'payments/{payment}/attribute': {
    scope: 'decide',
    fields: {
      txHash: { help: "the transaction, as an explorer shows it", value: "hash", required: false },
      innerIndex: { help: "the transfer’s place among the transaction’s transfers to the wallet, from 1", value: "n", required: false },
      from: { help: "who made the transfer, as an explorer shows it", value: "address", required: false },
      valueWei: { help: "the value of the transfer", value: "wei", required: false },
      transfers: { help: "several transfers instead, as hash#place,hash#place; #place only if a transaction made several", value: "list", required: false },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'payments/{payment}/refund': {
    scope: 'decide',
    fields: {
      refundTxHash: { help: "the transaction of your refund", value: "hash", required: true },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'payments/refunds/prepare': {
    scope: 'decide',
    fields: {
      payments: { help: "each a transaction hash, or the row's `id`", value: "payments", required: true },
      again: { help: "also what an earlier file pays; only if that file was never sent", value: null, required: false, words: ["true","false"] },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'payments/refunds/prepare-all': {
    scope: 'decide',
    fields: {
      heldFor: { help: "the reason that they are held for", value: "reason", required: true, words: ["wrongAmount","saleClosed","notOpenYet","soldOut","notListed","tierAllowance","holding","walletLimit","senderDenied","oldWallet","recheck","contractWallet","unattributed","mintReverted","supplySpent","mintedElsewhere"] },
      before: { help: "only payments before this time, by block time", value: "time", required: true },
      again: { help: "also what an earlier file pays; only if that file was never sent", value: null, required: false, words: ["true","false"] },
      sumWei: { help: "the sum that the preview showed; if it has changed, the service refuses", value: "wei", required: false },
      dryRun: { help: "only show what would happen to each: the service tries it and undoes it", value: null, required: false, words: ["true","false"] },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'payments/{payment}/refund/prepare': {
    scope: 'decide',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'payments/{payment}/refund/cancel': {
    scope: 'decide',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  tiers: {
    scope: 'prices',
    fields: {
      label: { help: "its name, as buyers see it", value: "text", required: true },
      tierId: { help: "its permanent id", value: "text", required: true },
      priceWei: { help: "its exact price", value: "wei", required: true },
      maxPerWallet: { help: "nodes of this tier that one wallet may hold", value: "n", required: true },
      payoutBps: { help: "its rate, in basis points of a draw; 10000 is the base rate", value: "bps", required: false },
      holdingToken: { help: "ERC-20 token that a buyer must hold", value: "address", required: false },
      holdingWei: { help: "how much of it, in its smallest unit; 0: open to anyone", value: "amount", required: false },
      holdingSymbol: { help: "the token's symbol, as buyers see it", value: "text", required: false },
      holdingDecimals: { help: "the token's decimals", value: "n", required: false },
      holdingRetrySec: { help: "seconds for which the service retries to read a holding", value: "n", required: false },
      supply: { help: "the most nodes of it ever sold; 0: no limit", value: "n", required: false },
      opensAt: { help: "when it opens, by block time; 0: immediately", value: "time", required: false },
      closesAt: { help: "when it closes, by block time; a grace period follows; 0: never", value: "time", required: false },
      opensAfter: { help: "the tier that must be sold out before it opens; -: none", value: "text", required: false },
      allowlist: { help: "the root of the allowlist; 0: anyone may buy", value: "root", required: false },
      tierNo: { help: "its number on the contract; by default the next free one", value: "n", required: false },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
    leavesOut: ['onSale', 'graceSec', 'immediately'],
  },
  'tiers/{tierId}': {
    scope: 'prices',
    fields: {
      priceWei: { help: "its new price", value: "wei", required: false },
      label: { help: "its name, as buyers see it", value: "text", required: false },
      maxPerWallet: { help: "nodes of this tier that one wallet may hold", value: "n", required: false },
      payoutBps: { help: "its rate, in basis points of a draw; 10000 is the base rate", value: "bps", required: false },
      holdingToken: { help: "ERC-20 token that a buyer must hold", value: "address", required: false },
      holdingWei: { help: "how much of it, in its smallest unit; 0: open to anyone", value: "amount", required: false },
      holdingSymbol: { help: "the token's symbol, as buyers see it", value: "text", required: false },
      holdingDecimals: { help: "the token's decimals", value: "n", required: false },
      holdingRetrySec: { help: "seconds for which the service retries to read a holding", value: "n", required: false },
      supply: { help: "the most nodes of it ever sold; 0: no limit", value: "n", required: false },
      opensAt: { help: "when it opens, by block time; 0: immediately", value: "time", required: false },
      closesAt: { help: "when it closes, by block time; a grace period follows; 0: never", value: "time", required: false },
      opensAfter: { help: "the tier that must be sold out before it opens; -: none", value: "text", required: false },
      allowlist: { help: "the root of the allowlist; 0: anyone may buy", value: "root", required: false },
      graceSec: { help: "seconds for which the old price still buys; by default as at the last change", value: "n", required: false },
      immediately: { help: "after a mistake: without a grace period, from the next block on", value: null, required: false, words: ["true","false"] },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
      fromTime: { help: "when it takes effect, by block time, two minutes ahead or more; by default from the next block on", value: "time", required: false },
    },
    leavesOut: ['onSale', 'dryRun'],
  },
  'tiers/{tierId}/cancel': {
    scope: 'prices',
    fields: {
      version: { help: "the number of the change", value: "n", required: true },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  allowlists: {
    scope: 'prices',
    fields: {
      label: { help: "its name, for you", value: "text", required: true },
      dryRun: { help: "only check it, and list its mistakes", value: null, required: false, words: ["true","false"] },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
    leavesOut: ['rows'],
  },
  'allowlists/{root}/publish': {
    scope: 'prices',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  referrals: {
    scope: 'prices',
    fields: {
      code: { help: "the code; capitals do not matter", value: "code", required: true },
      payee: { help: "who is paid the commission", value: "address", required: true },
      commissionBps: { help: "the commission, in basis points of the price", value: "bps", required: true },
      opensAt: { help: "from when it counts, by block time; 0: from the next block on", value: "time", required: false },
      closesAt: { help: "until when it counts, by block time; 0: forever", value: "time", required: false },
      waitSec: { help: "for how long a commission waits after the mint, in seconds; 0: not at all", value: "n", required: false },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'referrals/add': {
    scope: 'prices',
    fields: {
      rows: { help: "lines of code,payee,commissionBps, up to 1000", value: "rows", required: true },
      dryRun: { help: "only show what would change", value: null, required: false, words: ["true","false"] },
      opensAt: { help: "from when it counts, by block time; 0: from the next block on", value: "time", required: false },
      closesAt: { help: "until when it counts, by block time; 0: forever", value: "time", required: false },
      waitSec: { help: "for how long a commission waits after the mint, in seconds; 0: not at all", value: "n", required: false },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'referrals/commissions/file': {
    scope: 'decide',
    fields: {
      again: { help: "also what an earlier file pays; only if that file was never sent", value: null, required: false, words: ["true","false"] },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'referrals/{code}/paid': {
    scope: 'decide',
    fields: {
      txHash: { help: "the transaction of your payment", value: "hash", required: true },
      valueWei: { help: "the amount, if the transaction pays the payee more than once", value: "wei", required: false },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  terms: {
    scope: 'terms',
    fields: {
      payouts: { help: "whether turns due from then on are owed", value: "true|false", required: false, words: ["true","false"] },
      minWei: { help: "the least draw of a turn; a tier's rate multiplies it", value: "wei", required: false },
      maxWei: { help: "the greatest draw of a turn", value: "wei", required: false },
      intervalSec: { help: "seconds between two turns of a node, for cohorts opened from then on", value: "s", required: false },
      slotSec: { help: "seconds between the cohorts of a tier; must divide the interval", value: "s", required: false },
      fromTime: { help: "the block time from which they are in force", value: "time", required: false },
      zero: { help: "allow turns that pay nothing", value: null, required: false, words: ["true","false"] },
      before: { help: "for a ledger without terms: how to pay earlier turns, \"same\", \"range\" or \"notOwed\"", value: "word", required: false, words: ["same","range","notOwed"] },
      beforeMinWei: { help: "with --before range: the least draw of earlier turns", value: "wei", required: false },
      beforeMaxWei: { help: "with --before range: the greatest draw of earlier turns", value: "wei", required: false },
      dryRun: { help: "only show what it would do", value: null, required: false, words: ["true","false"] },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'terms/cancel': {
    scope: 'terms',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
    leavesOut: ['fromTime'],
  },
  'payment-wallets': {
    scope: 'terms',
    fields: {
      address: { help: "the wallet", value: "address", required: true },
      graceSec: { help: "seconds for which payments to the old wallet still buy; by default as at the last change", value: "n", required: false },
      stolen: { help: "the current wallet’s key was stolen", value: null, required: false, words: ["true","false"] },
      dryRun: { help: "only show what it would do", value: null, required: false, words: ["true","false"] },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'payment-wallets/cancel': {
    scope: 'terms',
    fields: {
      address: { help: "the wallet", value: "address", required: true },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'payment-wallets/close': {
    scope: 'terms',
    fields: {
      address: { help: "the wallet", value: "address", required: true },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'contract-wallets': {
    scope: 'terms',
    fields: {
      mode: { help: "hold, proven or all", value: "word", required: true, words: ["hold","proven","all"] },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'contract-wallets/allow': {
    scope: 'decide',
    fields: {
      address: { help: "the contract", value: "address", required: true },
      label: { help: "whose wallet it is", value: "text", required: true },
      reason: { help: "your reason, kept in the audit log", value: "text", required: true },
    },
  },
  'contract-wallets/{address}/disallow': {
    scope: 'decide',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  pause: {
    scope: 'operate',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  resume: {
    scope: 'operate',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'halt/clear': {
    scope: 'operate',
    fields: {
      dryRun: { help: "only show what it would do", value: null, required: false, words: ["true","false"] },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  rescan: {
    scope: 'operate',
    fields: {
      fromBlock: { help: "the first block", value: "block", required: true },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
    leavesOut: ['dryRun'],
  },
  'evidence/set': {
    scope: 'operate',
    fields: {
      mode: { help: "which blocks the service accepts", value: "mode", required: true, words: ["proven","agreed"] },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
    leavesOut: ['dryRun'],
  },
  'nodes/{nodeId}/grant': {
    scope: 'decide',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: true },
    },
  },
  'nodes/{nodeId}/revoke': {
    scope: 'decide',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: true },
    },
  },
  senders: {
    scope: 'decide',
    fields: {
      address: { help: "the wallet", value: "address", required: true },
      label: { help: "whose wallet it is", value: "text", required: true },
      reason: { help: "your reason, kept in the audit log", value: "text", required: true },
    },
  },
  'senders/{address}/remove': {
    scope: 'decide',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'transactions/free': {
    scope: 'operate',
    fields: {
      sender: { help: "the account, as \"transactions stuck\" lists it", value: "address", required: true },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'reconciliation/run': {
    scope: 'operate',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  keys: {
    scope: 'operate',
    fields: {
      label: { help: "who uses it", value: "name", required: true },
      scopes: { help: "some of read,decide,prices,terms,operate", value: "list", required: true },
      expires: { help: "how long it is valid, such as 90d or 8h; 90d by default, at most 366d", value: "time", required: false },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'keys/{id}/revoke': {
    scope: 'operate',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'keys/invite': {
    scope: 'operate',
    fields: {
      label: { help: "who uses it", value: "name", required: true },
      scopes: { help: "some of read,decide,prices,terms,operate", value: "list", required: true },
      expires: { help: "how long the passkey signs in; 365d by default, at most 366d", value: "time", required: false },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'invitations/{id}/revoke': {
    scope: 'operate',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'passkeys/{id}/revoke': {
    scope: 'operate',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'keys/self/sign-out': {
    scope: 'any',
    fields: {
    },
  },
  'second-person': {
    scope: 'operate',
    fields: {
      aboveWei: { help: "the amount above which an action needs a second person; 0: every release and refund", value: "wei", required: false },
      off: { help: "switch the rule off", value: null, required: false, words: ["true","false"] },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'proposals/{id}/confirm': {
    scope: 'any',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'proposals/{id}/refuse': {
    scope: 'any',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'webhooks/deliveries/{id}/redeliver': {
    scope: 'operate',
    fields: {
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'webhooks/enable': {
    scope: 'operate',
    fields: {
      endpoint: { help: "as \"webhooks list\" shows it", value: "text", required: true },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  webhooks: {
    scope: 'operate',
    fields: {
      url: { help: "its URL: https, or smtps://user:password@host?from=…&to=… for mail", value: "text", required: true },
      secret: { help: "what its events are signed with; a chat and a mail have none", value: "text", required: false },
      events: { help: "all, or kinds separated by commas", value: "events", required: false },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'webhooks/events': {
    scope: 'operate',
    fields: {
      endpoint: { help: "as \"webhooks list\" shows it", value: "text", required: true },
      events: { help: "all, or kinds separated by commas", value: "events", required: true },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
  'webhooks/remove': {
    scope: 'operate',
    fields: {
      endpoint: { help: "as \"webhooks list\" shows it", value: "text", required: true },
      reason: { help: "your reason, kept in the audit log", value: "text", required: false },
    },
  },
} as const

/** The lists by their readings: the field of the answer that has the rows, and their columns. */
export const LISTS = {
  payments: { rows: 'payments', columns: ["id",["block time","blockTime"],"status","reason",["ETH","valueWei"],["tier","tierId"],"from",["transaction","txHash"]] },
  tiers: { rows: 'tiers', columns: ["tierId","tierNo","label",["ETH","priceWei"],"maxPerWallet","payoutBps","holdingToken","supply","sold","opensAt","closesAt","opensAfter","onSale","version","fromBlock"] },
  allowlists: { rows: 'allowlists', columns: ["root","label","entries","allocated","published","enteredBy","enteredAt"] },
  referrals: { rows: 'referrals', columns: ["code","version","payee","commissionBps","opensAt","closesAt","waitSec","fromBlock","enteredBy","enteredAt"] },
  'referrals/commissions': { rows: 'commissions', columns: ["code","payee","count","earnedWei","reversedWei","paidWei","notFinalWei","waitingWei","believedWei","dueWei","filedWei","fileMadeAt"] },
  'payment-wallets': { rows: 'wallets', columns: ["wallet","state","fromBlock","fromTime","stolen","closedBlock","enteredBy","enteredAt"] },
  'nodes/unpaid': { rows: 'nodes', columns: ["nodeId","owner","cohort","tierNo","ref","mintTxHash","mintedAt","grant"] },
  senders: { rows: 'senders', columns: ["address","label",["reason","reason","text"],"addedBy","addedAt"] },
  transactions: { rows: 'transactions', columns: [["signed","createdAt"],"sender","nonce","kind",["attempts","attempts","size"],"status","pendingSec",["block","blockNumber"],["gas","gasUsed"],["fee","feeWei"],["transaction","txHash"]] },
  rounds: { rows: 'rounds', columns: [["round","id"],["block time","createdAt"],["nodes","nodeCount"],["cohorts","turns","size"],["ETH","totalWei"],"mode",["fee","feeWei"],["transaction","txHash"]] },
  keys: { rows: 'environment', columns: ["id","label","scopes","state","expiresAt","usedAt","madeBy","madeAt","revokedBy"] },
  proposals: { rows: 'proposals', columns: ["id","state","act","input","proposedBy",["its key has ended","makerEnded"],"proposedAt","expiresAt","settledBy","refusal"] },
  webhooks: { rows: 'endpoints', columns: ["endpoint",["state","active"],"events","pending","failingSince","disabledAt","lastSuccessAt","lastError"] },
  'webhooks/deliveries': { rows: 'deliveries', columns: ["id","createdAt","type","endpoint","state","attempts","dueAt",["last answer","log","answer"]] },
  audit: { rows: 'entries', columns: ["at","actor","action","subject",["detail","detail","record"]] },
} as const
