// The command `node-ledger transactions list`: what our senders sent, what became of it, and what it cost.
import { listTransactions } from '../operator/transactions.ts'
import { type Call, EXIT, type ExitCode } from './command.ts'
import { inEther } from './ether.ts'
import { withOperator } from './ledger.ts'
import { accepted, fieldsOf, showPage } from './operator.ts'
import { table } from './output.ts'

interface Row {
  nonce: number
  kind: string
  status: string
  sender: string
  txHash: string | null
  gasUsed: number | null
  feeWei: string | null
  blockNumber: number | null
  pendingSec: number | null
  createdAt: string
}

/** Runs the command. */
export async function list(call: Call): Promise<ExitCode> {
  return await withOperator(call.io, async (deps) => {
    const page = accepted(await listTransactions(deps, fieldsOf(call)), call)
    await showPage(call, page, (rows) =>
      table(
        ['signed at', 'sender', 'nonce', 'kind', 'status', 'block', 'gas', 'fee', 'transaction'],
        (rows as Row[]).map(
          ({ createdAt, sender, nonce, kind, status, blockNumber, gasUsed, feeWei, txHash, pendingSec }) => [
            ...[createdAt, sender, nonce, kind, pendingSec === null ? status : `${status} for ${pendingSec} s`],
            ...[blockNumber, gasUsed, inEther(feeWei), txHash],
          ],
        ),
      ),
    )
    return EXIT.done
  })
}
