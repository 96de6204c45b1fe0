// The operator's readings for the books: exports, statement, transactions, rounds, the round to come, reconciliation, settings.
import { Readable } from 'node:stream'
import { EXPORT_KINDS } from '../../../db/reads/exports.ts'
import { toJson } from '../../../lib/json.ts'
import { isOperatorRefusal } from '../../../operator/act.ts'
import { exportLedger, exportOwner } from '../../../operator/exports.ts'
import { previewRound } from '../../../operator/preview.ts'
import { runReconciliation, showReconciliation } from '../../../operator/reconciliation.ts'
import { readStatement, statementCsv } from '../../../operator/statement.ts'
import { listRounds, listStuck, listTransactions, takeOverNonce } from '../../../operator/transactions.ts'
import { showTrends } from '../../../operator/trends.ts'
import type { Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'
import { adminGuard } from './guard.ts'
import { actRoute, readingRoute } from './route.ts'

type Build = (tools: Tools) => Route

/** A file is made only for a reader: HEAD must not begin one. */
const fileRoute =
  (path: string, read: Parameters<typeof readingRoute>[1]): Build =>
  (tools) => ({ ...readingRoute(path, read)(tools), noHead: true })

/** Answered without a chain: it is looked at when something does not work. */
const config: Build = (tools) => ({
  ...adminGuard(tools, { GET: 'read' }),
  path: '/api/admin/config',
  methods: ['GET'],
  deadlineMs: null,
  handle: () => ({ json: toJson({ settings: tools.deps.settings.described }) }),
})

export const financeRoutes: readonly Build[] = [
  ...EXPORT_KINDS.map((kind) =>
    fileRoute(`exports/${kind}.csv`, (deps, input) => exportLedger(deps, { ...input, kind })),
  ),
  fileRoute('exports/owner.csv', exportOwner),
  readingRoute('statement', readStatement),
  fileRoute('statement.csv', async (deps, input) => {
    const statement = await readStatement(deps, input)
    if (isOperatorRefusal(statement)) return statement
    const { blockNumber } = statement.period.closing
    return {
      stream: Readable.from([statementCsv(statement)]),
      filename: `node-ledger-statement-${blockNumber}.csv`,
      contentType: 'text/csv; charset=utf-8',
    }
  }),
  readingRoute('transactions', listTransactions),
  readingRoute('transactions/stuck', listStuck),
  actRoute('transactions/free', 'operate', takeOverNonce),
  readingRoute('rounds', listRounds),
  readingRoute('trends', showTrends),
  readingRoute('credit/preview', previewRound),
  readingRoute('reconciliation', showReconciliation),
  actRoute('reconciliation/run', 'operate', runReconciliation),
  config,
]
