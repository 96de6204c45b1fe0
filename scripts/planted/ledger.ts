// Bugs of what the ledger keeps: how it goes back, comes back, halts, pays rounds and takes the operator's word. Each takes out
// what gives one of the faults of test/faults/README.md its outcome. See bugs.ts for what a bug is.

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is the text of other files

import { one, type PlantedBug } from './bugs.ts'

const SENDS = 'test/faults/sends.test.ts'
const READS = 'test/faults/reads.test.ts'
const DATABASE = 'test/faults/database.test.ts'
const SENDING = 'test/passes/sending.test.ts'
const REORGANISATION = 'test/passes/reorganisation.test.ts'
const PAYMENTS = 'test/passes/payments.test.ts'
const CREDIT = 'test/passes/credit.test.ts'
const CLAIM = 'test/passes/claim.test.ts'
const RACES = 'test/passes/races.test.ts'
const REFUNDS = 'test/passes/refunds.test.ts'
const RECONCILE = 'test/passes/reconcile.test.ts'
const INSTANCES = 'test/passes/instances.test.ts'
const HALT = 'test/audit/halt.test.ts'
const FIRST_BLOCK = 'test/passes/first-block.test.ts'
const RESTORED = 'test/audit/restored.test.ts'
const WALLET = 'test/audit/wallet.test.ts'
const HELD = 'test/operator/held.test.ts'
const TIERS = 'test/domain/tiers.test.ts'
const JUDGE = 'test/domain/payment.test.ts'
const SCHEDULE = 'test/domain/schedule.test.ts'

const RPC = 'test/chain/rpc.test.ts'
const DEPLOYMENT = 'test/chain/deploy.test.ts'

const SEND = 'src/passes/steps/send.ts'
const STORE = 'src/passes/steps/store.ts'
const OUTBOX = 'src/db/outbox.ts'
const JUDGE_STEP = 'src/passes/steps/judge.ts'
const REFUND_STEP = 'src/passes/steps/refunds.ts'
const PAYMENT_ROWS = 'src/db/payments.ts'
const NODE_ROWS = 'src/db/nodes.ts'

export const LEDGER_BUGS: readonly PlantedBug[] = [
  // Sending
  one(
    'what was not noted as sent counts as never stored',
    OUTBOX,
    "WHERE o.sender = ${sender} AND o.state = 'pending' ORDER BY o.nonce`",
    "WHERE o.sender = ${sender} AND o.state = 'pending' AND a.sends > 0 ORDER BY o.nonce`",
    SENDING,
    DATABASE,
  ),
  one(
    'only the last attempt of an intent is known for ours',
    OUTBOX,
    'LEFT JOIN outbox_attempts a ON a.tx_hash = r."txHash"',
    `LEFT JOIN outbox_attempts a ON a.tx_hash = r."txHash"
      AND a.attempt = (SELECT max(attempt) FROM outbox_attempts l WHERE l.outbox_id = a.outbox_id)`,
    SENDING,
  ),
  one(
    'a nonce that somebody else took counts as ours',
    OUTBOX,
    "CASE WHEN a.tx_hash IS NULL THEN 'displaced'",
    "CASE WHEN a.tx_hash IS NULL THEN 'mined'",
    SENDING,
  ),
  one(
    'nobody is told of a transaction made with our key',
    STORE,
    "if (!restored) for (const txHash of foreign) await alarm(ctx, sql, 'foreignTransaction', txHash, {})",
    '',
    SENDING,
  ),
  one(
    'a fee above the cap is offered',
    SEND,
    "if (fees.maxFeeWei > ctx.rules.feeCapWei)\n    return { kind: 'refused'",
    "if (fees.maxFeeWei < 0n)\n    return { kind: 'refused'",
    SENDING,
  ),
  one(
    'a stuck transaction is raised above the cap',
    'src/domain/send.ts',
    "if (maxFeeWei > view.feeCapWei || maxPriorityFeeWei > view.feeCapWei) return { kind: 'capped' }",
    '',
    'test/domain/send.test.ts',
  ),
  one('a call is signed that the account cannot pay', SEND, 'if (balance < needed)', 'if (balance < 0n)', SENDING),
  one(
    'what the simulation refuses is signed all the same',
    SEND,
    "if (estimate.kind === 'reverts') return",
    "if (estimate.kind === 'reverts') Object.assign(estimate, { kind: 'ok', gas: 1_000_000n })\n  if (estimate.kind === 'reverts') return",
    SENDING,
  ),
  one(
    'a sender whose transactions revert never rests',
    SEND,
    'if (inARow < REVERTS_MAX ||',
    'if (inARow < 1_000 ||',
    'test/audit/resting.test.ts',
  ),
  one(
    'a round that needs too much gas is not split',
    'src/passes/credit.ts',
    "const half = sent.why === 'overGasCap' ? firstHalf(plan) : null",
    "const half = sent.kind === 'refused' ? null : firstHalf(plan)",
    SENDS,
  ),
  one(
    'openings that need too much gas are not split',
    'src/passes/steps/mint.ts',
    "sent.why !== 'overGasCap' || openings.length < 2)",
    "sent.why !== 'overGasCap' || openings.length > 1)",
    SENDS,
  ),
  one(
    'an order that the contract passed over because the wallet is full is sent again and again',
    STORE,
    'skip.reason === SKIPPED_WALLET_FULL',
    'skip.reason === SKIPPED_WALLET_FULL + 100',
    'test/passes/wallet-limit.test.ts',
  ),
  one('everybody gets the lock', 'src/db/locks.ts', 'if (!row?.taken) return null', 'if (!row) return null', INSTANCES),
  one(
    'a database that fell silent is waited for',
    'src/db/socket.ts',
    'if (looks >= LOOKS) socket.destroy()',
    '',
    'test/db/lost-connection.test.ts',
  ),
  one(
    'a lock stays with a holder that is stopped',
    'src/db/locks.ts',
    ', silenceMs: SILENCE_MS }',
    ' }',
    'test/faults/instances.test.ts',
  ),

  one(
    'words that nobody knows are taken for a refusal',
    'src/chain/send-errors.ts',
    "  return 'unknown'\n}\n\n/** Texts that say",
    "  return 'feeTooLow'\n}\n\n/** Texts that say",
    'test/chain/send-errors.test.ts',
  ),
  one(
    'a call is repeated whose guard has lapsed',
    SEND,
    'const lapsed = intent.guardBlock !== null &&',
    'const lapsed = intent.guardBlock === -1 &&',
    SENDING,
  ),

  one(
    'a guard counts as good one block too long',
    SEND,
    'cursor.number >= intent.guardBlock + outbox.BLOCK_HASHES_REACH',
    'cursor.number > intent.guardBlock + outbox.BLOCK_HASHES_REACH',
    SENDING,
  ),
  one(
    'a run mints although its time was up before it had followed to the head',
    'src/passes/payments.ts',
    'if (ctx.minter && cursor.number === followed.head.number)',
    'if (ctx.minter)',
    RACES,
  ),
  one(
    'a run pays a round although its time was up before it had followed to the head',
    'src/passes/credit.ts',
    "  if (cursor.number !== head.number) return outcome({ reason: 'pending', dueNodes })\n",
    '',
    RACES,
  ),
  one(
    'a payment is minted though it was held while its mint was being signed',
    PAYMENT_ROWS,
    'p.inner_index FOR UPDATE OF p`',
    'p.inner_index`',
    RACES,
  ),

  // Asking providers
  one(
    'a read that failed is not tried again',
    'src/chain/rpc.ts',
    'const READ_ATTEMPTS_MIN = 2',
    'const READ_ATTEMPTS_MIN = 1',
    RPC,
  ),
  one(
    'a provider that stands still is asked first for ever',
    'src/chain/follow.ts',
    'await rpc.passOverLaggards()',
    '',
    'test/faults/providers.test.ts',
  ),
  one(
    'a provider that contradicts itself is asked first for ever',
    'src/chain/follow.ts',
    'if (!isContradiction(error) || !rpc.passOverFirst()) throw error',
    'throw error',
    'test/chain/follow.test.ts',
  ),
  one(
    'a block that one provider lacks is asked of no other',
    'src/chain/rpc.ts',
    '(read.accept?.(reply.result) ?? true)',
    'true',
    RPC,
  ),

  // Starting
  one(
    'keys that lack their role may start',
    'src/chain/check-deployment.ts',
    'if (ours === null || ours === address(onChain)) continue',
    'if (ours === null || ours !== null) continue',
    DEPLOYMENT,
  ),
  one(
    'the passes begin before the chain was held against the settings',
    'src/passes/run.ts',
    '    await ctx.ready?.()\n',
    '',
    'test/faults/start.test.ts',
  ),
  one(
    'the database is not waited for',
    'src/settle.ts',
    'if (performance.now() >= deadline) {',
    'if (performance.now() >= deadline - waitMs) {',
    'test/faults/start.test.ts',
  ),

  // Following and going back
  one(
    'a range that a provider refuses is not asked for in smaller pieces',
    'src/chain/follow.ts',
    'if (size === 1 || !isTooMuch(error)) throw error',
    'throw error',
    READS,
  ),
  one(
    'transactions of newer types are passed over',
    'src/chain/observe.ts',
    'if (!concerns(raw.from, raw.to)) continue',
    "if (!concerns(raw.from, raw.to) || (entry as { type?: string }).type === '0x4') continue",
    'test/chain/observe.test.ts',
  ),
  one(
    'a payment that was accepted outlives its block',
    PAYMENT_ROWS,
    '      updated_at = now()\n    WHERE block_number > ${height}`',
    "      updated_at = now()\n    WHERE block_number > ${height} AND state <> 'accepted'`",
    REORGANISATION,
  ),
  one(
    'a payment that comes back stays away',
    PAYMENT_ROWS,
    "    WHERE p.state = 'orphaned'`",
    "    WHERE p.state = 'orphaned' AND false`",
    REORGANISATION,
  ),
  one(
    'what the operator decided goes with the payment’s block',
    PAYMENT_ROWS,
    "decided_by <> 'pass' AND excluded.succeeded",
    "decided_by = 'pass' AND excluded.succeeded AND false",
    HELD,
    REORGANISATION,
  ),
  one(
    'what a node had withdrawn in a block that is gone stays withdrawn',
    NODE_ROWS,
    'WHERE node_id = ANY(${[...new Set(withdrawn.map((row) => row.node_id))]})`',
    'WHERE node_id = ANY(${[...new Set(withdrawn.map((row) => row.node_id))]}) AND false`',
    REORGANISATION,
  ),
  one(
    'a node stays with whom a block that is gone gave it to',
    NODE_ROWS,
    'WHERE node_id = ANY(${[...new Set(moved.map((row) => row.node_id))]})`',
    'WHERE node_id = ANY(${[...new Set(moved.map((row) => row.node_id))]}) AND false`',
    REORGANISATION,
  ),
  one(
    'a node stays with whom it was minted to',
    NODE_ROWS,
    'if (owners.length === 0) return',
    'if (owners.length >= 0) return',
    'test/passes/withdrawals.test.ts',
  ),
  one(
    'a node that the ledger lacks is never looked for',
    'src/passes/steps/reconcile.ts',
    '(missing ? await insertMissing(ctx, cursor, counters.lastNodeId) : 0)',
    '(missing ? 0 : 0)',
    RECONCILE,
  ),

  one(
    'a transfer of a node that the ledger lacks stops the follower',
    NODE_ROWS,
    '"txHash" text, "blockHash" text)\n    WHERE EXISTS (SELECT FROM nodes n WHERE n.node_id = r."nodeId")`',
    '"txHash" text, "blockHash" text)`',
    RECONCILE,
  ),
  one(
    'what the payments wallet sent outlives its block',
    PAYMENT_ROWS,
    'DELETE FROM wallet_outflows WHERE block_number > ${height}`',
    'DELETE FROM wallet_outflows WHERE block_number > ${height} AND false`',
    REORGANISATION,
  ),
  one(
    'the first block is passed over',
    'src/passes/steps/ahead.ts',
    'place.number + 1 : rules.startBlock',
    'place.number + 1 : rules.startBlock + 1',
    WALLET,
  ),

  // Halting and restoring
  one(
    'another chain behind the same URL is followed',
    'src/passes/steps/halt.ts',
    'if (chainId !== identity.chainId) throw',
    'if (chainId < 0) throw',
    HALT,
  ),
  one(
    'a chain that agrees with no stored header is followed from the oldest one on',
    'src/passes/steps/follow.ts',
    '  if (!fork) await refuseTooDeep(ctx, oldest)\n  return fork\n',
    '  return fork ?? ((await readBlock(ctx.pool, oldest)) as Block)\n',
    HALT,
    REORGANISATION,
  ),
  one(
    'a ledger that knows older blocks begins anew where its oldest header is taken back',
    'src/passes/steps/halt.ts',
    'if (oldest > ctx.rules.startBlock || !isSameChain)',
    'if (!isSameChain)',
    HALT,
    FIRST_BLOCK,
  ),
  one(
    'a ledger begins anew on whatever chain',
    'src/passes/steps/halt.ts',
    '  const isSameChain = await refuseOtherGenesis(ctx)\n  if (oldest > ctx.rules.startBlock || !isSameChain)',
    '  if (oldest > ctx.rules.startBlock)',
    FIRST_BLOCK,
  ),
  one(
    'a ledger begins anew where the factory is gone',
    'src/passes/steps/follow.ts',
    'if (await ctx.contract.isDeployed(head.number)) return',
    'if (head.number > 0) return',
    FIRST_BLOCK,
  ),
  one(
    'the books outlive the block that they begin with where the ledger begins anew',
    'src/passes/steps/rewind.ts',
    'await (fork ? rewindBooks(sql, height) : forgetBooks(sql))',
    'await rewindBooks(sql, height)',
    FIRST_BLOCK,
  ),
  one(
    'two who store the first blocks at once both store them',
    STORE,
    '    if (!current && !(await beginCursor(sql, cursor))) return null\n',
    '',
    FIRST_BLOCK,
  ),
  one(
    'blocks that were final are taken back like any other',
    'src/passes/steps/halt.ts',
    'if (finalized && (fork === null || fork.number < finalized.number))',
    'if (finalized && fork !== null && fork.number < 0)',
    HALT,
    'test/audit/finality.test.ts',
  ),
  one(
    'what a restored ledger has forgotten goes unnoticed',
    'src/passes/steps/restored.ts',
    'if (unknown.size === 0) return false',
    'if (unknown.size >= 0) return false',
    RESTORED,
  ),
  one(
    'a payment from before a restore is minted without a look',
    JUDGE_STEP,
    'beforeRestore: restored && !(await hasOperatorVerdict(sql, payment.id)),',
    'beforeRestore: false,',
    RESTORED,
  ),
  one(
    'rows that differ are not told after a rebuild',
    'src/rebuild/compare.ts',
    'if (ours.row !== theirs.row) {',
    'if (ours.row === null) {',
    'test/audit/rebuild.test.ts',
    'test/passes/rebuild.test.ts',
  ),

  // Judging
  one(
    'a payment counts as deep enough one block early',
    JUDGE_STEP,
    'return cursor.number - finality',
    'return cursor.number - finality + 1',
    'test/passes/finality.test.ts',
  ),
  one(
    'a tier that is off sale is sold',
    'src/domain/tiers.ts',
    "if (inForce.onSale) return { kind: 'onSale', tier: inForce, byGrace: false }",
    "return { kind: 'onSale', tier: inForce, byGrace: false }",
    TIERS,
  ),
  one(
    'more than the price is as good as the price',
    'src/domain/tiers.ts',
    'if (inForce.priceWei === payment.valueWei) {',
    'if (inForce.priceWei <= payment.valueWei) {',
    TIERS,
  ),
  one(
    'the payments wallet buys from itself',
    'src/domain/payment.ts',
    "  if (facts.from === facts.paymentAddress) return 'self'\n",
    '',
    JUDGE,
  ),
  one(
    'how long a holding could not be read is told by the service’s clock',
    JUDGE_STEP,
    'now: cursor.time,',
    'now: Math.floor(Date.now() / 1000),',
    PAYMENTS,
  ),
  one(
    'of a claim nobody waits until the ledger has followed to it',
    'src/passes/claim.ts',
    '  await reachBlock(ctx, blockNumber, runPayments, judged)\n',
    '  if (blockNumber < 0) await reachBlock(ctx, blockNumber, runPayments, judged)\n',
    CLAIM,
  ),
  one(
    'a claim that nobody can look up is said to be unknown',
    'src/passes/claim.ts',
    'const tx = await ctx.chain.transaction(txHash)',
    'const tx = await ctx.chain.transaction(txHash).catch(() => null)',
    CLAIM,
    'test/http/claim.test.ts',
  ),
  {
    name: 'two people may decide about one payment',
    edits: [
      { file: 'src/operator/payments.ts', find: 'if (from) await lockWallet(sql, from)', put: 'if (!from) break' },
      { file: 'src/db/decisions.ts', find: '${lock ? sql`FOR UPDATE` : sql``}', put: '${lock ? sql`` : sql``}' },
    ],
    tests: [HELD],
  },

  one(
    'a wallet’s places are counted while a release of the same wallet is under way',
    JUDGE_STEP,
    '    await payments.lockWallet(sql, payment.from)\n',
    '',
    RACES,
  ),
  one(
    'a verdict on a payment is written though it came back in another block',
    JUDGE_STEP,
    ' || current.blockHash !== payment.blockHash)',
    ')',
    RACES,
  ),
  one(
    'the cap of a wallet is counted without what is being minted',
    PAYMENT_ROWS,
    `state IN ('accepted', 'minting')) AS "walletInFlight"`,
    `state = 'accepted') AS "walletInFlight"`,
    'test/passes/wallet-limit.test.ts',
  ),

  one(
    'a refund counts as final once it was looked at',
    REFUND_STEP,
    'const final = blockNumber <= finalized',
    'const final = blockNumber >= 0',
    REFUNDS,
  ),
  one(
    'a refund is given up because a provider lags',
    REFUND_STEP,
    'return there !== null && there.hash !== refund.blockHash &&',
    'return there?.hash !== refund.blockHash &&',
    REFUNDS,
  ),
  one(
    'a refund is noted in a block that is not canonical',
    REFUND_STEP,
    '      if ((await ctx.chain.block(blockNumber))?.hash !== blockHash) continue\n',
    '',
    REFUNDS,
  ),

  one(
    'a transfer of another amount proves who sent a payment',
    'src/operator/attribute.ts',
    'transfers.find(({ valueWei }) => valueWei === payment.valueWei)',
    'transfers.find(({ valueWei }) => valueWei !== 0n)',
    'test/operator/attribute.test.ts',
  ),

  // The payments wallet
  one(
    'the books of the payments wallet begin a block late',
    'src/passes/steps/audit.ts',
    'Math.max(0, ctx.rules.startBlock - 1)',
    'Math.max(0, ctx.rules.startBlock)',
    WALLET,
  ),
  one(
    'value that came by an internal call is not looked for',
    'src/passes/steps/audit.ts',
    'if (balanceWei === expectedWei) {',
    'if (balanceWei >= 0n) {',
    WALLET,
  ),
  one(
    'value of a transfer that failed is in the books',
    'migrations/0001_ledger.sql',
    "WHERE succeeded AND state <> 'orphaned') added",
    "WHERE state <> 'orphaned') added",
    PAYMENTS,
  ),

  // Rounds
  one(
    'turns come due by the service’s clock',
    'src/passes/credit.ts',
    'isDue(cohort, cursor.time)',
    'isDue(cohort, Math.floor(Date.now() / 1000))',
    CREDIT,
  ),
  one(
    'turns that were missed are paid at the terms of today',
    'src/passes/steps/seeds.ts',
    'termsAt(terms, termsTime) ?? {}',
    'termsAt(terms, Number.MAX_SAFE_INTEGER) ?? {}',
    CREDIT,
  ),
  one(
    'a node joins a cohort whose turn is too near',
    'src/domain/schedule.ts',
    'if (due > earliest && due <= latest) return cohort',
    'if (due <= latest) return cohort',
    SCHEDULE,
  ),
  one(
    'cohorts are opened for which nobody waits',
    'src/domain/schedule.ts',
    'const blocked = k === 0 && isWaitedFor &&',
    'const blocked = k === 0 &&',
    SCHEDULE,
  ),
  one(
    'cohorts with nodes that nobody paid for are credited',
    'src/domain/credit.ts',
    'if (turn.unbackedNodes > 0)',
    'if (turn.unbackedNodes > 1_000)',
    CREDIT,
  ),
  one(
    'a round has the number of the one before',
    'src/passes/credit.ts',
    'const round = (await lastRound(ctx.pool)) + 1',
    'const round = await lastRound(ctx.pool)',
    CREDIT,
  ),

  // What is shown
  one(
    'a balance that could not be read is shown as zero',
    'src/http/routes/cover.ts',
    'contractBalanceWei: null,',
    "contractBalanceWei: '0',",
    'test/http/reads.test.ts',
  ),
  one(
    'a full disk is called an error of ours',
    'src/db/sql.ts',
    '/^(08|53|57P|58)/',
    '/^(08|57P|58)/',
    'test/db/sql.test.ts',
  ),
  one(
    'the price is asked for by every caller',
    'src/db/price.ts',
    "WHERE p.attempted_at <= excluded.attempted_at - interval '1 minute'",
    "WHERE p.attempted_at <= excluded.attempted_at - interval '0 minutes'",
    'test/passes/price.test.ts',
    'test/http/price.test.ts',
  ),
  one(
    'any number is a price',
    'src/feeds/eth-usd.ts',
    'Number.isFinite(value) && value > 0 && value < USD_MAX ? value : null',
    'Number.isFinite(value) ? value : null',
    'test/feeds/eth-usd.test.ts',
  ),

  // Two rare things at once
  one('a mint is bound to a fork that the ledger has left', SEND, '    await holdToGuard(sql, call)\n', '', RACES),
  one(
    'a freed nonce is filled above the cap',
    SEND,
    '  if (fees.maxFeeWei > ctx.rules.feeCapWei) return\n',
    '',
    REORGANISATION,
  ),
  one(
    'an order that the contract can never carry out is sent again and again',
    STORE,
    "  await payments.holdSkipped(sql, refsOf(impossible), 'mintReverted')\n",
    '',
    'test/operator/attribute.test.ts',
  ),
  one(
    'what is released is minted before its block is settled',
    'src/passes/payments.ts',
    'await mint(ctx, run, minter, cursor, settled)',
    'await mint(ctx, run, minter, cursor, cursor.number)',
    'test/operator/attribute.test.ts',
  ),
  one(
    'a mint gets no gas for an order that would be skipped just now',
    'src/chain/sender.ts',
    "call.kind === 'mint' ? MINT_GAS + ORDER_GAS * BigInt(call.orders.length) : 0n",
    "call.kind === 'mint' ? 0n : 0n",
    'test/passes/wallet-limit.test.ts',
  ),
  one(
    'a node is given to a payment that is in no followed block',
    PAYMENT_ROWS,
    "JOIN payments p ON p.ref = r.ref AND p.state <> 'orphaned'",
    'JOIN payments p ON p.ref = r.ref',
    REORGANISATION,
  ),
  one(
    'a payment that is read again is not given its node',
    STORE,
    '  await payments.adoptNodes(sql, came)\n',
    '',
    REORGANISATION,
  ),
  one(
    'a release that came back failed loses its tier',
    PAYMENT_ROWS,
    "coalesce(v.evidence ->> 'tierId', p.tier_id) END",
    'p.tier_id END',
    HELD,
  ),
  one(
    'a range is stored on cohorts as they were',
    STORE,
    '!isDeepStrictEqual(await readCohorts(sql), known)',
    'known.length < 0',
    RACES,
  ),
  one(
    'a payment is paid back while its mint is on its way',
    'src/operator/payments.ts',
    'if (await mayStillMint(sql, payment.ref))',
    'if (payment.ref === null)',
    'test/operator/desk.test.ts',
  ),
  one(
    'what a full wallet has paid keeps others from being judged',
    JUDGE_STEP,
    '{ ...forRoom, walletMax, limit: JUDGED_MAX }',
    '{ ...forRoom, limit: JUDGED_MAX }',
    'test/passes/wallet-limit.test.ts',
  ),
  one(
    'a rescan takes out what a former payments wallet was paid',
    'src/operator/rescan.ts',
    'if (former !== null)',
    'if (former === -1)',
    'test/operator/desk.test.ts',
  ),
  one(
    'a sync knows the first hundred nodes of a mint',
    'src/passes/sync.ts',
    '.slice(0, MINT_BATCH_MAX)',
    '.slice(0, MINT_BATCH_MAX / 2)',
    CLAIM,
  ),
]
