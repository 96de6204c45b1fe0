// One round: what each node received, which this browser recomputes at once, and the seed of each amount.
import type { Distribution, Turn } from '@node-ledger/client'
import type { VerifiedRound } from '@node-ledger/client/viem'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, useParams } from 'wouter'
import { figure, times } from '../../format.ts'
import { nameOf, ROUNDS_MAX, useDeployment, useRounds, useTiers } from '../../ledger.ts'
import { Block } from '../../ui/explorer.tsx'
import { Amount, Digest, ExactTime, Hash, Mark, Time, Unknown } from '../../ui/facts.tsx'
import { Facts, Figure, Page, Section } from '../../ui/page.tsx'
import { part } from '../../ui/part.ts'
import { Empty, Failed, Shown } from '../../ui/states.tsx'
import { words } from '../../words/ledger.ts'
import { fill, rich } from '../../words/message.ts'

const t = words.round

export function Round() {
  const { id } = useParams<{ id: string }>()
  const rounds = useRounds()
  const round = rounds.data?.find((candidate) => String(candidate.id) === id)
  return (
    <Page title={fill(t.title, { id })} lead={round && <Lead round={round} />}>
      <Shown reading={rounds} shape="tiles">
        {(all) => (round ? <RoundFacts round={round} /> : <NotListed newest={all[0]?.id ?? null} />)}
      </Shown>
    </Page>
  )
}

/** The round, summed up in one line. */
const Lead = ({ round: { totalWei, nodeCount, createdAt } }: { round: Distribution }) =>
  rich(t.lead, {
    amount: <Amount wei={totalWei} plain />,
    nodes: fill(words.nodes, { n: nodeCount }),
    time: <Time at={createdAt} />,
  })

function NotListed({ newest }: { newest: number | null }) {
  return (
    <Empty title={t.notListed}>
      {newest === null ? t.noneYet : fill(t.newest, { max: ROUNDS_MAX, id: String(newest) })}{' '}
      <Link href="/rounds">{words.overview.allRounds}</Link>
    </Empty>
  )
}

function RoundFacts({ round }: { round: Distribution }) {
  const { data: deployment } = useDeployment()
  const check = useQuery({
    queryKey: ['recomputed', nameOf(round), deployment?.rpcUrl],
    queryFn: async () => (await part(() => import('../../recompute.ts'))).recompute(round, deployment ?? null),
    enabled: deployment !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <>
      <Section title={t.everyone}>
        {check.isError ? (
          <Failed error={new Error(t.notRecomputed, { cause: check.error })} retry={() => void check.refetch()} />
        ) : check.data ? (
          <Verdict result={check.data} />
        ) : (
          <p className="notice" role="status">
            {t.recomputing}
          </p>
        )}
        <ul className="turns">
          {round.turns.map((turn, index) => (
            <TurnCard key={`${turn.cohort} ${turn.dueSec}`} turn={turn} result={check.data?.turns[index] ?? null} />
          ))}
        </ul>
        <p className="note">{t.formula}</p>
      </Section>
      <dl className="tiles">
        <Figure name={words.rounds.credited}>
          <Amount wei={round.totalWei} />
        </Figure>
        <Figure name={words.rounds.nodes} note={fill(t.groups, { n: round.turns.length })}>
          {figure(round.nodeCount)}
        </Figure>
        <Figure
          name={words.rounds.when}
          note={
            <>
              <Block of={round.blockNumber} />
              {round.createdAt && (
                <>
                  , <ExactTime at={round.createdAt} />
                </>
              )}
            </>
          }
        >
          <Time at={round.createdAt} />
        </Figure>
        <Figure name={words.rounds.transaction} note={round.mode === 'swaps' ? t.fromSurplus : t.fromOperator}>
          <Hash of={round.txHash} />
        </Figure>
      </dl>
    </>
  )
}

function Verdict({ result }: { result: VerifiedRound }) {
  const isChainRead = result.turns.some(({ seedMatches }) => seedMatches !== null)
  if (!result.matches) {
    const unknown =
      result.turns.length > 0 &&
      result.totalMatches &&
      result.differences.length === 0 &&
      result.allListed !== false &&
      result.turns.every(
        ({ amountMatches, seedMatches, creditedMatches, intervalMatches }) =>
          ![amountMatches, seedMatches, creditedMatches, intervalMatches].includes(false),
      )
    return (
      <p className={unknown ? 'notice warn' : 'notice bad'} role="status">
        {unknown ? t.notAll : t.notTheSame}
      </p>
    )
  }
  return (
    <p className="notice good" role="status">
      {isChainRead ? t.rightOnChain : t.right}
    </p>
  )
}

function TurnCard({ turn, result }: { turn: Turn; result: VerifiedRound['turns'][number] | null }) {
  const tiers = useTiers()
  const label = tiers.data?.find(({ id }) => id === turn.tierId)?.label ?? turn.tierId
  return (
    <li className="card turn">
      <header>
        <h3>
          {label ?? t.noTier} <span className="note">{fill(t.group, { number: String(turn.cohort) })}</span>
        </h3>
        {result && <Checked result={result} />}
      </header>
      <p className="price">
        <Amount wei={turn.amountWei} />
      </p>
      <p className="note">{fill(t.toEach, { n: turn.nodeCount })}</p>
      <Facts
        of={{
          [turn.count === 1 ? t.due : t.dueFrom]: <Time at={turn.due} />,
          ...(turn.count === 1 ? termsOf(turn) : { [t.turns]: fill(t.ownTerms, { turns: turn.count }) }),
          ...(turn.assurance && { [t.restsOn]: t.assurance[turn.assurance] }),
        }}
      />
    </li>
  )
}

/** The inputs of a single turn's computation. */
function termsOf({ minWei, maxWei, payoutBps, seed, seedBlock }: Turn): Record<string, ReactNode> {
  const unknown = <Unknown why={t.noTerms} />
  return {
    [t.range]:
      minWei === null || maxWei === null
        ? unknown
        : rich(t.fromTo, { min: <Amount wei={minWei} plain />, max: <Amount wei={maxWei} plain /> }),
    [t.rate]: payoutBps === null ? unknown : times(payoutBps),
    [t.seed]: (
      <>
        <Digest of={seed} what="seed" />
        {seedBlock !== null && <span className="note"> {rich(t.ofBlock, { block: <Block of={seedBlock} /> })}</span>}
      </>
    ),
  }
}

function Checked({ result }: { result: VerifiedRound['turns'][number] }) {
  const all = [result.amountMatches, result.seedMatches, result.creditedMatches, result.intervalMatches]
  if (all.includes(false)) return <Mark tone="bad">{t.differs}</Mark>
  if (result.amountMatches === null) return <Mark tone="warn">{t.nothingToRecompute}</Mark>
  const isChainRead = result.creditedMatches !== null
  if (isChainRead && result.seedMatches === null) return <Mark tone="warn">{t.noSeed}</Mark>
  if (isChainRead && result.intervalMatches === null) return <Mark tone="warn">{t.noInterval}</Mark>
  return <Mark tone="good">{t.recomputed}</Mark>
}
