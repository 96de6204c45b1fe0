// The commands `node-ledger transactions …`: what our signer accounts sent, what became of it, what it cost, and what keeps them from sending.
import type { components } from '../../../api/admin.ts'
import { listStuck, listTransactions, takeOverNonce } from '../../operator/transactions.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { inEther } from '../ether.ts'
import { accepted, fieldsOf, showPage } from '../operator.ts'
import { table, tableOf } from '../output.ts'

const SENDER_COLUMNS = ['sender', 'said', 'known', 'sinceBlock', 'takeOver']
const SENDER_HEADS = ['sender', 'nonce by the providers', 'by followed blocks', 'since block', 'to be taken over']
const STUCK_COLUMNS = [
  'sender',
  'nonce',
  'kind',
  'pendingBlocks',
  'attempts',
  'why',
  'lastOutcome',
  'maxFeeWei',
  'baseFeeWei',
]
const STUCK_HEADS = [
  'sender',
  'nonce',
  'kind',
  'blocks',
  'attempts',
  'why',
  'providers said',
  'offers per gas',
  'base fee',
]

/** `transactions list`. */
export async function list(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (deps) => {
    const page = accepted(await listTransactions(deps, fieldsOf(call)), call)
    await showPage(call, page, (rows) =>
      table(
        ['signed at', 'sender', 'nonce', 'kind', 'status', 'block', 'gas', 'fee', 'transaction'],
        (rows as components['schemas']['Transaction'][]).map(
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

/** `transactions stuck`. */
export async function stuck(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (deps) => {
    const found = await listStuck(deps)
    const { senders, transactions } = found
    const parts = [
      ...(senders.length > 0 ? [tableOf(senders, SENDER_COLUMNS, SENDER_HEADS)] : []),
      ...(transactions.length > 0 ? [tableOf(transactions, STUCK_COLUMNS, STUCK_HEADS)] : []),
    ]
    await call.out.result(found, parts.length > 0 ? parts.join('\n\n') : 'None.')
    return EXIT.done
  })
}

/** `transactions free`. */
export async function free(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (deps) => {
    const done = accepted(await takeOverNonce(deps, actorHere(), fieldsOf(call)), call)
    await call.out.result(
      done,
      'The next run takes over what the providers say, if they still agree, and replaces transactions that cannot be mined.',
    )
    return EXIT.done
  })
}
