// Proof in place of trust: the last rounds recomputed in this browser, and a node read by the visitor's own provider.
import type { Distribution } from '@node-ledger/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { count } from '../../format.ts'
import { Block } from '../../ui/explorer.tsx'
import { Mark, Time } from '../../ui/facts.tsx'
import { Failed } from '../../ui/states.tsx'

/** Says what came of recomputing `rounds`, once they are there. It is done again with each new round. */
export function RecomputedRounds({ rounds }: { rounds: readonly Distribution[] }) {
  const { data, dataUpdatedAt } = useQuery({
    queryKey: ['recomputed', rounds.length, rounds[0]?.id],
    queryFn: async () => (await import('../../recompute-all.ts')).recomputeAll(rounds),
    enabled: rounds.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!data) return <p className="proof note">{rounds.length > 0 ? 'Recomputing the last rounds…' : null}</p>
  const { right, wrong, unknown, tookMs } = data
  const [first] = wrong
  return (
    <p className="proof" role="status">
      {first === undefined ? (
        <Mark tone={unknown === 0 ? 'good' : 'calm'}>
          {unknown === 0
            ? `the last ${count(right, 'round')}`
            : `${right} of the last ${count(rounds.length, 'round')}`}{' '}
          recomputed in your browser
        </Mark>
      ) : (
        <Mark tone="bad">
          {count(wrong.length, 'round')} of the last {rounds.length} recomputed in your browser{' '}
          {wrong.length === 1 ? 'differs' : 'differ'}
        </Mark>
      )}{' '}
      <span className="note">
        in {Math.max(1, Math.round(tookMs))} ms, <Time at={new Date(dataUpdatedAt)} />:{' '}
        {first === undefined ? (
          'every amount follows from its published seed and terms.'
        ) : (
          <>
            see <Link href={`/round/${first}`}>round {first}</Link>.
          </>
        )}
        {unknown > 0 && ` ${count(unknown, 'round')} could not be told from the list alone: look at each.`}
      </span>
    </p>
  )
}

/** A button that has the visitor's own wallet, or else the public RPC, read a node, and says whether it agrees. */
export function OwnProvider({ nodeId }: { nodeId: string }) {
  const check = useMutation({
    mutationFn: async () => {
      const { by, checked } = await (await import('../../recompute.ts')).checkNode(nodeId)
      return { by, ...checked }
    },
  })
  return (
    <div className="stack">
      <button type="button" className="button" disabled={check.isPending} onClick={() => check.mutate()}>
        {check.isPending ? 'Reading…' : 'Check with your own provider'}
      </button>
      {check.isError && <Failed error={check.error} />}
      {check.data && (
        <p className={check.data.matches ? 'notice good' : 'notice bad'} role="status">
          <span>
            {check.data.by}{' '}
            {check.data.matches ? 'says the same' : `says otherwise of: ${check.data.differences.join(', ')}`}, at{' '}
            <Block of={check.data.blockNumber} />.
          </span>
        </p>
      )}
    </div>
  )
}
