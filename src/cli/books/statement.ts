// The command `node-ledger statement`: a period's books, from every account's opening balance to its closing balance.
import { readStatement, type Statement, statementCsv } from '../../operator/books/statement.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { inEther } from '../ether.ts'
import { accepted, fieldsOf } from '../operator.ts'
import { fields, table } from '../output.ts'

/** Runs the command: 0 if everything adds up to the wei, 1 if there is a difference, 3 if we could not read a balance. */
export async function statement(call: Call): Promise<ExitCode> {
  const { io, out, flags } = call
  return await withOperator(io, async (deps) => {
    const made = accepted(await readStatement(deps, fieldsOf(call)), call)
    await out.result(made, () => (flags.has('csv') ? statementCsv(made).trimEnd() : describe(made)))
    if (made.balanced === true) return EXIT.done
    out.say(
      made.balanced === null
        ? whyUnknown(made)
        : 'It does not add up: see what is unexplained, and "When it does not add up" in docs/BOOKS.md.',
    )
    return made.balanced === null ? EXIT.unavailable : EXIT.negative
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
    'The provider no longer has the states of such old blocks, or was away. The embedded chain keeps some hundred, since its start. Put an archive node into RPC_URL, or ask for a later period.',
  ].join('\n')
}

function describe(made: Statement): string {
  const { period, sales, totalSalesWei, assurance, happened, commissions, gasWei, accounts, contract, balanced } = made
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
    table(
      ['rests on', 'of', 'count', 'ether'],
      assurance.map(({ of, assurance, count, wei }) => [assurance ?? 'not known', of, count, inEther(wei)]),
    ),
    commissionsOf(commissions),
    fields([
      ['minted', `${happened.nodes} nodes`],
      ['expelled', happened.paidNodesExpelled === 0 ? null : `${happened.paidNodesExpelled} nodes that were paid for`],
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
    ...accounts.map(movementsOf),
    balanced ? 'It adds up to the wei.' : '',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .trimEnd()
}

const commissionsOf = (lines: Statement['commissions']): string =>
  lines.length === 0
    ? ''
    : table(
        ['code', 'payments', 'earned', 'taken back', 'paid', 'payee'],
        lines.map(({ code, payee, count, earnedWei, takenBackWei, paidWei }) => [
          code,
          count,
          inEther(earnedWei),
          inEther(takenBackWei),
          inEther(paidWei),
          payee,
        ]),
      )

/** An account's movements, and the blocks in which ether moved that the ledger does not account for. */
function movementsOf({ name, address, movements, other, otherWei }: Statement['accounts'][number]): string {
  const lines = movements.map(({ what, count, wei }) => [what, count, inEther(wei)])
  const blocks = ({ fromBlock, toBlock }: (typeof other)[number]) =>
    fromBlock === toBlock ? `block ${fromBlock}` : `blocks ${fromBlock} to ${toBlock}`
  const unknown = other.map((found) => [`other, ${blocks(found)}`, '', inEther(found.wei)])
  const rest =
    otherWei === null ? [['other', '', 'not known']] : otherWei === 0n ? [] : [['other, in all', '', inEther(otherWei)]]
  return `${name} ${address}\n${table(['movement', 'times', 'ether'], [...lines, ...unknown, ...rest])}`
}

interface Edge {
  blockNumber: number
  blockTime: string
}
