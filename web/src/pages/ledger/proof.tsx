// Proof instead of trust: this browser recomputes the last rounds while the visitor watches.
import type { Distribution, Tier } from '@node-ledger/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { nextTurnOf, paidByTier } from '../../cadence.ts'
import { etherAsNumber, shortEther } from '../../format.ts'
import { nameOf } from '../../ledger.ts'
import type { Recomputed } from '../../recompute-all.ts'
import { Course } from '../../ui/bars.tsx'
import { Countdown } from '../../ui/facts.tsx'
import { part } from '../../ui/part.ts'
import { words } from '../../words/ledger.ts'
import { fill, rich } from '../../words/message.ts'

const t = words.proof
/** How many bars a phone can show so that they can still be told apart. */
const BARS_MAX = 60

/** Recomputes `rounds`, and again with each new round, or one that a reorg has replaced. */
const useRecomputed = (rounds: readonly Distribution[]) =>
  useQuery({
    queryKey: ['recomputed', rounds.map(nameOf)],
    queryFn: async () => (await part(() => import('../../recompute-all.ts'))).recomputeAll(rounds),
    enabled: rounds.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  })

interface PaidCourseProps {
  /** Newest first. */
  rounds: readonly Distribution[]
  /** The tier whose payouts are shown; all nodes' average if none was paid. */
  tier: Tier | undefined
}

/** What `rounds` paid a node, as bars, and the time of the next. */
export function PaidCourse({ rounds, tier }: PaidCourseProps) {
  const { data } = useRecomputed(rounds)
  const next = nextTurnOf(rounds, Date.now())
  const paidTier = tier ? paidByTier(rounds, tier.id, BARS_MAX) : []
  const paid = paidTier.length > 0 ? paidTier : averageOf(rounds.slice(0, BARS_MAX).reverse())
  const verdictOf = new Map(rounds.map((round) => [round.id, data?.verdicts.get(nameOf(round))]))
  return (
    <Course
      bars={paid.map(({ round, wei }) => ({
        key: round,
        value: etherAsNumber(wei),
        title: fill(t.bar, { id: String(round), amount: shortEther(wei) }),
        tone: toneOf(verdictOf.get(round)),
      }))}
      shown={fill(t.shown, { n: paid.length })}
      next={next && rich(t.next, { time: <Countdown to={next} isTurn /> })}
    />
  )
}

/** What this browser found when it recomputed `rounds`. */
export function Proof({ rounds }: { rounds: readonly Distribution[] }) {
  const { data, isError } = useRecomputed(rounds)
  return (
    <section className="proof ticks" aria-label={t.title}>
      {data ? (
        <Count rounds={rounds} result={data} />
      ) : (
        <p role="status">{rounds.length > 0 && (isError ? t.failed : t.recomputing)}</p>
      )}
    </section>
  )
}

/** What rounds paid a node on average. */
const averageOf = (rounds: readonly Distribution[]) =>
  rounds.map(({ id, totalWei, nodeCount }) => ({ round: id, wei: totalWei / BigInt(Math.max(1, nodeCount)) }))

const toneOf = (verdict: boolean | null | 'unread' | undefined) =>
  verdict === true ? 'good' : verdict === false ? 'bad' : 'calm'

function Count({ rounds, result }: { rounds: readonly Distribution[]; result: Recomputed }) {
  const { verdicts, tookMs } = result
  const of = (verdict: boolean | null | 'unread') => rounds.filter((round) => verdicts.get(nameOf(round)) === verdict)
  const [right, wrong, unknown, unread] = [of(true), of(false), of(null), of('unread')]
  const payouts = (some: readonly Distribution[]) => some.reduce((sum, { nodeCount }) => sum + nodeCount, 0)
  const [first] = wrong
  return (
    <p role="status" className={first ? 'fails' : 'passes'}>
      <strong>{fill(first ? t.said : t.allRight, { n: payouts([...right, ...wrong]), wrong: payouts(wrong) })}</strong>{' '}
      {first ? <Differs round={first.id} /> : fill(t.follows, { n: right.length, ms: Math.max(1, Math.round(tookMs)) })}
      {unknown.length > 0 && ` ${fill(t.unknown, { n: unknown.length })}`}
      {unread.length > 0 && ` ${fill(t.unread, { n: unread.length })}`}
    </p>
  )
}

function Differs({ round }: { round: number }) {
  const link = (text: ReactNode) => <Link href={`/round/${round}`}>{text}</Link>
  return rich(t.differs, { id: String(round), round: link })
}
