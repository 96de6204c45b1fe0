// The commands `node-ledger rounds …`: what was credited, and what the next round would credit.
import { readDistributions } from '../db/reads.ts'
import { type Call, EXIT, type ExitCode } from './command.ts'
import { UsageError } from './errors.ts'
import { inEther } from './ether.ts'
import { withLedger } from './ledger.ts'
import { table } from './output.ts'

const LIMIT_MAX = 100

interface Round {
  id: number
  mode: string
  totalWei: string
  nodeCount: number
  createdAt: string
  txHash: string
  turns: unknown[]
}

/** `rounds list`. */
export async function list({ io, out, values }: Call): Promise<ExitCode> {
  const limit = Number(values.limit ?? 20)
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX))
    throw new UsageError(`--limit: a whole number from 1 to ${LIMIT_MAX} is wanted`)
  return await withLedger(io, async ({ pool }) => {
    const rounds = JSON.parse(await readDistributions(pool, limit)) as Round[]
    await out.result({ rounds }, () =>
      rounds.length === 0
        ? 'None yet.'
        : table(
            ['round', 'block time', 'nodes', 'cohorts', 'ether', 'mode', 'transaction'],
            rounds.map((round) => [
              round.id,
              round.createdAt,
              round.nodeCount,
              round.turns.length,
              inEther(round.totalWei),
              round.mode,
              round.txHash,
            ]),
          ),
    )
    return EXIT.done
  })
}
