// Proof instead of trust: this browser recomputes the last rounds while the visitor watches.
import type { Distribution } from '@node-ledger/client'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { cadenceOf } from '../../cadence.ts'
import { etherAsNumber, figure, shortEther } from '../../format.ts'
import { nameOf } from '../../ledger.ts'
import type { Recomputed } from '../../recompute-all.ts'
import { Bars } from '../../ui/bars.tsx'
import { Countdown } from '../../ui/facts.tsx'
import { part } from '../../ui/part.ts'
import { words } from '../../words/ledger.ts'
import { fill, rich } from '../../words/message.ts'

const t = words.proof
/** How many bars a phone can show so that they can still be told apart. */
const BARS_MAX = 60
const BARS_LEAST = 16
/** For how long the count runs up while the bars take colour, so that a visitor sees that something is being checked. */
const RUN_MS = 1_200

/** Recomputes `rounds`, newest first, and again with each new round, or one that a reorg has replaced. */
export function Proof({ rounds }: { rounds: readonly Distribution[] }) {
  const { data, isError } = useQuery({
    queryKey: ['recomputed', rounds.map(nameOf)],
    queryFn: async () => (await part(() => import('../../recompute-all.ts'))).recomputeAll(rounds),
    enabled: rounds.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  })
  const share = useRun(data !== undefined)
  const next = cadenceOf(rounds, Date.now())?.nextAt ?? null
  const shown = rounds.slice(0, BARS_MAX).reverse()
  return (
    <section className="proof" aria-label={t.title}>
      <p className="eyebrow">{t.title}</p>
      {data ? <Count rounds={rounds} recomputed={data} share={share} /> : <p>{isError ? t.failed : t.recomputing}</p>}
      <Bars
        least={BARS_LEAST}
        bars={shown.map((round, index) => ({
          key: round.id,
          value: round.nodeCount > 0 ? etherAsNumber(round.totalWei) / round.nodeCount : 0,
          title: fill(t.bar, { id: String(round.id), amount: shortEther(round.totalWei), n: round.nodeCount }),
          tone: index < shown.length * share ? toneOf(data?.verdicts.get(nameOf(round))) : 'calm',
        }))}
      />
      <p className="bar">
        <Link href="/rounds">{t.all}</Link>
        {next && <span>{rich(t.next, { time: <Countdown to={next} isTurn /> })}</span>}
      </p>
    </section>
  )
}

const toneOf = (verdict: boolean | null | 'unread' | undefined) =>
  verdict === true ? 'good' : verdict === false ? 'bad' : 'calm'

function Count({
  rounds,
  recomputed,
  share,
}: {
  rounds: readonly Distribution[]
  recomputed: Recomputed
  share: number
}) {
  const { verdicts, tookMs } = recomputed
  const of = (wanted: boolean | null | 'unread') => rounds.filter((round) => verdicts.get(nameOf(round)) === wanted)
  const [right, wrong, unknown, unread] = [of(true), of(false), of(null), of('unread')]
  const payouts = (some: readonly Distribution[]) => some.reduce((sum, { nodeCount }) => sum + nodeCount, 0)
  const checked = payouts([...right, ...wrong])
  const [first] = wrong
  return (
    <>
      <p className="count" aria-hidden="true">
        <strong>{figure(Math.round(checked * share))}</strong> {fill(t.payouts, { n: checked })}
        <span className={first ? 'wrong' : undefined}>
          <strong>{figure(payouts(wrong))}</strong> {t.wrong}
        </span>
      </p>
      <p role="status">
        <span className="visually-hidden">{fill(t.said, { n: checked, wrong: payouts(wrong) })} </span>
        {first ? (
          <Differs round={first.id} />
        ) : (
          fill(t.follows, { n: right.length, ms: Math.max(1, Math.round(tookMs)) })
        )}
        {unknown.length > 0 && ` ${fill(t.unknown, { n: unknown.length })}`}
        {unread.length > 0 && ` ${fill(t.unread, { n: unread.length })}`}
      </p>
    </>
  )
}

function Differs({ round }: { round: number }) {
  const link = (text: ReactNode) => <Link href={`/round/${round}`}>{text}</Link>
  return rich(t.differs, { id: String(round), round: link })
}

/** Runs from 0 to 1 once it `isOn`; jumps to 1 if the visitor prefers reduced motion. */
function useRun(isOn: boolean): number {
  const [share, setShare] = useState(0)
  useEffect(() => {
    if (!isOn) return
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return setShare(1)
    const start = performance.now()
    let frame = requestAnimationFrame(function step(now) {
      setShare(Math.min(1, (now - start) / RUN_MS))
      if (now - start < RUN_MS) frame = requestAnimationFrame(step)
    })
    return () => cancelAnimationFrame(frame)
  }, [isOn])
  return share
}
