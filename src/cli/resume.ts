// The command `node-ledger resume`: clears a halt once the operator has looked. It never touches the chain; the passes look
// again by themselves, and halt again where nothing has changed.
import { clearHalt, type HaltReason } from '../db/halts.ts'
import { connect, inTransaction } from '../db/sql.ts'

/** What is left to do, by what had happened. */
const NEXT: Record<HaltReason, string> = {
  otherChain: 'The passes go on if RPC_URL leads to the chain of this ledger again; if not, they halt anew.',
  tooDeep:
    'Unless the provider was wrong, the passes halt anew: such a ledger cannot be taken back. Rebuild it with "node-ledger rebuild" and point DATABASE_URL at the new one.',
  pastFinalized: 'The passes now follow the chain as it is, and take back what is on it no more.',
}

/** Clears the halt of a database, in the operator's name. Resolves with the exit code: 0 also where nothing was halted. */
export async function runResume(databaseUrl: string, actor: string, say: (line: string) => void): Promise<number> {
  const pool = connect(databaseUrl, { max: 1, prepare: false, applicationName: 'node-ledger resume' })
  try {
    const halt = await inTransaction(pool, (sql) => clearHalt(sql, actor))
    if (!halt) say('The passes are not halted.')
    else say(`Cleared: ${halt.reason} since ${halt.since} (${JSON.stringify(halt.detail)}).\n${NEXT[halt.reason]}`)
    return 0
  } finally {
    await pool.end({ timeout: 5 })
  }
}
