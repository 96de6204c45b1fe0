// The routes' queries, prepared, as Drizzle's documentation recommends for speed
// (https://orm.drizzle.team/docs/perf-queries).
import { and, asc, desc, eq, gt, or, sql } from 'drizzle-orm'
import { db } from './client'
import { cohorts, nodes, payments, rounds, totals, turns, withdrawals } from './schema'

const id = sql.placeholder('id')

function selectNodes() {
  return db
    .select({ node: nodes, cohort: cohorts, payment: payments })
    .from(nodes)
    .innerJoin(cohorts, eq(cohorts.cohort, nodes.cohort))
    .leftJoin(payments, eq(payments.id, nodes.paymentId))
}

/** Finds a node by its id on the chain, else by its row's id. */
export const nodeByEitherId = selectNodes()
  .where(or(eq(nodes.nodeId, id), eq(nodes.id, id)))
  .orderBy(desc(eq(nodes.nodeId, id)))
  .limit(1)
  .prepare('node_by_either_id')

export const nodesOfOwner = selectNodes()
  .where(eq(nodes.owner, sql.placeholder('owner')))
  .orderBy(asc(nodes.nodeId))
  .prepare('nodes_of_owner')

/** Newest first. */
export const creditsOfNode = db
  .select({ round: turns.round, amountWei: turns.amountWei, createdAt: rounds.createdAt })
  .from(turns)
  .innerJoin(rounds, eq(rounds.round, turns.round))
  .where(and(eq(turns.cohort, sql.placeholder('cohort')), gt(turns.turnNo, sql.placeholder('turnsAtMint'))))
  .orderBy(desc(turns.turnNo))
  .limit(sql.placeholder('limit'))
  .prepare('credits_of_node')

/** Newest first. */
export const withdrawalsOfNode = db
  .select()
  .from(withdrawals)
  .where(eq(withdrawals.nodeId, sql.placeholder('nodeId')))
  .orderBy(desc(withdrawals.id))
  .limit(sql.placeholder('limit'))
  .prepare('withdrawals_of_node')

export const allTotals = db.select().from(totals).prepare('all_totals')

export const newestRound = db
  .select({ createdAt: rounds.createdAt })
  .from(rounds)
  .orderBy(desc(rounds.createdAt), desc(rounds.round))
  .limit(1)
  .prepare('newest_round')

export type NodeRow = Awaited<ReturnType<typeof nodesOfOwner.execute>>[number]
