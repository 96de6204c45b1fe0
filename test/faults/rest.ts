// What an era of the soak waits for at rest: the ledger's open work, read without the service. Progress is counted in blocks that the ledger has
// followed, so a slow machine does not make a long chain.
import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from '../support/world.ts'

/** The instances follow the chain this closely before we mine the next block. */
const BEHIND_MAX = 6
/** If they do not, for example because they wait for a block, we mine one anyway. */
const LOOKS_MAX = 20
const LOOK_MS = 100

export interface Open {
  /** The block up to which the ledger has followed. */
  number: number
  hash: string
  /** Rows that wait for something; null if there are none. */
  payments: object[] | null
  outbox: object[] | null
  cohorts: object[] | null
}

/** The open work; null before the first block was followed. */
export async function readOpen(world: World): Promise<Open | null> {
  const [row] = await world.pool<Open[]>`SELECT block_number AS number, block_hash AS hash,
    (SELECT json_agg(p) FROM payments p WHERE state IN ('seen', 'accepted', 'minting')) AS payments,
    (SELECT json_agg(o) FROM (SELECT o.*, a.tx_hash AS attempt FROM outbox o LEFT JOIN outbox_attempts a ON a.outbox_id = o.id
      WHERE o.state = 'pending') o) AS outbox,
    (SELECT json_agg(c) FROM cohorts c WHERE c.size > 0 AND c.next_due <= block_time) AS cohorts FROM cursors`
  return row ?? null
}

/** The open work, the passes' last messages, and what the instances wrote. */
export async function whatHinders({ pool }: World, seen: object, outputs: readonly string[]): Promise<string> {
  const [row] = await pool`SELECT json_agg(p) AS passes, (SELECT audited_block FROM wallet_books) AS checked,
    (SELECT json_agg(h) FROM (SELECT id, tx_hash, inner_index, value_wei, block_number, reason, (SELECT json_agg(v) FROM payment_verdicts v
      WHERE v.payment_id = p.id) AS verdicts FROM payments p WHERE state = 'held' AND reason IN ('contractWallet', 'unattributed')) h) AS held
    FROM passes p`
  return `${JSON.stringify({ ...seen, ...row })}\n${outputs.join('\n')}`
}

/** Mines a block once the ledger has followed the blocks before it. */
export async function mineFollowed(world: World): Promise<void> {
  for (let look = 0; look < LOOKS_MAX; look++) {
    const [open, head] = [await patiently(() => readOpen(world)), await world.chain.block()]
    if (open && open.number >= Number(head.number) - BEHIND_MAX) break
    await sleep(LOOK_MS)
  }
  await world.chain.mine()
}

/** Retries on a database that is just restarting, until it answers. */
export async function patiently<T>(ask: () => PromiseLike<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      if (attempt === 100) throw error
      await sleep(100)
    }
  }
}
