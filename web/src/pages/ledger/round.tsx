// One round: what each node received, which this browser recomputes immediately, and the seed of each amount.
import type { Distribution, Turn } from '@node-ledger/client'
import type { VerifiedRound } from '@node-ledger/client/viem'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode } from 'react'
import { Link, useParams } from 'wouter'
import { times } from '../../format.ts'
import { nameOf, ROUNDS_MAX, useDeployment, useRounds, useTiers } from '../../ledger.ts'
import { Block } from '../../ui/explorer.tsx'
import { Amount, Digest, ExactTime, Hash, Mark, Time, Unknown } from '../../ui/facts.tsx'
import { Facts, Page, Section } from '../../ui/page.tsx'
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
        {(all) =>
          round ? (
            <>
              <RoundFacts round={round} />
              <Neighbours of={round} newest={all[0]?.id ?? round.id} />
            </>
          ) : (
            <NotListed newest={all[0]?.id ?? null} />
          )
        }
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

/** The rounds before and after, and all of them. */
function Neighbours({ of: { id }, newest }: { of: Distribution; newest: number }) {
  return (
    <p className="bar">
      {id > 1 && <Link href={`/round/${id - 1}`}>{fill(t.before, { id: String(id - 1) })}</Link>}
      <Link href="/rounds">{words.overview.allRounds}</Link>
      {id < newest && <Link href={`/round/${id + 1}`}>{fill(t.after, { id: String(id + 1) })}</Link>}
    </p>
  )
}

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
  const factsOf = round.turns.map(factsOfTurn)
  const [common = []] = factsOf
  // What is equal for all turns is shown once, below them.
  const shared = round.turns.length > 1 ? common.filter((fact) => factsOf.every((those) => isIn(those, fact))) : []
  return (
    <>
      <Section title={t.everyone}>
        <Outcome check={check} />
        <ul className="turns">
          {round.turns.map((turn, index) => (
            <TurnCard
              key={`${turn.cohort} ${turn.dueSec}`}
              turn={turn}
              facts={(factsOf[index] ?? []).filter((fact) => !isIn(shared, fact))}
              // If all are right, the sentence above shows that.
              result={check.data?.matches ? null : (check.data?.turns[index] ?? null)}
            />
          ))}
        </ul>
        <details className="checked">
          <summary>{t.howToCheck}</summary>
          <pre>{[t.formula, ...round.turns.map(inputsOf)].join('\n')}</pre>
          <p className="note">{t.ofSeed}</p>
        </details>
      </Section>
      <Section title={t.facts}>
        <Facts
          className="facts wide"
          of={{
            [words.rounds.when]: (
              <>
                <Block of={round.blockNumber} />
                {round.createdAt && (
                  <>
                    , <ExactTime at={round.createdAt} />
                  </>
                )}
              </>
            ),
            [words.rounds.transaction]: <Hash of={round.txHash} />,
            [words.rounds.fundedBy]: words.rounds[round.mode === 'swaps' ? 'surplus' : 'treasury'],
            ...shownOf(shared),
          }}
        />
      </Section>
    </>
  )
}

function Outcome({ check }: { check: UseQueryResult<VerifiedRound> }) {
  if (check.isError)
    return <Failed error={new Error(t.notRecomputed, { cause: check.error })} retry={() => void check.refetch()} />
  if (check.data) return <Verdict result={check.data} />
  return (
    <p className="notice" role="status">
      {t.recomputing}
    </p>
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

interface TurnCardProps {
  turn: Turn
  facts: readonly Fact[]
  result: VerifiedRound['turns'][number] | null
}

function TurnCard({ turn, facts, result }: TurnCardProps) {
  const tiers = useTiers()
  const label = tiers.data?.find(({ id }) => id === turn.tierId)?.label ?? turn.tierId
  const to = fill(t.toEach, { n: turn.nodeCount })
  return (
    <li>
      <h3>
        {label ?? t.noTier} {result && <Checked result={result} />}
      </h3>
      <p className="price">
        <Amount wei={turn.amountWei} />
      </p>
      <p className="note">{turn.payoutBps === null ? to : fill(t.atRate, { to, rate: times(turn.payoutBps) })}</p>
      <Facts of={shownOf(facts)} />
    </li>
  )
}

/** A fact of a turn. Facts with the same name and key are equal. */
type Fact = readonly [name: string, key: string, value: ReactNode]

const isIn = (facts: readonly Fact[], [name, key]: Fact) => facts.some((fact) => fact[0] === name && fact[1] === key)
const shownOf = (facts: readonly Fact[]) => Object.fromEntries(facts.map(([name, , value]) => [name, value]))

function factsOfTurn(turn: Turn): Fact[] {
  const { due, dueSec, count, assurance } = turn
  return [
    [count === 1 ? t.wasDue : t.dueFrom, String(dueSec), <ExactTime key="due" at={due} />],
    ...(count === 1 ? termsOf(turn) : [[t.turns, String(count), fill(t.ownTerms, { turns: count })] satisfies Fact]),
    ...(assurance ? [[t.restsOn, assurance, t.assurance[assurance]] satisfies Fact] : []),
  ]
}

/** What the formula takes of a turn. */
const inputsOf = ({ tierId, cohort, dueSec }: Turn) =>
  fill(t.inputs, { tier: tierId ?? t.noTier, group: String(cohort), due: String(dueSec) })

/** The inputs of a single turn's computation. */
function termsOf({ minWei, maxWei, seed, seedBlock }: Turn): Fact[] {
  const unknown = <Unknown why={t.noTerms} />
  return [
    [
      t.range,
      `${minWei} ${maxWei}`,
      minWei === null || maxWei === null
        ? unknown
        : rich(t.fromTo, { min: <Amount wei={minWei} plain />, max: <Amount wei={maxWei} plain /> }),
    ],
    [
      t.seed,
      String(seed),
      <Fragment key="seed">
        <Digest of={seed} what="seed" />
        {seedBlock !== null && <span className="note"> {rich(t.ofBlock, { block: <Block of={seedBlock} /> })}</span>}
      </Fragment>,
    ],
  ]
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
