// One round: whom it credited how much, from which seed, and a button that recomputes it here, in this browser.
import type { Distribution, Turn } from '@node-ledger/client'
import type { VerifiedRound } from '@node-ledger/client/viem'
import { useMutation } from '@tanstack/react-query'
import { Link, useParams } from 'wouter'
import { count, times } from '../../format.ts'
import { useDeployment, useRounds, useTiers } from '../../ledger.ts'
import { Block } from '../../ui/explorer.tsx'
import { Amount, Digest, ExactTime, Hash, Mark, Time, Unknown } from '../../ui/facts.tsx'
import { Figure, Page, Section } from '../../ui/page.tsx'
import { Empty, Failed, Shown } from '../../ui/states.tsx'
import { ROUNDS_MAX } from './rounds.tsx'

export function Round() {
  const { id } = useParams<{ id: string }>()
  const rounds = useRounds(ROUNDS_MAX)
  return (
    <Page title={`Round ${id}`}>
      <Shown reading={rounds} shape="tiles">
        {(all) => {
          const round = all.find((candidate) => String(candidate.id) === id)
          return round ? <RoundFacts round={round} /> : <NotListed newest={all[0]?.id ?? null} />
        }}
      </Shown>
    </Page>
  )
}

function NotListed({ newest }: { newest: number | null }) {
  return (
    <Empty title="This round is not listed.">
      {newest === null
        ? 'There has been no round yet.'
        : `The service lists the newest ${ROUNDS_MAX}; the last one is ${newest}.`}
      <Link href="/rounds">All rounds</Link>
    </Empty>
  )
}

function RoundFacts({ round }: { round: Distribution }) {
  return (
    <>
      <dl className="tiles">
        <Figure name="Credited">
          <Amount wei={round.totalWei} />
        </Figure>
        <Figure name="Nodes" note={`in ${count(round.turns.length, 'group')} with one amount each`}>
          {round.nodeCount.toLocaleString('en-US')}
        </Figure>
        <Figure
          name="When"
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
        <Figure
          name="Transaction"
          note={round.mode === 'swaps' ? 'from the contract’s surplus' : 'funded by the operator'}
        >
          <Hash of={round.txHash} />
        </Figure>
      </dl>
      <Recompute round={round} />
    </>
  )
}

function Recompute({ round }: { round: Distribution }) {
  const deployment = useDeployment()
  const check = useMutation({
    mutationFn: async () => (await import('../../recompute.ts')).recompute(round, deployment.data ?? null),
  })
  const verified = check.data ?? null
  return (
    <Section
      title="Turns"
      aside={
        <button type="button" className="button" disabled={check.isPending} onClick={() => check.mutate()}>
          {check.isPending ? 'Recomputing…' : 'Recompute in this browser'}
        </button>
      }
    >
      {check.isError && <Failed error={check.error} retry={() => check.mutate()} />}
      {verified && (
        <Verdict verified={verified} chainAsked={verified.turns.some(({ seedMatches }) => seedMatches !== null)} />
      )}
      <ul className="turns">
        {round.turns.map((turn, index) => (
          <TurnCard key={`${turn.cohort} ${turn.dueSec}`} turn={turn} checked={verified?.turns[index] ?? null} />
        ))}
      </ul>
      <p className="note">
        amount = draw × rate, rounded down, where draw = min + keccak256(abi.encode(seed, group, due in unix seconds))
        mod (max − min + 1). The seed is the randomness of the first block not before the turn was due.
      </p>
    </Section>
  )
}

function Verdict({ verified, chainAsked }: { verified: VerifiedRound; chainAsked: boolean }) {
  if (!verified.matches) {
    const unknown =
      verified.turns.length > 0 &&
      verified.totalMatches &&
      verified.differences.length === 0 &&
      verified.allListed !== false &&
      verified.turns.every(
        ({ amountMatches, seedMatches, creditedMatches }) =>
          amountMatches !== false && seedMatches !== false && creditedMatches !== false,
      )
    return (
      <p className={unknown ? 'notice warn' : 'notice bad'} role="status">
        {unknown
          ? 'Not everything could be recomputed: see the turns below.'
          : 'It does not come out the same: see the turns below.'}
      </p>
    )
  }
  return (
    <p className="notice good" role="status">
      {chainAsked
        ? 'Recomputed: every amount follows from its seed, every seed is the chain’s, and the contract credited just that.'
        : 'Recomputed: every amount follows from its published seed. The chain itself was not asked, as the operator offers no public RPC.'}
    </p>
  )
}

function TurnCard({ turn, checked }: { turn: Turn; checked: VerifiedRound['turns'][number] | null }) {
  const tiers = useTiers()
  const label = tiers.data?.find(({ id }) => id === turn.tierId)?.label ?? turn.tierId
  return (
    <li className="card turn">
      <header>
        <h3>
          {label ?? 'No tier'} <span className="note">group {turn.cohort}</span>
        </h3>
        {checked && <Checked checked={checked} />}
      </header>
      <dl className="facts">
        <dt>Each node</dt>
        <dd>
          <Amount wei={turn.amountWei} />
        </dd>
        <dt>Nodes</dt>
        <dd>{turn.nodeCount.toLocaleString('en-US')}</dd>
        <dt>{turn.count === 1 ? 'Due' : 'Due from'}</dt>
        <dd>
          <Time at={turn.due} />
        </dd>
        {turn.count === 1 ? (
          <Terms turn={turn} />
        ) : (
          <>
            <dt>Turns</dt>
            <dd>{turn.count.toLocaleString('en-US')}, each with the range, rate and seed of its own time</dd>
          </>
        )}
      </dl>
    </li>
  )
}

/** The inputs of a single turn's computation. */
function Terms({ turn }: { turn: Turn }) {
  return (
    <>
      <dt>Range</dt>
      <dd>
        {turn.minWei === null || turn.maxWei === null ? (
          <Unknown why="the ledger has no terms" />
        ) : (
          <>
            <Amount wei={turn.minWei} plain /> to <Amount wei={turn.maxWei} plain />
          </>
        )}
      </dd>
      <dt>Rate</dt>
      <dd>{turn.payoutBps === null ? <Unknown why="the ledger has no terms" /> : times(turn.payoutBps)}</dd>
      <dt>Seed</dt>
      <dd>
        <Digest of={turn.seed} what="seed" />
        {turn.seedBlock !== null && (
          <span className="note">
            {' '}
            of <Block of={turn.seedBlock} />
          </span>
        )}
      </dd>
    </>
  )
}

function Checked({ checked }: { checked: VerifiedRound['turns'][number] }) {
  const all = [checked.amountMatches, checked.seedMatches, checked.creditedMatches]
  if (all.includes(false)) return <Mark tone="bad">differs</Mark>
  if (checked.amountMatches === null) return <Mark tone="warn">no terms to recompute from</Mark>
  const isChainAsked = checked.creditedMatches !== null
  if (isChainAsked && checked.seedMatches === null) return <Mark tone="warn">no seed to check</Mark>
  return <Mark tone="good">recomputed</Mark>
}
