// Proof instead of trust: this browser recomputes the last rounds.
import type { Distribution } from '@node-ledger/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { Mark, Time } from '../../ui/facts.tsx'
import { words } from '../../words/ledger.ts'
import { fill, rich } from '../../words/message.ts'

const t = words.proof

/** Says whether `rounds` recompute, once they are loaded. Repeats with each new round. */
export function RecomputedRounds({ rounds }: { rounds: readonly Distribution[] }) {
  const { data, dataUpdatedAt } = useQuery({
    queryKey: ['recomputed', rounds.length, rounds[0]?.id],
    queryFn: async () => (await import('../../recompute-all.ts')).recomputeAll(rounds),
    enabled: rounds.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!data) return <p className="proof note">{rounds.length > 0 ? t.recomputing : null}</p>
  const { right, wrong, unknown, unread, tookMs } = data
  const [first] = wrong
  return (
    <p className="proof" role="status">
      {first === undefined ? (
        <Mark tone={right === rounds.length ? 'good' : 'calm'}>
          {right === rounds.length
            ? fill(t.all, { n: right })
            : fill(t.some, { right, rounds: fill(words.overview.rounds, { n: rounds.length }) })}
        </Mark>
      ) : (
        <Mark tone="bad">{fill(t.differ, { n: wrong.length, all: rounds.length })}</Mark>
      )}{' '}
      <span className="note">
        {rich(t.took, {
          ms: Math.max(1, Math.round(tookMs)),
          time: <Time at={new Date(dataUpdatedAt)} />,
          what:
            first === undefined
              ? t.follows
              : rich(t.see, { id: String(first), round: (text) => <Link href={`/round/${first}`}>{text}</Link> }),
        })}
        {unknown > 0 && ` ${fill(t.unknown, { n: unknown })}`}
        {unread > 0 && ` ${fill(t.unread, { n: unread })}`}
      </span>
    </p>
  )
}
