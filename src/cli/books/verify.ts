// The command `node-ledger verify`: compares the ledger, or a share of its nodes, with the contract at the ledger's block, and prints the
// differences. Changes nothing on either side.
import type { Drift } from '../../domain/drift.ts'
import { isOperatorRefusal } from '../../operator/act.ts'
import { type Share, verifyLedger } from '../../operator/books/verify.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { UnavailableError, UsageError } from '../errors.ts'
import { inEther } from '../ether.ts'
import { fields } from '../output.ts'

/** How many differences we list; we count all. */
const SHOWN_MAX = 50

/** Runs the command: 0 if both are equal and the balance covers the debt, 1 on drift or too little cover, 3 if we could not compare. */
export async function verify({ io, out, values, signal }: Call): Promise<ExitCode> {
  const share = readShare(values)
  return await withOperator(io, async (deps) => {
    const result = await verifyLedger(deps, { ...share, signal, say: (progress) => out.say(`  ${progress}`) })
    if (isOperatorRefusal(result)) throw new UnavailableError(result.message)
    const { drifts, cover, blockNumber, nodes, nodesInAll, cohorts } = result
    await out.result({ ...result, equal: drifts.length === 0 }, () =>
      [
        fields([
          ['block', blockNumber],
          ['nodes compared', nodes === nodesInAll ? nodes : `${nodes} of ${nodesInAll}`],
          ['cohorts compared', cohorts],
          ['owed to owners', `${inEther(cover.outstandingWei)} ether`],
          [
            'the contract has',
            `${inEther(cover.contractBalanceWei)} ether${cover.coverBps === null ? '' : `, ${cover.coverBps / 100} %`}`,
          ],
        ]),
        ...drifts.slice(0, SHOWN_MAX).map(describe),
        ...(drifts.length > SHOWN_MAX ? [`… and ${drifts.length - SHOWN_MAX} more`] : []),
        drifts.length === 0
          ? `Ledger and contract are equal${nodes === nodesInAll ? '' : ' in what was compared'}.`
          : `Ledger and contract differ in ${drifts.length} places.`,
        ...(cover.isSolvent ? [] : ['The contract holds less than it owes.']),
      ].join('\n'),
    )
    return drifts.length === 0 && cover.isSolvent ? EXIT.done : EXIT.negative
  })
}

const NUMBER = /^[1-9][0-9]{0,14}$/

/** Throws a UsageError. */
function readShare(values: Call['values']): Share {
  const read = (name: string) => {
    const text = values[name]
    if (text === undefined) return undefined
    if (!NUMBER.test(text)) throw new UsageError(`--${name}: must be a whole number from 1`)
    return Number(text)
  }
  const [fromNode, toNode, sample] = [read('from-node'), read('to-node'), read('sample')]
  if (fromNode !== undefined && toNode !== undefined && toNode < fromNode)
    throw new UsageError('--to-node: is below --from-node')
  return { ...(fromNode && { fromNode }), ...(toNode && { toNode }), ...(sample && { sample }) }
}

function describe(drift: Drift): string {
  switch (drift.kind) {
    case 'counter':
      return `  ${drift.name}: ${drift.ledger} in the ledger, ${drift.chain} on chain`
    case 'node':
      return `  node ${drift.nodeId}, ${drift.field}: ${drift.ledger} in the ledger, ${drift.chain} on chain`
    case 'cohort':
      return `  cohort ${drift.cohort}, ${drift.field}: ${drift.ledger} in the ledger, ${drift.chain} on chain`
    case 'notInLedger':
      return `  node ${drift.nodeId} is on chain only`
    case 'notOnChain':
      return `  node ${drift.nodeId} is in the ledger only`
  }
}
