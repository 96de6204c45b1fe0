// The cohort that a node joins and the cohorts that must exist, against a contract that pays, rolls over and refuses as ours does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type CohortState,
  chooseCohort,
  chooseSharedCohort,
  effectiveDue,
  isDue,
  openingsNeeded,
  type Schedule,
  sharedOpening,
} from '../../src/domain/schedule.ts'
import '../support/property.ts'

const schedules = fc
  .tuple(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 24 }))
  .map(([slotSec, phases]): Schedule => ({ slotSec, intervalSec: slotSec * phases }))
const times = fc.integer({ min: 1_600_000_000, max: 2_000_000_000 })

const cohort = (fields: Partial<CohortState>): CohortState => ({
  cohort: 1,
  tierNo: 1,
  intervalSec: 100,
  nextDue: 1000,
  size: 0,
  ...fields,
})

const schedule: Schedule = { intervalSec: 100, slotSec: 10 }
test('a tier without cohorts needs one for each phase, soonest needed first', () => {
  const openings = openingsNeeded({ cohorts: [], schedule, now: 1000 }, 1, false)
  assert.deepEqual(
    openings.map((opening) => opening.firstDue),
    [1100, 1110, 1120, 1130, 1140, 1150, 1160, 1170, 1180, 1190],
  )
  assert.deepEqual(openings[0], { tierNo: 1, firstDue: 1100, intervalSec: 100 })
})

test('a phase with an unpaid turn gets a second cohort only if a buyer waits to join it', () => {
  const all = openingsNeeded({ cohorts: [], schedule, now: 1000 }, 1, false).map((o, i) =>
    cohort({ ...o, cohort: i, nextDue: o.firstDue }),
  )
  const [first = assert.fail()] = all
  first.size = 1
  assert.deepEqual(openingsNeeded({ cohorts: all, schedule, now: 1100 }, 1, false), [])
  assert.deepEqual(openingsNeeded({ cohorts: all, schedule, now: 1100 }, 1, true), [
    { tierNo: 1, firstDue: 1200, intervalSec: 100 },
  ])
})

/** A contract's cohorts of one tier, driven by the functions under test. */
class Model {
  readonly cohorts: CohortState[] = []
  readonly schedule: Schedule
  now: number

  constructor(schedule: Schedule, now: number) {
    this.schedule = schedule
    this.now = now
  }

  open(waiting: boolean): void {
    const { cohorts, schedule, now } = this
    const openings = openingsNeeded({ cohorts, schedule, now }, 1, waiting)
    const phases = openings.map((o) => o.firstDue % schedule.intervalSec)
    assert.equal(new Set(phases).size, phases.length, 'two openings of one phase')
    for (const { firstDue, intervalSec } of openings) {
      const twins = cohorts.filter((c) => c.nextDue % intervalSec === firstDue % intervalSec)
      assert.ok(
        twins.every((twin) => isDue(twin, now)),
        'an opening for a phase that has a cohort to join',
      )
      cohorts.push(cohort({ cohort: cohorts.length, intervalSec, nextDue: firstDue }))
    }
  }

  /** Mints as the contract does; returns the wait until the first turn. */
  mint(): number {
    this.open(chooseCohort(this.cohorts, 1, this.schedule, this.now) === null)
    const joined = chooseCohort(this.cohorts, 1, this.schedule, this.now)
    assert.ok(joined, 'nothing to join although all that is needed was opened')
    assert.ok(!isDue(joined, this.now), 'the contract would refuse: the turn is due')
    joined.nextDue = effectiveDue(joined, this.now)
    joined.size++
    return joined.nextDue - this.now
  }

  payOne(c: CohortState): void {
    if (isDue(c, this.now)) c.nextDue += c.intervalSec
  }
}

const acts = fc.array(
  fc.record({ wait: fc.integer({ min: 0, max: 400 }), act: fc.constantFrom('mint', 'tick', 'mint', 'payOnce') }),
  { maxLength: 60, size: 'max' },
)

test('with any payments and times, a new node waits an interval less a slot to an interval', () => {
  fc.assert(
    fc.property(schedules, times, acts, (schedule, now, steps) => {
      const model = new Model(schedule, now)
      for (const { wait, act } of steps) {
        model.now += Math.round((wait / 100) * schedule.slotSec)
        if (act === 'payOnce') for (const c of model.cohorts) model.payOne(c)
        if (act === 'tick') model.open(false)
        if (act !== 'mint') continue
        const first = model.mint()
        assert.ok(first > schedule.intervalSec - schedule.slotSec && first <= schedule.intervalSec)
      }
    }),
    { numRuns: 150 },
  )
})

test('if turns are paid, there are never more cohorts than phases', () => {
  fc.assert(
    fc.property(schedules, times, acts, (schedule, now, steps) => {
      const model = new Model(schedule, now)
      for (const { wait, act } of steps) {
        model.now += Math.round((wait / 20) * schedule.slotSec)
        // A payments pass opens cohorts before the credit pass of the same tick.
        model.open(false)
        for (const c of model.cohorts) while (isDue(c, model.now)) model.payOne(c)
        if (act === 'mint') model.mint()
        assert.ok(model.cohorts.length <= schedule.intervalSec / schedule.slotSec)
      }
    }),
    { numRuns: 150 },
  )
})

test('cohorts of another tier or interval are no phases of this one', () => {
  const own = openingsNeeded({ cohorts: [], schedule, now: 1000 }, 1, false)
  const cohorts = (fields: Partial<CohortState>) =>
    own.map((o, i) => cohort({ cohort: i, nextDue: o.firstDue, ...fields }))
  assert.deepEqual(openingsNeeded({ cohorts: cohorts({}), schedule, now: 1000 }, 1, false), [])
  assert.deepEqual(openingsNeeded({ cohorts: cohorts({ tierNo: 2 }), schedule, now: 1000 }, 1, false), own)
  assert.deepEqual(openingsNeeded({ cohorts: cohorts({ intervalSec: 200 }), schedule, now: 1000 }, 1, false), own)
})

test('if a buyer waits and a cohort can take them, none is opened for its phase', () => {
  const cohorts = openingsNeeded({ cohorts: [], schedule, now: 1000 }, 1, false).map((o, i) =>
    cohort({ cohort: i, nextDue: o.firstDue }),
  )
  assert.deepEqual(openingsNeeded({ cohorts, schedule, now: 1000 }, 1, true), [])
})

test('while no turn is paid, a tier’s nodes share one cohort for an interval, from any slot', () => {
  const schedule = { intervalSec: 86_400, slotSec: 3_600 }
  const cohorts: CohortState[] = []
  let opened = 0
  // A sale every half hour for a hundred days.
  for (let now = 1_000_000; now < 1_000_000 + 100 * 86_400; now += 1_800) {
    const opening = sharedOpening({ cohorts, schedule, now }, 1)
    if (opening) {
      cohorts.push({
        cohort: ++opened,
        tierNo: 1,
        intervalSec: opening.intervalSec,
        nextDue: opening.firstDue,
        size: 0,
      })
      assert.ok(opening.firstDue > now && opening.firstDue <= now + schedule.intervalSec)
    }
    const shared = chooseSharedCohort(cohorts, 1, schedule, now)
    assert.ok(shared && shared.nextDue > now && !isDue(shared, now), 'one takes nodes at any time')
    shared.size += 1
    assert.equal(chooseSharedCohort(cohorts, 2, schedule, now), null, 'of its own tier only')
  }
  assert.ok(opened <= 106, `${opened} in a hundred days; by phases it would be 2400`)
})
