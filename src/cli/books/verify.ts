// The command `node-ledger verify`: compares the ledger, or a share of its nodes, with the contract at the ledger's block, and prints the
// differences. Changes nothing on either side.
import { isOperatorRefusal } from '../../operator/act.ts'
import { type Share, verifyLedger } from '../../operator/books/verify.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { UnavailableError, UsageError } from '../errors.ts'
import { outline } from '../output.ts'

/** How many differences we list; we count all. */
const SHOWN_MAX = 50

/** Runs the command: 0 if both are equal and the balance covers the debt, 1 on drift or too little cover, 3 if we could not compare. */
export async function verify({ io, out, values, signal }: Call): Promise<ExitCode> {
  const share = readShare(values)
  return await withOperator(io, async (deps) => {
    const result = await verifyLedger(deps, { ...share, signal, say: (progress) => out.say(`  ${progress}`) })
    if (isOperatorRefusal(result)) throw new UnavailableError(result.message)
    const { drifts, cover, nodes, nodesInAll } = result
    const some = nodes === nodesInAll ? '' : ' in what was compared'
    const said = drifts.length === 0 ? `are equal${some}` : `differ in ${drifts.length} places`
    await out.result({ ...result, equal: drifts.length === 0 }, () =>
      [
        outline({ ...result, drifts: drifts.slice(0, SHOWN_MAX) }),
        `Ledger and contract ${said}.`,
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
