// Bugs that others have had, or that we could have: each a small change of the text of a file, and the tests that must
// notice it. A change whose text is no longer there is reported, so that this list cannot go stale unnoticed.

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is the text of other files

export interface PlantedBug {
  name: string
  /** In each file, the one place of `find` becomes `put`. */
  edits: readonly { file: string; find: string; put: string }[]
  /** Test files, the likeliest to notice first. */
  tests: readonly string[]
}

const SENDS = 'test/faults/sends.test.ts'
const READS = 'test/faults/reads.test.ts'
const CRASHES = 'test/faults/crashes.test.ts'
const INSTANCES = 'test/passes/instances.test.ts'
const PROCESSES = 'test/faults/instances.test.ts'
const SENDING = 'test/passes/sending.test.ts'
const REORGANISATION = 'test/passes/reorganisation.test.ts'
const SIMULATION = 'test/sim/model-a.test.ts'
const KEPT_SEEDS = 'test/sim/kept.test.ts'

/** A bug that is one change of one file. */
export const one = (name: string, file: string, find: string, put: string, ...tests: string[]): PlantedBug => ({
  name,
  edits: [{ file, find, put }],
  tests,
})

const SEND = 'src/passes/steps/send.ts'
const OBSERVE = 'src/chain/observe.ts'

export const BUGS: readonly PlantedBug[] = [
  {
    name: 'two intents may be stored for one nonce',
    edits: [
      {
        file: 'migrations/0001_ledger.sql',
        find: 'CREATE UNIQUE INDEX outbox_nonce',
        put: 'CREATE INDEX outbox_nonce',
      },
      // Which asks for that key by name, so that without it nothing would work at all.
      { file: 'src/db/outbox.ts', find: 'ON CONFLICT (sender, nonce) DO NOTHING', put: 'ON CONFLICT DO NOTHING' },
    ],
    tests: [PROCESSES],
  },
  one('the nonce is the provider’s, whatever is stored', SEND, 'if (nonce < expected) {', 'if (nonce < 0) {', READS),
  one(
    'a transaction is sent before it is stored',
    SEND,
    '  failpoint(`${call.kind}.signed`)\n',
    '  await handOver(ctx, run, sender, signed, `${call.kind}.sent`)\n',
    SENDS,
  ),
  one(
    'an answer that did not come is taken for a failure, and the nonce given to another',
    SEND,
    '  await handOver(ctx, run, sender, signed, `${call.kind}.sent`)\n',
    `  if ((await handOver(ctx, run, sender, signed, \`\${call.kind}.sent\`)).kind === 'unknown')
    await inTransaction(ctx.pool, async (sql) => {
      await sql\`UPDATE payments SET state = 'accepted', outbox_id = NULL WHERE state = 'minting'\`
      await sql\`DELETE FROM outbox_attempts WHERE tx_hash = \${signed.txHash}\`
      await sql\`DELETE FROM outbox o WHERE NOT EXISTS (SELECT FROM outbox_attempts WHERE outbox_id = o.id)\`
    })
`,
    SENDS,
  ),
  one(
    'what was stored is never handed over again',
    SEND,
    "      case 'resend':\n        await handOver(ctx, run, sender, intent, 'resend.sent')\n",
    "      case 'resend':\n",
    SENDS,
  ),
  one('a run that lost its lock sends all the same', SEND, '  run.checkLock()\n', '', INSTANCES),
  one(
    'a send goes to the first provider only',
    'src/chain/rpc.ts',
    '        providers.map(async (provider): Promise<SendReply> => {',
    '        providers.slice(0, 1).map(async (provider): Promise<SendReply> => {',
    'test/faults/providers.test.ts',
  ),
  {
    name: 'a fee is raised by too little for real nodes',
    edits: [
      { file: 'src/domain/send.ts', find: 'const BUMP_NUMERATOR = 9n', put: 'const BUMP_NUMERATOR = 17n' },
      { file: 'src/domain/send.ts', find: 'const BUMP_DENOMINATOR = 8n', put: 'const BUMP_DENOMINATOR = 16n' },
      // The market's own rise would hide it.
      {
        file: 'src/domain/send.ts',
        find: 'max(raised(tx.maxFeeWei), view.feesNow.maxFeeWei)',
        put: 'raised(tx.maxFeeWei)',
      },
    ],
    tests: ['test/domain/send.test.ts'],
  },
  one(
    'a client’s words for "known already" are not understood',
    'src/chain/send-errors.ts',
    "      'alreadyknown', // Nethermind before its texts became geth's\n",
    '',
    SENDS,
  ),
  one(
    'a mint that needs too much gas is not split',
    'src/passes/steps/mint.ts',
    "sent.why === 'overGasCap' && batch.length > 1",
    "sent.why === 'overGasCap' && batch.length > 1_000",
    SENDS,
  ),
  {
    name: 'the cursor passes by a block that is missing',
    edits: [
      {
        file: OBSERVE,
        find: 'return answers.map((answer, index) => see(answer, piece[index] as number))',
        put: 'return answers.flatMap((answer, index) => answer == null ? [] : [see(answer, piece[index] as number)])',
      },
      {
        file: OBSERVE,
        find: 'if (expected !== null && head.parentHash',
        put: 'if (expected === head.hash && head.parentHash',
      },
    ],
    tests: [READS],
  },
  one(
    'a range is believed that does not follow on its parent',
    OBSERVE,
    'if (expected !== null && head.parentHash',
    'if (expected === head.hash && head.parentHash',
    READS,
  ),
  one(
    'a transaction without a receipt is skipped',
    OBSERVE,
    'if (answer == null) again(`the provider has no receipt for',
    'if (answer == null) continue\n      if (answer === false) again(`the provider has no receipt for',
    READS,
  ),
  one(
    'a null receipt counts as success',
    OBSERVE,
    '      if (answer == null) again(`the provider has no receipt for ${tx.hash}, which block ${head.number} lists`)\n',
    `      if (answer == null) {
        receipts.set(tx.hash, { txHash: tx.hash, blockHash: head.hash, succeeded: true, feeWei: 0n, gasUsed: 0, logs: [] } as never)
        continue
      }
`,
    READS,
  ),
  one(
    'a receipt is believed whatever block it is from',
    OBSERVE,
    'if (found.txHash !== tx.hash || found.blockHash !== head.hash) {',
    'if (found.txHash !== tx.hash) {',
    READS,
  ),
  one(
    'logs are believed without a look at the blooms',
    OBSERVE,
    'if (!logs || logs.length === 0) return bloomCheck.mayHoldAny(head.logsBloom)',
    'if (!logs || logs.length === 0) return false',
    READS,
  ),
  one(
    'an owner’s transfer is believed away when its log is kept back',
    OBSERVE,
    'return senders.includes(tx.from) || tx.to === watched.factory',
    'return senders.includes(tx.from)',
    READS,
  ),
  one(
    'the driver is left to fall over a connection that went inside a transaction',
    'src/db/sql.ts',
    '      if (lost || isConnectionLost(error)) return await silence()\n',
    '',
    'test/db/lost-connection.test.ts',
  ),
  one(
    'a provider that lags takes the ledger back',
    'src/passes/steps/follow.ts',
    'if (shorter && !ctx.rules.rewindsToShorterChain) {',
    'if (shorter && ctx.rules.startBlock < 0) {',
    READS,
  ),
  one(
    'a holding that cannot be read counts as none',
    'src/passes/steps/judge.ts',
    "if (amountWei === null) return { kind: 'unreadable', sinceSec: bench.now - payment.blockTime }",
    "if (amountWei === null) return { kind: 'read', amountWei: 0n }",
    READS,
  ),
  one(
    'the allowance is counted without what is in flight',
    'src/domain/payment.ts',
    'if (facts.tierNodes + facts.tierInFlight >= selection.tier.maxPerWallet)',
    'if (facts.tierNodes >= selection.tier.maxPerWallet)',
    'test/domain/payment.test.ts',
  ),
  one(
    'a transfer that failed on chain buys a node',
    'src/domain/payment.ts',
    "  if (!facts.succeeded) return 'failed'\n",
    '',
    'test/domain/payment.test.ts',
  ),
  one(
    'mints and rounds carry no fork guard',
    'src/chain/sender.ts',
    'return guarded && call.guard ?',
    'return guarded && !call.guard ?',
    REORGANISATION,
    'test/chain/sender.test.ts',
  ),
  one(
    'cohorts stay as they were when blocks are taken back',
    'src/passes/steps/rewind.ts',
    '    await rewindCohorts(sql, height)\n',
    '',
    REORGANISATION,
  ),
  one(
    'what was mined in a block that is gone counts as mined',
    'src/passes/steps/rewind.ts',
    'const resent = await rewindOutbox(sql, height)',
    'const resent = await rewindOutbox(sql, Number.MAX_SAFE_INTEGER)',
    REORGANISATION,
  ),
  one(
    'a mint carries no fork guard',
    'src/passes/steps/mint.ts',
    'guard: ctx.rules.guardUsable ? { number: cursor.number, hash: cursor.hash } : null',
    'guard: null',
    KEPT_SEEDS,
    SIMULATION,
  ),
  one(
    'the places in a tier are counted without what is in flight',
    'src/db/payments.ts',
    "WHERE p.from_address = ${wallet} AND p.state IN ('accepted', 'minting') AND t.tier_no",
    'WHERE p.from_address = ${wallet} AND false AND t.tier_no',
    KEPT_SEEDS,
    SIMULATION,
  ),
  one(
    'a first nonce that a reorganisation freed stays free',
    SEND,
    'accountNonce < first.nonce ? await',
    'accountNonce < 0 ? await',
    KEPT_SEEDS,
  ),
  one(
    'a value without a transaction is filed under whatever chain id a provider says',
    'src/passes/steps/audit.ts',
    'await ledgerChainId(ctx)',
    'await ctx.chain.chainId()',
    KEPT_SEEDS,
  ),
  one(
    'payments of a mint that reverted are forgotten',
    'src/db/payments.ts',
    "WHERE outbox_id = ANY(${[...outboxIds]}) AND state = 'minting'`",
    "WHERE outbox_id = ANY(${[...outboxIds]}) AND state = 'minting' AND false`",
    SENDING,
  ),
  one(
    'a round pays cohorts that are not due',
    'src/passes/credit.ts',
    'isDue(cohort, cursor.time)',
    'isDue(cohort, cursor.time + 86_400)',
    'test/passes/credit.test.ts',
  ),
  one(
    'a range is stored without a transaction around it',
    'src/passes/steps/store.ts',
    '  return inTransaction(ctx.pool, async (sql) => {',
    '  return ((pool: typeof ctx.pool, store: (sql: never) => Promise<Stored | null>) => store(pool as never))(ctx.pool, async (sql: Sql) => {',
    CRASHES,
  ),
  one(
    'a follower stores although another one has moved the cursor',
    'src/passes/steps/store.ts',
    '    if (current?.hash !== expected?.hash) return null\n',
    '    if (current === undefined) return null\n',
    INSTANCES,
    PROCESSES,
  ),
  one(
    'a point where the process is killed can be armed in production',
    'src/failpoint.ts',
    '  if (production)\n    throw',
    '  if (production && name === armed)\n    throw',
    CRASHES,
  ),
]
