// How the command `node-ledger rounds preview` shows what the next round would credit.
import { inEther } from '../ether.ts'
import type { View } from '../operator.ts'
import { fields, table } from '../output.ts'

/** The fields of a preview that people see. */
interface Preview {
  blockNumber: number
  blockTime: string
  round: {
    totalWei: bigint
    nodeCount: number
    turns: {
      cohort: number
      tierId: string | null
      due: string
      count: number
      nodeCount: number
      amountWei: bigint | null
      inRound: boolean
    }[]
  }
  funds: { distributor: string | null; balanceWei: bigint | null; sufficient: boolean | null }
  stops: string[]
  nextDay: { minWei: bigint; maxWei: bigint }
}

export const VIEWS: Readonly<Record<string, View>> = { 'rounds preview': { text: describe } }

/** Obstacles to a round, and what to do about each. */
const IN_ITS_WAY: Readonly<Record<string, string>> = {
  halted: 'the passes are halted: "node-ledger doctor" says why',
  disabled: 'the ledger has no credit terms: "node-ledger terms set"',
  noDistributor: 'no distributor key is set',
  chainUnreachable: 'no chain provider returns a block',
  behind: 'the ledger is behind the chain; a pass follows first',
  paused: 'you have paused rounds: "node-ledger resume"',
  contractPaused: 'the contract is paused: its owner calls unpause()',
  pending: 'a transaction of the distributor is on its way',
  notSigned: 'the distributor’s signer did not sign at its last request: "node-ledger doctor"',
  roleLost: 'another account is the contract’s distributor: "node-ledger doctor"',
  outOfBounds: 'the contract’s owner does not let the distributor pay that much, or that little: setBounds()',
  delayed: 'turns that are not owed wait for a window by the contract’s owner: "node-ledger terms list"',
  nothingDue: 'nothing is due',
  unpaidNodes: 'due cohorts have nodes with neither payment nor grant: "node-ledger nodes unpaid --open"',
  underfunded: 'there is too little ether: fund the distributor',
}

function describe({ blockNumber, blockTime, round, funds, stops, nextDay }: Preview): string {
  return [
    fields([
      ['as of', `block ${blockNumber}, ${blockTime}`],
      ['due now', `${round.nodeCount} nodes, ${inEther(round.totalWei)} ether`],
      ['the distributor has', funds.balanceWei === null ? 'not known' : `${inEther(funds.balanceWei)} ether`],
      ['within a day', `${inEther(nextDay.minWei)} to ${inEther(nextDay.maxWei)} ether`],
      ['in its way', stops.length === 0 ? 'nothing' : stops.map((stop) => IN_ITS_WAY[stop] ?? stop).join('; ')],
    ]),
    ...(round.turns.length === 0
      ? []
      : [
          table(
            ['cohort', 'tier', 'due', 'turns', 'nodes', 'ether for each', 'in this round'],
            round.turns.map(({ cohort, tierId, due, count, nodeCount, amountWei, inRound }) => [
              ...[cohort, tierId, due, count, nodeCount, inEther(amountWei), inRound ? 'yes' : 'no'],
            ]),
          ),
        ]),
  ].join('\n\n')
}
