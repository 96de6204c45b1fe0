// Changes of the mutated files that no test can notice, because the code does the same with them. `npm run mutation` counts them apart, and fails if a
// test notices one after all.

export interface Exception {
  file: string
  /** The changed line, without the spaces around it. */
  line: string
  /** Stryker's name for the kind of change. */
  mutator: string
  /** What Stryker puts there, in one line, as the run prints it. */
  put: string
  reason: string
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    file: 'src/domain/units.ts',
    line: 'return a > b ? a : b',
    mutator: 'EqualityOperator',
    put: 'a >= b',
    reason: 'Of two equal amounts either is the larger.',
  },
  {
    file: 'src/domain/units.ts',
    line: 'return a < b ? a : b',
    mutator: 'EqualityOperator',
    put: 'a <= b',
    reason: 'Of two equal amounts either is the smaller.',
  },
  {
    file: 'src/domain/payers/can-buy.ts',
    line: 'wallets: [],',
    mutator: 'ArrayDeclaration',
    put: '["Stryker was here"]',
    reason: 'No buyer has such an address.',
  },
  {
    file: 'src/domain/payers/can-buy.ts',
    line: 'serviceAccounts: [],',
    mutator: 'ArrayDeclaration',
    put: '["Stryker was here"]',
    reason: 'No buyer has such an address.',
  },
  {
    file: 'src/domain/payers/can-buy.ts',
    line: "selection: { kind: 'onSale', tier, others: [], byGrace: false, supply: null },",
    mutator: 'ArrayDeclaration',
    put: '["Stryker was here"]',
    reason: 'A version without terms sells nothing.',
  },
  {
    file: 'src/domain/payers/can-buy.ts',
    line: "selection: { kind: 'onSale', tier, others: [], byGrace: false, supply: null },",
    mutator: 'BooleanLiteral',
    put: 'true',
    reason: 'The grace is only in the evidence, which a check does not show.',
  },
  {
    file: 'src/domain/payers/can-buy.ts',
    line: 'mayOpen: false,',
    mutator: 'BooleanLiteral',
    put: 'true',
    reason: 'The judge asks it only of a tier that is not open.',
  },
  {
    file: 'src/domain/judgement.ts',
    line: "holdingToken === null || (holdingToken === token && holding.kind === 'read' && holding.amountWei >= holdingWei)",
    mutator: 'ConditionalExpression',
    put: 'true',
    reason: 'A holding that was not read has no amount, so it is not enough either. The compiler wants the question.',
  },
  {
    file: 'src/domain/rounds/payouts.ts',
    line: 'const spans: { from: number; until: number }[] = []',
    mutator: 'ArrayDeclaration',
    put: '["Stryker was here"]',
    reason: 'A span without times begins before no end, and needs no window.',
  },
  {
    file: 'src/domain/rounds/due-turns.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a line
    line: 'const phase = `${intervalSec} ${nextDue % intervalSec}`',
    mutator: 'ArithmeticOperator',
    put: 'nextDue * intervalSec',
    reason: 'Cohorts of one phase have the same blocks. Looking at each of them only takes longer.',
  },
  {
    file: 'client/src/viem/allowlist.ts',
    line: 'const parentOf = (a: Hex, b: Hex): Hex => keccak256(concat(a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a]))',
    mutator: 'EqualityOperator',
    put: 'a.toLowerCase() <= b.toLowerCase()',
    reason: 'Of two equal hashes either may stand first.',
  },
  {
    file: 'client/src/viem/verify.ts',
    line: 'const first = changes.find((change) => change.blockNumber > blockNumber || change.logIndex > logIndex)',
    mutator: 'EqualityOperator',
    put: 'change.logIndex >= logIndex',
    reason: 'No change of an interval is the credit itself.',
  },
  {
    file: 'src/chain/prove/items.ts',
    line: "export const rlp = (item: Item): Uint8Array => toRlp(item as Uint8Array[], 'bytes')",
    mutator: 'StringLiteral',
    put: '""',
    reason: "Viem returns bytes for everything but 'hex'.",
  },
  {
    file: 'src/chain/prove/breath.ts',
    line: 'if (performance.now() < until) return null',
    mutator: 'EqualityOperator',
    put: 'performance.now() <= until',
    reason: 'The clock has fractions of a millisecond. A test cannot meet one of them.',
  },
  {
    file: 'src/follower/follow.ts',
    line: "if (oldest === null) throw new Error('a cursor without stored headers')",
    mutator: 'CallExpression',
    put: ';',
    reason: "A cursor is stored together with its block's header. The compiler wants the question.",
  },
  {
    file: 'src/mending/seek.ts',
    line: "const isExplained = drift.kind === 'node' && EXPLAINED_BY_EVENTS.includes(drift.field)",
    mutator: 'ConditionalExpression',
    put: 'true',
    reason: 'No other kind of difference has such a field. The compiler wants the question.',
  },
  {
    file: 'src/mending/seek.ts',
    line: 'return blocks.flatMap((block) => (block === null ? [] : [[block]]))',
    mutator: 'ConditionalExpression',
    put: 'false',
    reason: 'The ledger has no header without a number, so such a block is not compared.',
  },
  {
    file: 'src/mending/reconcile.ts',
    line: 'while (next < first + length && drifts.length < DRIFTS_MAX && performance.now() < deadline) {',
    mutator: 'EqualityOperator',
    put: 'performance.now() <= deadline',
    reason: 'The clock has fractions of a millisecond. A test cannot meet one of them.',
  },
  {
    file: 'src/passes/steps/judge-facts.ts',
    line: 'const decidable = payments.filter(isDecidable).map(({ id }) => id)',
    mutator: 'MethodExpression',
    put: 'payments',
    reason: 'Of other payments no decision is asked. Reading them only takes longer.',
  },
]
