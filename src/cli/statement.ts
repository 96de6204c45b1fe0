// The command `node-ledger statement`: a period's books, from every account's balance at its beginning to the one at its end.
import { readStatement, type Statement, statementCsv } from '../operator/statement.ts'
import { type Call, EXIT, type ExitCode } from './command.ts'
import { inEther } from './ether.ts'
import { withOperator } from './ledger.ts'
import { accepted, fieldsOf } from './operator.ts'
import { fields, table } from './output.ts'

/** Runs the command: 0 when everything adds up to the wei, 1 when something is left over, 3 when a balance could not be read. */
export async function statement(call: Call): Promise<ExitCode> {
  const { io, out, flags } = call
  return await withOperator(io, async (deps) => {
    const made = accepted(await readStatement(deps, fieldsOf(call)), call)
    await out.result(made, () => (flags.has('csv') ? statementCsv(made).trimEnd() : describe(made)))
    if (made.balanced === true) return EXIT.done
    out.say(
      made.balanced === null
        ? 'Some balances could not be read: it is not known whether it adds up.'
        : 'It does not add up: see what is unexplained.',
    )
    return made.balanced === null ? EXIT.unavailable : EXIT.not
  })
}

function describe({ period, sales, totalSalesWei, happened, gasWei, accounts, contract, balanced }: Statement): string {
  const { opening, closing, complete } = period as { opening: Edge; closing: Edge; complete: boolean }
  return [
    fields([
      ['from', `${opening.blockTime}, after block ${opening.blockNumber}`],
      ['to', `${closing.blockTime}, block ${closing.blockNumber}${complete ? '' : ' (the period goes on)'}`],
    ]),
    table(
      ['sold', 'nodes', 'ether'],
      [
        ...sales.map(({ tierId, count, valueWei }) => [tierId ?? 'no tier', count, inEther(valueWei)]),
        ['together', '', inEther(totalSalesWei)],
      ],
    ),
    fields([
      ['minted', `${happened.nodes} nodes`],
      ['credited', `${inEther(happened.creditedWei)} ether in ${happened.rounds} rounds`],
      ['withdrawn', `${inEther(happened.withdrawnWei)} ether in ${happened.withdrawals} withdrawals`],
      ['paid back', `${inEther(happened.refundedWei)} ether in ${happened.refunds} refunds`],
      ['gas', `${inEther(gasWei)} ether`],
      [
        'owed to owners',
        `${inEther(contract.outstandingOpeningWei)} -> ${inEther(contract.outstandingClosingWei)} ether`,
      ],
    ]),
    table(
      ['account', 'opening', 'closing', 'unexplained', 'address'],
      accounts.map((account) => [
        account.name,
        inEther(account.openingWei),
        inEther(account.closingWei),
        inEther(account.unexplainedWei),
        account.address,
      ]),
    ),
    balanced ? 'It adds up to the wei.' : '',
  ]
    .join('\n\n')
    .trimEnd()
}

interface Edge {
  blockNumber: number
  blockTime: string
}
