// Replays the factory's events by cohort, against a naive contract: an array of nodes, each with its own balance, and a
// loop over it for every credit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { FactoryEvent } from '../../src/domain/observed.ts'
import {
  type LedgerCohort,
  lastOwners,
  MissingHistory,
  type NewExpulsion,
  type NewNode,
  type ReplayedChanges,
  replay,
} from '../../src/domain/replay.ts'
import { type Address, address, type Hash, hash, type Wei, wei, ZERO_ADDRESS } from '../../src/domain/units.ts'
import '../support/property.ts'

const word = (n: number) => hash(`0x${n.toString(16).padStart(64, '0')}`)
const account = (n: number) => address(`0x${n.toString(16).padStart(40, '0')}`)

interface NaiveNode {
  id: bigint
  /** 0 once expelled. */
  cohort: number
  ref: Hash
  owner: Address
  creditedWei: bigint
  withdrawnWei: bigint
}
interface NaiveCohort {
  cohort: number
  nextDue: number
  intervalSec: number
  turns: number
}

/** Plays the contract, keeps all balances the slow way, and records the events it would emit. */
class Naive {
  nodes: NaiveNode[] = []
  cohorts: NaiveCohort[] = []
  events: FactoryEvent[] = []
  /** Cohort and next due after each block. */
  states = new Map<string, { nextDue: number; size: number }>()
  block = 1
  now = 1_000
  round = 0
  fromSurplus: number[] = []
  distributedWei = 0n
  private logIndex = 0

  emit(event: object): void {
    const stamp = {
      blockNumber: this.block,
      blockHash: word(this.block),
      blockTime: this.now,
      txHash: word(10_000 + this.events.length),
      txIndex: 0,
      logIndex: this.logIndex++,
    }
    this.events.push({ ...stamp, ...event } as FactoryEvent)
  }

  nextBlock(seconds: number): void {
    this.block++
    this.now += seconds
    this.logIndex = 0
  }

  open(intervalSec: number, firstDue: number): void {
    const cohort = this.cohorts.length + 1
    this.cohorts.push({ cohort, nextDue: firstDue, intervalSec, turns: 0 })
    this.emit({ kind: 'cohortOpened', cohort, tierNo: (cohort % 3) + 1, firstDue, intervalSec })
  }

  setInterval(pick: number, intervalSec: number): void {
    const cohort = this.cohorts[pick % Math.max(1, this.cohorts.length)]
    if (!cohort) return
    cohort.intervalSec = intervalSec
    this.emit({ kind: 'intervalSet', cohort: cohort.cohort, intervalSec })
  }

  of(cohort: NaiveCohort): NaiveNode[] {
    return this.nodes.filter((node) => node.cohort === cohort.cohort)
  }

  mint(pick: number, owner: Address): void {
    const cohort = this.cohorts[pick % Math.max(1, this.cohorts.length)]
    const id = BigInt(this.nodes.length + 1)
    const ref = word(1_000_000 + this.events.length)
    if (!cohort || (this.of(cohort).length > 0 && cohort.nextDue <= this.now)) {
      this.emit({ kind: 'mintSkipped', ref, reason: 2 })
      return
    }
    while (this.of(cohort).length === 0 && cohort.nextDue <= this.now) cohort.nextDue += cohort.intervalSec
    this.nodes.push({ id, cohort: cohort.cohort, ref, owner, creditedWei: 0n, withdrawnWei: 0n })
    this.emit({ kind: 'transfer', nodeId: id, from: ZERO_ADDRESS, to: owner })
    this.emit({ kind: 'nodeMinted', nodeId: id, owner, ref, cohort: cohort.cohort })
  }

  /** Past turns of a cohort. */
  passed({ nextDue, intervalSec }: NaiveCohort): number {
    return nextDue > this.now ? 0 : Math.floor((this.now - nextDue) / intervalSec) + 1
  }

  /** Skips a turn now and then, then pays one or two. */
  credit(amounts: number[], fromSurplus: boolean): void {
    const due = this.cohorts.filter((c) => this.of(c).length > 0 && c.nextDue <= this.now)
    const paid = due.slice(0, amounts.length)
    if (paid.length === 0) return
    this.round++
    const totalWei = paid.reduce((sum, c, i) => sum + BigInt(amounts[i] ?? 0) * BigInt(this.of(c).length), 0n)
    this.distributedWei += totalWei
    for (const [i, cohort] of paid.entries()) {
      const amount = BigInt(amounts[i] ?? 0)
      const { round } = this
      if (amount % 5n === 0n && this.passed(cohort) > 1) this.skip(cohort, 1)
      const turns = Math.min(1 + Number(amount % 2n), this.passed(cohort))
      for (const node of this.of(cohort)) node.creditedWei += amount
      this.emit({
        ...{ kind: 'credited', round, cohort: cohort.cohort, due: cohort.nextDue, turns },
        amountPerNodeWei: wei(amount),
        nodeCount: this.of(cohort).length,
      })
      cohort.nextDue += turns * cohort.intervalSec
      cohort.turns++
    }
    if (fromSurplus) {
      this.fromSurplus.push(this.round)
      this.emit({ kind: 'surplusSpent', round: this.round, amountWei: wei(totalWei), allowanceWei: wei(0n) })
    }
  }

  skip(cohort: NaiveCohort, turns: number): void {
    this.emit({ kind: 'turnsSkipped', round: this.round, cohort: cohort.cohort, due: cohort.nextDue, turns })
    cohort.nextDue += turns * cohort.intervalSec
  }

  /** A round that pays nothing. */
  onlySkip(pick: number): void {
    const cohort = this.cohorts[pick % Math.max(1, this.cohorts.length)]
    if (!cohort || this.of(cohort).length === 0 || this.passed(cohort) === 0) return
    this.round++
    this.skip(cohort, this.passed(cohort))
  }

  expel(pick: number): void {
    const node = this.nodes[pick % Math.max(1, this.nodes.length)]
    if (!node || node.cohort === 0) return
    const { id: nodeId, ref, cohort, creditedWei } = node
    this.emit({ kind: 'nodeExpelled', nodeId, ref, cohort, creditedWei })
    node.cohort = 0
  }

  move(pick: number, to: Address): void {
    const node = this.nodes[pick % Math.max(1, this.nodes.length)]
    if (!node) return
    this.emit({ kind: 'transfer', nodeId: node.id, from: node.owner, to })
    node.owner = to
  }

  withdraw(pick: number, share: number): void {
    const node = this.nodes[pick % Math.max(1, this.nodes.length)]
    if (!node) return
    const amountWei = ((node.creditedWei - node.withdrawnWei) * BigInt(share)) / 100n
    if (amountWei === 0n) return
    node.withdrawnWei += amountWei
    this.emit({
      kind: 'withdrawn',
      nodeId: node.id,
      owner: node.owner,
      to: node.owner,
      amountWei: wei(amountWei),
      withdrawnTotalWei: wei(node.withdrawnWei),
    })
  }

  note(): void {
    for (const c of this.cohorts)
      this.states.set(`${c.cohort}:${this.block}`, { nextDue: c.nextDue, size: this.of(c).length })
  }
}

const pick = fc.nat({ max: 30 })
const owner = fc.integer({ min: 1, max: 4 }).map(account)
const act = fc.oneof(
  fc.tuple(fc.constant('open' as const), fc.integer({ min: 1, max: 80 }), fc.integer({ min: 900, max: 1_100 })),
  fc.tuple(fc.constant('setInterval' as const), pick, fc.integer({ min: 1, max: 80 })),
  { weight: 4, arbitrary: fc.tuple(fc.constant('mint' as const), pick, owner) },
  {
    weight: 3,
    arbitrary: fc.tuple(
      fc.constant('credit' as const),
      fc.array(fc.nat({ max: 1_000 }), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
    ),
  },
  fc.tuple(fc.constant('onlySkip' as const), pick, pick),
  fc.tuple(fc.constant('expel' as const), pick, pick),
  fc.tuple(fc.constant('move' as const), pick, owner),
  fc.tuple(fc.constant('withdraw' as const), pick, fc.integer({ min: 1, max: 100 })),
  { weight: 4, arbitrary: fc.tuple(fc.constant('nextBlock' as const), fc.integer({ min: 1, max: 60 }), pick) },
)

function play(acts: readonly (readonly [string, unknown, unknown])[]): Naive {
  const naive = new Naive()
  for (const [name, a, b] of acts) {
    if (name === 'nextBlock') naive.note()
    ;(naive[name as keyof Naive] as (a: unknown, b: unknown) => void).call(naive, a, b)
  }
  naive.note()
  return naive
}

/** The ledger's way: range by range, split between blocks as `cuts` says. */
function follow(events: readonly FactoryEvent[], cuts: ReadonlySet<number>) {
  const cohorts = new Map<number, LedgerCohort>()
  const all: ReplayedChanges[] = []
  let range: FactoryEvent[] = []
  const store = () => {
    const changes = replay(cohorts, range)
    for (const [number, cohort] of changes.cohorts) cohorts.set(number, cohort)
    all.push(changes)
    range = []
  }
  for (const event of events) {
    const before = range.at(-1)
    if (before && before.blockNumber !== event.blockNumber && cuts.has(event.blockNumber)) store()
    range.push(event)
  }
  store()
  return { cohorts, all }
}

/** Credits of a node in the cohort that it left, turn by turn. */
const sumUntil = (all: readonly ReplayedChanges[], { cohort, turnCount }: NewExpulsion, turnsAtMint: number) =>
  all
    .flatMap(({ turns }) => turns)
    .filter((turn) => turn.cohort === cohort && turn.turnNo > turnsAtMint && turn.turnNo <= turnCount)
    .reduce((sum, turn) => sum + turn.amountWei, 0n)

interface Followed {
  row: NewNode | undefined
  cohort: LedgerCohort | undefined
  left: NewExpulsion | undefined
  all: readonly ReplayedChanges[]
}

/** An expelled node no longer has a cohort, and keeps its credits. */
function assertCredited(node: { cohort: number; creditedWei: bigint }, { row, cohort, left, all }: Followed): void {
  assert.equal(left?.cohort, node.cohort === 0 ? row?.cohort : undefined)
  assert.equal(left?.creditedWei ?? (cohort?.perNodeWei ?? 0n) - (row?.perNodeAtMintWei ?? 0n), node.creditedWei)
  if (left) assert.equal(sumUntil(all, left, row?.turnsAtMint ?? 0), left.creditedWei)
}

test('any history gives what a loop over all nodes gives, in any ranges of blocks', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 80, size: 'max' }), fc.array(fc.nat({ max: 60 })), (acts, cuts) => {
      const naive = play([['open', 50, 1_050], ...acts])
      const { cohorts, all } = follow(naive.events, new Set(cuts))

      const minted = new Map(all.flatMap((changes) => changes.nodes).map((node) => [node.nodeId, node]))
      assert.equal(minted.size, naive.nodes.length)
      const owners = new Map([...minted].map(([id, node]) => [id, node.owner]))
      const withdrawn = new Map<bigint, Wei>()
      for (const changes of all) {
        for (const [id, to] of lastOwners(changes.transfers)) owners.set(id, to)
        for (const w of changes.withdrawals) withdrawn.set(w.nodeId, w.withdrawnTotalWei)
      }
      const expelled = new Map(all.flatMap((changes) => changes.expulsions).map((row) => [row.nodeId, row]))
      for (const node of naive.nodes) {
        const row = minted.get(node.id)
        const cohort = cohorts.get(node.cohort)
        assertCredited(node, { row, cohort, left: expelled.get(node.id), all })
        assert.equal(withdrawn.get(node.id) ?? 0n, node.withdrawnWei)
        assert.equal(owners.get(node.id), node.owner)
      }
      for (const cohort of naive.cohorts) {
        const { nextDue, size, turnCount, intervalSec } = cohorts.get(cohort.cohort) ?? assert.fail()
        assert.deepEqual(
          { nextDue, size, turnCount, intervalSec },
          {
            nextDue: cohort.nextDue,
            size: naive.of(cohort).length,
            turnCount: cohort.turns,
            intervalSec: cohort.intervalSec,
          },
        )
      }
      const rounds = all.flatMap((changes) => changes.rounds)
      assert.deepEqual(
        rounds.map((round) => round.round),
        Array.from({ length: naive.round }, (_, i) => i + 1),
      )
      assert.deepEqual(
        rounds.filter((round) => round.mode === 'swaps').map((round) => round.round),
        naive.fromSurplus,
      )
      assert.equal(
        rounds.reduce((sum, round) => sum + round.totalWei, 0n),
        naive.distributedWei,
      )
    }),
    { numRuns: 500 },
  )
})

test('a cohort can return to its state after any block', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60, size: 'max' }), (acts) => {
      const naive = play([['open', 50, 1_050], ...acts])
      const changes = replay(new Map(), naive.events)
      const states = [...changes.cohortStates.values()]
      for (const [key, { nextDue, size }] of naive.states) {
        const [cohort, block] = key.split(':').map(Number)
        const last = states.filter((s) => s.state.cohort === cohort && s.blockNumber <= (block ?? 0)).at(-1)
        assert.deepEqual({ nextDue: last?.state.nextDue, size: last?.state.size }, { nextDue, size })
      }
    }),
    { numRuns: 300 },
  )
})

test('the cohorts a replay starts from are not changed by it', () => {
  const naive = play([
    ['open', 50, 1_050],
    ['mint', 0, account(1)],
  ])
  const { cohorts } = follow(naive.events, new Set())
  const before = structuredClone(cohorts)
  naive.nextBlock(60)
  naive.events = []
  naive.credit([7], false)
  assert.equal(replay(cohorts, naive.events).cohorts.get(1)?.perNodeWei, 7n)
  assert.deepEqual(cohorts, before)
})

test('a round was paid from surplus if the contract reports that, else with its own value', () => {
  const modesOf = (fromSurplus: boolean[]) => {
    const naive = play([
      ['open', 50, 1_050],
      ['open', 50, 1_050],
      ['mint', 0, account(1)],
      ['mint', 1, account(1)],
      ...fromSurplus.flatMap((is) => [['nextBlock', 60, 0] as const, ['credit', [7, 8], is] as const]),
    ])
    return replay(new Map(), naive.events).rounds.map((round) => round.mode)
  }
  assert.deepEqual(modesOf([false, true, false]), ['treasury', 'swaps', 'treasury'])
})

test('a node that the ledger never saw minted cannot make its cohort smaller than empty', () => {
  const naive = play([
    ['open', 50, 1_050],
    ['mint', 0, account(1)],
    ['expel', 0, 0],
  ])
  const events = naive.events.filter((event) => event.kind !== 'nodeMinted')
  assert.equal(replay(new Map(), events).cohorts.get(1)?.size, 0)
})

test('an event of a cohort that was never seen opened stops the follower with the reason', () => {
  const naive = play([
    ['open', 50, 1_050],
    ['mint', 0, account(1)],
  ])
  assert.throws(() => replay(new Map(), naive.events.slice(1)), MissingHistory)
})

test('each kind of event becomes its rows, with its position', () => {
  const at = { blockNumber: 9, blockHash: word(9), blockTime: 1_100, txHash: word(99) }
  const event = (fields: object) => ({ ...at, txIndex: 3, logIndex: 4, ...fields }) as FactoryEvent
  const cohort: LedgerCohort = {
    cohort: 1,
    tierNo: 2,
    intervalSec: 50,
    nextDue: 1_090,
    size: 3,
    perNodeWei: wei(7n),
    turnCount: 4,
    lastTurnAt: null,
    openedBlock: 1,
    openedHash: word(1),
  }
  const known = new Map([[1, cohort]])
  const none = {
    nodes: [],
    transfers: [],
    rounds: [],
    turns: [],
    skips: [],
    withdrawals: [],
    expulsions: [],
    ownerActs: [],
    skipped: [],
    refsTaken: [],
    cohorts: new Map(),
    cohortStates: new Map(),
  }
  const changed = (state: LedgerCohort) => ({
    cohorts: new Map([[state.cohort, state]]),
    cohortStates: new Map([[`${state.cohort}:9`, { blockNumber: 9, state }]]),
  })
  const one = (fields: object) => replay(known, [event(fields)])
  const places = { ...at, txIndex: 3, logIndex: 4 }

  assert.deepEqual(replay(known, []), none)
  const left = { kind: 'mintSkipped', ref: word(5), reason: 2 }
  assert.deepEqual(one(left), { ...none, skipped: [{ ...places, ...left }] })
  const taken = { kind: 'refTaken', ref: word(5), nodeId: 6n, to: account(2) }
  assert.deepEqual(one(taken), { ...none, refsTaken: [{ ...places, ...taken }] })
  const acted = { kind: 'ownerAct', name: 'Swept', detail: { to: account(3), amount: '5' } }
  assert.deepEqual(one(acted), { ...none, ownerActs: [{ ...places, ...acted }] })
  const expelled = { kind: 'nodeExpelled', nodeId: 6n, ref: word(5), cohort: 1, creditedWei: 8n }
  assert.deepEqual(one(expelled), {
    ...none,
    expulsions: [{ ...places, ...expelled, turnCount: cohort.turnCount }],
    ...changed({ ...cohort, size: 2 }),
  })
  const moved = { kind: 'transfer', nodeId: 6n, from: account(1), to: account(2) }
  assert.deepEqual(one(moved), { ...none, transfers: [{ ...places, ...moved }] })
  const paidOut = { kind: 'withdrawn', nodeId: 6n, to: account(2), amountWei: wei(3n), withdrawnTotalWei: wei(5n) }
  assert.deepEqual(one(paidOut), { ...none, withdrawals: [{ ...places, ...paidOut }] })
  const minted = { kind: 'nodeMinted', nodeId: 6n, owner: account(1), cohort: 1, ref: word(5) }
  assert.deepEqual(one(minted), {
    ...none,
    nodes: [{ ...places, ...minted, tierNo: 2, perNodeAtMintWei: 7n, turnsAtMint: 4 }],
    ...changed({ ...cohort, size: 4 }),
  })
  assert.deepEqual(one({ kind: 'intervalSet', cohort: 1, intervalSec: 60 }), {
    ...none,
    ...changed({ ...cohort, intervalSec: 60 }),
  })
  assert.deepEqual(one({ kind: 'cohortOpened', cohort: 2, tierNo: 5, firstDue: 1_200, intervalSec: 40 }), {
    ...none,
    ...changed({
      ...{
        cohort: 2,
        tierNo: 5,
        intervalSec: 40,
        nextDue: 1_200,
        size: 0,
        perNodeWei: wei(0n),
        turnCount: 0,
        lastTurnAt: null,
      },
      ...{ openedBlock: 9, openedHash: word(9) },
    }),
  })
  const credited = {
    kind: 'credited',
    round: 8,
    cohort: 1,
    due: 1_090,
    turns: 1,
    amountPerNodeWei: wei(10n),
    nodeCount: 3,
  }
  const turn = { round: 8, cohort: 1, tierNo: 2, due: 1_090, turns: 1, intervalSec: 50, amountWei: 10n, nodeCount: 3 }
  const after = { ...cohort, nextDue: 1_140, perNodeWei: wei(17n), turnCount: 5, lastTurnAt: 1_100 }
  assert.deepEqual(one(credited), {
    ...none,
    rounds: [{ ...at, round: 8, mode: 'treasury', totalWei: 30n, nodeCount: 3 }],
    turns: [{ ...places, ...credited, ...turn, turnNo: 5 }],
    ...changed(after),
  })
  const skipped = { round: 8, cohort: 1, due: 1_090, turns: 3 }
  const round = { ...at, round: 8, mode: 'treasury', totalWei: 0n, nodeCount: 0 }
  assert.deepEqual(one({ kind: 'turnsSkipped', ...skipped }), {
    ...none,
    rounds: [round],
    skips: [skipped],
    ...changed({ ...cohort, nextDue: 1_240 }),
  })
  const both = replay(known, [
    event({ kind: 'turnsSkipped', ...skipped }),
    event({ ...credited, due: 1_240, turns: 2 }),
    event({ kind: 'surplusSpent', round: 8, amountWei: 30n, allowanceWei: 1n }),
  ])
  assert.deepEqual(both.rounds, [{ ...round, mode: 'swaps', totalWei: 30n, nodeCount: 3 }])
  assert.deepEqual(both.cohorts.get(1), { ...after, nextDue: 1_340 })
  const twice = replay(known, [event(credited), event({ ...credited, due: 1_140 })])
  assert.deepEqual(twice.rounds, [{ ...at, round: 8, mode: 'treasury', totalWei: 60n, nodeCount: 6 }])
  assert.deepEqual(twice.turns, [
    { ...places, ...credited, ...turn, turnNo: 5 },
    { ...places, ...credited, ...turn, due: 1_140, turnNo: 6 },
  ])
})

test('a report of missing history suggests the setting', () => {
  const event = { kind: 'intervalSet', cohort: 7, intervalSec: 60, blockNumber: 1 } as FactoryEvent
  assert.throws(() => replay(new Map(), [event]), /cohort 7, .* START_BLOCK must not be later/)
})

test('the last owners are those of transfers, not of mints', () => {
  const moves = [
    { nodeId: 1n, from: ZERO_ADDRESS, to: account(1) },
    { nodeId: 2n, from: account(1), to: account(2) },
    { nodeId: 2n, from: account(2), to: account(3) },
  ]
  assert.deepEqual([...lastOwners(moves as unknown as Parameters<typeof lastOwners>[0])], [[2n, account(3)]])
})
