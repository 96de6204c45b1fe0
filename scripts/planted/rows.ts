// Bugs of which rows are read, written and taken back, and of what is believed that changed while somebody looked. See bugs.ts for
// what a bug is.

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is the text of other files

import { one, type PlantedBug } from './bugs.ts'

const SENDING = 'test/passes/sending.test.ts'
const REORGANISATION = 'test/passes/reorganisation.test.ts'
const PAYMENTS = 'test/passes/payments.test.ts'
const VERDICTS = 'test/passes/verdicts.test.ts'
const WITHDRAWALS = 'test/passes/withdrawals.test.ts'
const RECONCILE = 'test/passes/reconcile.test.ts'
const REFUNDS = 'test/passes/refunds.test.ts'
const HALT = 'test/audit/halt.test.ts'
const RESTORED = 'test/audit/restored.test.ts'
const TOLD = 'test/passes/told.test.ts'
const WALLET = 'test/audit/wallet.test.ts'
const HELD = 'test/operator/held.test.ts'
const REBUILD = 'test/audit/rebuild.test.ts'
const ATTRIBUTE = 'test/operator/attribute.test.ts'
const DESK = 'test/operator/desk.test.ts'

const OUTBOX = 'src/db/outbox.ts'
const PAYMENT_ROWS = 'src/db/payments.ts'
const NODE_ROWS = 'src/db/nodes.ts'
const WALLET_ROWS = 'src/db/wallet.ts'
const REFUND_ROWS = 'src/db/refunds.ts'
const RECHECK_ROWS = 'src/db/recheck.ts'
const AUDIT_STEP = 'src/passes/steps/audit.ts'
const RECONCILE_STEP = 'src/passes/steps/reconcile.ts'
const REFUND_STEP = 'src/passes/steps/refunds.ts'
const RESCAN_ROWS = 'src/db/rescan.ts'
const RESCAN = 'src/operator/rescan.ts'
const REBUILD_COPY = 'src/rebuild/copy.ts'

export const ROW_BUGS: readonly PlantedBug[] = [
  // Sending
  one(
    'an intent’s first attempt counts as its last',
    OUTBOX,
    'WHERE outbox_id = o.id ORDER BY attempt DESC LIMIT 1',
    'WHERE outbox_id = o.id ORDER BY attempt LIMIT 1',
    SENDING,
  ),
  one(
    'an offer has no room for a rising base fee',
    'src/chain/sender.ts',
    'baseFeeWei * 2n + maxPriorityFeeWei',
    'baseFeeWei + maxPriorityFeeWei',
    SENDING,
  ),
  one(
    'what is mined and was not followed counts as settled',
    'src/passes/steps/send.ts',
    '    }\n  }\n  return true\n}\n\n/** Gas for a call',
    '    }\n  }\n  return pending.some((intent) => intent.nonce >= accountNonce)\n}\n\n/** Gas for a call',
    SENDING,
  ),
  one(
    'a transaction settles whichever sender’s intent has its nonce',
    OUTBOX,
    'WHERE o.sender = r.sender AND o.nonce = r.nonce',
    'WHERE o.nonce = r.nonce',
    'test/db/outbox.test.ts',
  ),
  one(
    'a round beyond the surplus is planned all the same',
    'src/passes/credit.ts',
    'plan.totalWei <= surplusWei && plan.totalWei <= allowanceWei',
    'plan.totalWei <= allowanceWei',
    'test/passes/credit.test.ts',
  ),

  // Payments and what was decided about them
  one(
    'nodes of every tier take places of every tier',
    PAYMENT_ROWS,
    'WHERE n.owner = ${wallet} AND c.tier_no = ${tierNo})',
    'WHERE n.owner = ${wallet} AND (c.tier_no = ${tierNo} OR true))',
    PAYMENTS,
  ),
  one(
    'payments of every tier take places of every tier',
    PAYMENT_ROWS,
    "p.state IN ('accepted', 'minting') AND t.tier_no = ${tierNo})",
    "p.state IN ('accepted', 'minting') AND (t.tier_no = ${tierNo} OR true))",
    PAYMENTS,
  ),
  one(
    'what is being minted is not told as pending',
    PAYMENT_ROWS,
    "WHERE state IN ('seen', 'accepted', 'minting')`",
    "WHERE state IN ('seen', 'accepted')`",
    PAYMENTS,
  ),
  one(
    'a rebuilt payment has the oldest version of its tier',
    PAYMENT_ROWS,
    'THEN version ELSE -version END DESC',
    'THEN version ELSE -version END',
    'test/passes/rebuild.test.ts',
  ),
  one(
    'a payment comes back at the time it had before',
    PAYMENT_ROWS,
    'tx_index = excluded.tx_index, block_time = excluded.block_time,',
    'tx_index = excluded.tx_index,',
    VERDICTS,
  ),
  one(
    'of what the operator decided the first word comes back',
    PAYMENT_ROWS,
    "decided_by <> 'pass' AND excluded.succeeded\n          ORDER BY id DESC",
    "decided_by <> 'pass' AND excluded.succeeded\n          ORDER BY id",
    VERDICTS,
  ),
  one(
    'a payment whose mint is taken back stands as it was first judged',
    PAYMENT_ROWS,
    'WHERE payment_id = was.id ORDER BY id DESC',
    'WHERE payment_id = was.id ORDER BY id',
    VERDICTS,
  ),
  one(
    'a refund that is gone together with its payment is believed when that comes back',
    REFUND_ROWS,
    "AND state IN ('refunded', 'orphaned') RETURNING id, reason",
    "AND state IN ('refunded') RETURNING id, reason",
    VERDICTS,
  ),
  one(
    'that a refund is gone is forgotten when its payment comes back',
    REFUND_ROWS,
    "${evidence}::text::jsonb, 'refundCheck' FROM held",
    "${evidence}::text::jsonb, 'pass' FROM held",
    VERDICTS,
  ),
  one(
    'a payment that had waited for room is minted when its refund is gone',
    REFUND_ROWS,
    "        reason = 'recheck', updated_at = now()",
    '        updated_at = now()',
    REFUNDS,
  ),
  one(
    'a refund on record is no longer that of its payment when that comes in another block',
    REFUND_ROWS,
    '  return known.count > 0',
    '  return known.count > 1',
    REFUNDS,
  ),
  one(
    'a refund that failed where it came back still stands',
    REFUND_STEP,
    '  if (tx.succeeded !== true) return false\n',
    '',
    REFUNDS,
  ),
  one(
    'dust is dismissed whatever became of it',
    'src/db/decisions.ts',
    "state = 'held' AND value_wei < ${belowWei.toString()} AND reason <> 'walletLimit'",
    "value_wei < ${belowWei.toString()} AND reason IS DISTINCT FROM 'walletLimit'",
    HELD,
  ),
  one(
    'what was released and waits for room is dismissed as dust',
    'src/db/decisions.ts',
    " AND reason <> 'walletLimit'",
    '',
    HELD,
  ),
  one(
    'a payment is released at the terms of today',
    'src/operator/decide.ts',
    'ofTier.findLast((v) => v.fromBlock <= (payment.blockNumber ?? 0)) ??',
    'ofTier.at(-1) ??',
    HELD,
  ),
  one(
    'a payment whose sender is known is attributed again',
    'src/operator/attribute.ts',
    '    if (payment.from !== null) return refuseAct(',
    "    if (payment.from === '0x') return refuseAct(",
    ATTRIBUTE,
  ),
  one(
    'a refund in a block that is not canonical is recorded',
    'src/operator/mined.ts',
    '(await deps.chain.block(blockNumber))?.hash !== blockHash',
    '(await deps.chain.block(blockNumber)) === undefined',
    HELD,
  ),
  one(
    'a verdict is written over what was decided meanwhile',
    'src/passes/steps/judge.ts',
    'if (current?.state !== payment.state || current.blockHash',
    'if (!current || current.blockHash',
    'test/passes/races.test.ts',
  ),
  one(
    'what is held for good is judged again',
    PAYMENT_ROWS,
    '${filter.reason ? sql`AND p.reason = ${filter.reason}` : sql``}',
    '',
    RESTORED,
  ),
  one(
    'a payment that a pass has judged counts as decided by the operator',
    RECHECK_ROWS,
    "WHERE payment_id = ${paymentId} AND decided_by <> 'pass') AS decided`",
    'WHERE payment_id = ${paymentId}) AS decided`',
    RESTORED,
  ),
  one(
    'the mint of a payment that was judged makes a restored ledger of a whole one',
    RECHECK_ROWS,
    "WHERE ref = ANY(${[...refs]}) AND state = 'seen'`",
    'WHERE ref = ANY(${[...refs]})`',
    REFUNDS,
  ),
  one(
    'cohorts that were opened say nothing of a restore',
    'src/passes/steps/restored.ts',
    "theirs.some((event) => event.kind !== 'nodeMinted')",
    "theirs.some((event) => event.kind === 'credited')",
    RESTORED,
  ),
  one(
    'payments after the last work of a restored ledger are minted without a look',
    'src/passes/steps/restored.ts',
    'raiseRecheck(sql, headBlock,',
    'raiseRecheck(sql, Math.min(headBlock, ...events.map((event) => event.blockNumber)),',
    RESTORED,
  ),
  one(
    'a sync tells the nodes of any mint in the block',
    'src/passes/sync.ts',
    "event.kind === 'nodeMinted' && event.txHash === txHash",
    "event.kind === 'nodeMinted'",
    'test/passes/claim.test.ts',
  ),

  one(
    'a payment may be paid back twice',
    'migrations/0002_operator.sql',
    'payment_ref hash PRIMARY KEY',
    'payment_ref hash NOT NULL',
    'test/db/constraints.test.ts',
  ),

  // The payments wallet
  one(
    'value is filed although its block was taken out meanwhile',
    AUDIT_STEP,
    'const same = now?.cursor.hash === books.cursor.hash && now.inWei',
    'const same = now && now.inWei',
    WALLET,
  ),
  one(
    'a block counts as audited although it was taken out meanwhile',
    AUDIT_STEP,
    'if ((await readCursor(sql, { lock: true }))?.hash === cursor.hash) await',
    'await',
    WALLET,
  ),
  one(
    'a state that a provider does not have is a balance of nothing',
    'src/chain/follow.ts',
    "too busy for a balance', { retryable: true })\n  return null",
    "too busy for a balance', { retryable: true })\n  return 0n",
    WALLET,
  ),
  one(
    'what failed to reach the payments wallet counts as come where a difference is sought',
    WALLET_ROWS,
    'block_number <= ${upTo} AND succeeded)',
    'block_number <= ${upTo})',
    WALLET,
  ),
  one(
    'books that began in a block that is gone go on',
    WALLET_ROWS,
    '    WHERE base_block > ${height}`',
    '    WHERE base_block > ${height} AND false`',
    WALLET,
  ),
  one(
    'the books of one payments wallet go on under another',
    AUDIT_STEP,
    'if (books.wallet !== address || books.base === null || books.auditedBlock === null) {',
    'if (books.base === null || books.auditedBlock === null) {',
    WALLET,
  ),
  one(
    'books that begin anew forget that they were another wallet’s',
    AUDIT_STEP,
    'const before = books.wallet ? null : await',
    'const before = books.base ? null : await',
    WALLET,
  ),

  // Rebuilding
  one(
    'what the operator changes during a rebuild is left behind',
    'src/rebuild/rebuild.ts',
    '    await copyTerms(old, ctx.pool)\n',
    '',
    'test/audit/rebuild.test.ts',
  ),
  one(
    'of what the operator decided a rebuild takes the first word',
    REBUILD_COPY,
    'ORDER BY ref, place DESC) r',
    'ORDER BY ref, place) r',
    REBUILD,
  ),
  one(
    'a rebuild takes what a pass had said for the operator’s word',
    REBUILD_COPY,
    "JOIN payments p ON p.id = v.payment_id WHERE v.decided_by <> 'pass'`",
    'JOIN payments p ON p.id = v.payment_id`',
    REBUILD,
  ),
  one(
    'a rebuild takes the operator’s word about a transfer that failed',
    REBUILD_COPY,
    "AND p.state IN ('seen', 'held') AND p.succeeded`",
    "AND p.state IN ('seen', 'held')`",
    'test/operator/rebuild.test.ts',
  ),
  one(
    'a rebuild forgets up to where the old ledger had payments held',
    'src/rebuild/rebuild.ts',
    'Math.max(cursor.number, heldUpTo ?? 0)',
    'cursor.number',
    'test/operator/rebuild.test.ts',
  ),
  one(
    'a rebuild takes over no attributions',
    REBUILD_COPY,
    "  attributions: 'residue_ref, ref, tx_hash, tx_index, inner_index, from_address, attributed_at, attributed_by',\n",
    '',
    ATTRIBUTE,
  ),
  one(
    'a rebuilt ledger mints what has no node without a look',
    'src/rebuild/rebuild.ts',
    "  await writeSetting(ctx.pool, 'recheckUpTo', { block }, 'rebuild')\n",
    '',
    REBUILD,
  ),

  // Rescanning
  {
    name: 'a rescan does not look at what left the payments wallet',
    edits: [
      {
        file: RESCAN_ROWS,
        find: 'WHERE block_number BETWEEN ${from} AND ${to} AND tx_hash IS NOT NULL\n    UNION',
        put: 'WHERE false\n    UNION',
      },
      { file: RESCAN_ROWS, find: '...outflows.map((o)', put: '...outflows.slice(0, 0).map((o)' },
    ],
    tests: [DESK],
  },
  one(
    'a rescan holds the ledger against blocks that are not there yet',
    RESCAN,
    'if ((await deps.chain.block(cursor.number))?.hash !== cursor.hash)',
    'if (cursor.number < 0)',
    DESK,
  ),
  one(
    'a rescan holds the ledger against another chain',
    RESCAN,
    "if ([...missing, ...surplus].some(({ key }) => key.startsWith('block ')))",
    'if (toBlock < 0)',
    DESK,
  ),

  // Nodes
  one(
    'a failed withdrawal is reckoned with what was credited later',
    NODE_ROWS,
    'AND s.block_number < r."blockNumber" ORDER BY s.block_number DESC LIMIT 1)',
    'ORDER BY s.block_number DESC LIMIT 1)',
    WITHDRAWALS,
  ),
  one(
    'a failed withdrawal is reckoned with what was withdrawn later',
    NODE_ROWS,
    'AND w.status = \'sent\' AND w.block_number < r."blockNumber"\n',
    "AND w.status = 'sent'\n",
    WITHDRAWALS,
  ),
  one(
    'a failed withdrawal is reckoned from another failed one',
    NODE_ROWS,
    'w.node_id = n.node_id AND w.status = \'sent\' AND w.block_number < r."blockNumber"',
    'w.node_id = n.node_id AND w.block_number < r."blockNumber"',
    WITHDRAWALS,
  ),
  one(
    'a withdrawal that is taken back leaves what a failed one says',
    NODE_ROWS,
    "WHERE w.node_id = n.node_id AND w.status = 'sent' ORDER BY id DESC LIMIT 1), 0)",
    'WHERE w.node_id = n.node_id ORDER BY id DESC LIMIT 1), 0)',
    WITHDRAWALS,
  ),
  one(
    'failed withdrawals count as events that are known',
    NODE_ROWS,
    "WHERE node_id = ${nodeId.toString()} AND status = 'sent') AS withdrawals`",
    'WHERE node_id = ${nodeId.toString()}) AS withdrawals`',
    RECONCILE,
  ),
  one(
    'failed withdrawals are forgotten with the events of a node',
    NODE_ROWS,
    "await sql`DELETE FROM withdrawals WHERE node_id = ${nodeId.toString()} AND status = 'sent'`",
    'await sql`DELETE FROM withdrawals WHERE node_id = ${nodeId.toString()}`',
    RECONCILE,
  ),
  one(
    'fewer events than are known take their place',
    RECONCILE_STEP,
    'if (transfers.length < known.transfers || withdrawals.length < known.withdrawals) return false',
    '',
    RECONCILE,
  ),
  one(
    'nodes beyond the first window are never compared',
    RECONCILE_STEP,
    'const next = onChain < WINDOW ? 1 : first + WINDOW',
    'const next = onChain < WINDOW ? 1 : 1',
    RECONCILE,
  ),
  one(
    'two blocks are compared where another pass moved the ledger meanwhile',
    RECONCILE_STEP,
    'if ((await readCursor(ctx.pool))?.hash !== cursor.hash) return { result',
    'if (first < 0) return { result',
    RECONCILE,
  ),
  one(
    'a block that the chain takes back while it is compared counts as drift',
    RECONCILE_STEP,
    'if (drifts.length > 0 && (await ctx.chain.block(cursor.number))?.hash !== cursor.hash)',
    'if (first < 0)',
    RECONCILE,
  ),
  one(
    'a node is inserted although its block was taken out meanwhile',
    RECONCILE_STEP,
    'if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return false\n    const known = (await',
    'const known = (await',
    RECONCILE,
  ),
  one(
    'events are added although their block was taken out meanwhile',
    RECONCILE_STEP,
    'if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return false\n    const known = await nodes',
    'const known = await nodes',
    RECONCILE,
  ),

  // Following
  one(
    'the ledger is taken back from where it no longer stands',
    'src/passes/steps/rewind.ts',
    '    if (cursor?.hash !== expected.hash) return false\n',
    '',
    'test/passes/races.test.ts',
  ),
  one(
    'states of cohorts are forgotten that a reorganisation may go back to',
    'src/db/cohorts.ts',
    'AND n.block_number <= ${below})',
    ')',
    'test/db/cohorts.test.ts',
  ),
  one(
    'nobody hears of what was followed',
    'src/passes/steps/store.ts',
    'changesAnything(range) ? notifyLedgerChanged(sql) : null',
    'null',
    TOLD,
  ),
  one(
    'nobody hears of a payment',
    'src/passes/steps/store.ts',
    'return range.transfers.length + range.events.length',
    'return range.events.length',
    TOLD,
  ),
  one(
    'nobody hears of a reorganisation',
    'src/passes/steps/rewind.ts',
    '    await notifyLedgerChanged(sql)\n',
    '',
    TOLD,
  ),
  one(
    'a halt that is sealed is withdrawn',
    'src/db/halts.ts',
    "WHERE name = 'halted' AND NOT (value ->> 'sealed')::boolean`",
    "WHERE name = 'halted'`",
    HALT,
  ),
  one('a halt is sealed by looks alone', 'src/db/halts.ts', 'const SEAL_SEC = 60', 'const SEAL_SEC = -1', HALT),
  one('a halt is sealed by its age alone', 'src/db/halts.ts', 'const SEAL_LOOKS = 5', 'const SEAL_LOOKS = 1', HALT),
  one(
    'whatever halt is cleared, what was final is forgotten',
    'src/db/halts.ts',
    "if (halt.reason === 'pastFinalized') await",
    'await',
    HALT,
  ),
  one(
    'what a provider calls final is noted, whatever was followed',
    'src/passes/steps/halt.ts',
    'if (stored?.hash !== final.hash || (noted',
    'if ((noted',
    HALT,
  ),
  one(
    'a first block is its own parent where a seed is told',
    'src/passes/steps/seeds.ts',
    'return block && parent ? { block, parent } : null',
    'return block ? { block, parent: parent ?? block } : null',
    REORGANISATION,
  ),
]
