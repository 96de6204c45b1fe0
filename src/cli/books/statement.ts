// The command `node-ledger statement`: a period's books, from every account's opening balance to its closing balance.
import { readStatement, type Statement, statementCsv, statementLines } from '../../operator/acts/books/statement.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { inEther } from '../ether.ts'
import { accepted, fieldsOf, type View } from '../operator.ts'
import { table } from '../output.ts'

export const VIEWS: Readonly<Record<string, View>> = {
  statement: { options: { csv: { help: 'print it as CSV', isOurs: true } }, run: statement },
}

/** Runs the command: 0 if everything adds up to the wei, 1 if there is a difference, 3 if we could not read a balance. */
async function statement(call: Call): Promise<ExitCode> {
  const { io, out, flags } = call
  return await withOperator(io, async (deps) => {
    const report = accepted(await readStatement(deps, fieldsOf(call)), call)
    await out.result(report, () => (flags.has('csv') ? statementCsv(report).trimEnd() : describe(report)))
    if (report.balanced === true) return EXIT.done
    out.say(
      report.balanced === null
        ? whyUnknown(report)
        : 'It does not add up: see the unexplained amounts, and "When it does not add up" in docs/BOOKS.md.',
    )
    return report.balanced === null ? EXIT.unavailable : EXIT.negative
  })
}

/** Names the balances that are missing and their blocks, the likely reason, and what to do. */
function whyUnknown({ period, accounts, contract }: Statement): string {
  const { opening, closing } = period
  const missing = (edge: 'openingWei' | 'closingWei', debt: bigint | null) => {
    const names = accounts.filter((account) => account[edge] === null).map(({ name }) => name)
    return [...names, ...(debt === null ? ['what the contract owes'] : [])].join(', ')
  }
  const lines = [
    [opening.blockNumber, missing('openingWei', 0n)],
    [closing.blockNumber, missing('closingWei', contract.chainClosingWei)],
  ].flatMap(([block, names]) => (names ? [`  after block ${block}: ${names}`] : []))
  return [
    'We do not know whether it adds up, because the chain did not give these balances:',
    ...lines,
    'The provider no longer has the states of blocks that old, or did not answer. The embedded chain keeps some hundred, since its start. Put an archive node into RPC_URL, or choose a later period.',
  ].join('\n')
}

/** The lines of the CSV in columns, with amounts in ether. */
function describe(report: Statement): string {
  const [heads = [], ...lines] = statementLines(report)
  return table(
    heads.map((head) => (head === 'wei' ? 'ETH' : (head ?? ''))),
    lines.map(([section, item, detail, count, wei]) => [section, item, detail, count, inEther(wei)]),
  )
}
