// Random walks of an operator and a chain: changes entered at once and ahead, cancelled, keys revoked, blocks that come, are followed late, and are
// reorganised with other times. They prefer the edges: equal times, a second before and after the end of a grace, one price for two tiers.
import fc from 'fast-check'
import {
  type Block,
  follow,
  isInTime,
  type Ledger,
  type Plan,
  type Revocation,
  read,
  spoilt,
  standing,
  type Terms,
  type Version,
} from './ahead.ts'

const TIERS = ['t0', 't1', 't2'] as const
/** The roots of two allowlists. */
export const LISTS = [`0x${'a1'.repeat(32)}`, `0x${'b2'.repeat(32)}`]
const PRICES = [10n, 20n, 30n, 40n]
const [TOKEN, OTHER_TOKEN] = [
  '0x00000000000000000000000000000000000000aa',
  '0x00000000000000000000000000000000000000bb',
]

const one = <K extends keyof Terms>(name: K, values: readonly Terms[K][]): fc.Arbitrary<Partial<Terms>> =>
  fc.constantFrom(...values).map((value) => ({ [name]: value }) as Partial<Terms>)
const token = fc.constantFrom(
  { holdingToken: TOKEN, holdingSymbol: 'A', holdingDecimals: 18 },
  { holdingToken: OTHER_TOKEN, holdingSymbol: 'B', holdingDecimals: 6 },
  { holdingToken: TOKEN },
  { holdingToken: null },
)
const term = fc.oneof(
  { weight: 6, arbitrary: one('priceWei', PRICES) },
  { weight: 4, arbitrary: one('onSale', [true, false]) },
  { weight: 3, arbitrary: one('supply', [null, 1, 2, 3]) },
  { weight: 3, arbitrary: one('opensAfter', [null, ...TIERS, 't8']) },
  { weight: 2, arbitrary: one('opensAt', [null, 1_500, 2_000]) },
  { weight: 2, arbitrary: one('closesAt', [null, 1_499, 1_500, 1_501, 2_500]) },
  one('holdingWei', [0n, 5n]),
  token,
  one('label', ['Gold', 'Silver']),
  one('maxPerWallet', [1, 5]),
  one('payoutBps', [5_000, 20_000]),
  one('holdingRetrySec', [60, 600]),
  one('allowlist', [null, ...LISTS]),
)
const change = {
  tierId: fc.constantFrom<string>(...TIERS, ...TIERS, 't9'),
  changes: fc.array(term, { minLength: 1, maxLength: 3 }).map((all) => Object.assign({}, ...all) as Partial<Terms>),
  graceSec: fc.constantFrom(0, 120, 900),
}
/** A time near one that the ledger names, or some seconds from now. */
const when = fc.record({
  near: fc.option(fc.nat(99)),
  off: fc.constantFrom(-1, 0, 0, 0, 1),
  in: fc.constantFrom(119, 120, 121, 500, 1_100),
})
/** When a block comes: also in the same second as the one before, as on chains with several blocks a second. */
const blockTime = fc.oneof({ weight: 4, arbitrary: when }, { weight: 1, arbitrary: fc.constant(null) })
const key = fc.constantFrom('k1', 'k2', 'k3', 'k4')
/** `isForced`: it is in the ledger, whatever the rules of an entry say, so that all that does not fit is read too. */
const act = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('plan'), ...change, when, key, isForced: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('change'), ...change }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel'), pick: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke'), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('open'), pick: fc.nat(99) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('mine'),
      when: blockTime,
      isFollowed: fc.constantFrom(true, true, false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('reorganise'), depth: fc.nat(3), shift: fc.constantFrom(-1, 0, 1) }),
  },
)
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never
type When = typeof when extends fc.Arbitrary<infer T> ? T : never
type Of<K extends Act['kind']> = Extract<Act, { kind: K }>

export interface Walk {
  /** The ledger after each act, with the planned changes that still may take effect. */
  sights: Ledger[]
  /** The provider's chain, which the ledger has followed to its head at the end. */
  blocks: Block[]
  ledger: Ledger
  /** The changes that were entered at once, and the planned ones that began or still may. */
  entered: Pick<Ledger, 'versions' | 'plans'>
  /** The kinds of acts that were done and those that were refused, with why. */
  seen: Set<string>
  [fc.toStringMethod]: () => string
}

interface World {
  ledger: Ledger
  /** Every planned change that was entered and not cancelled, so that a reorganisation can bring it back. */
  entered: Plan[]
  revoked: Revocation[]
  blocks: Block[]
  followed: number
  entries: number
  seen: Set<string>
}

const START: Block = { number: 10, time: 1_000 }
const TERMS: Terms = {
  ...{ label: 'Tier', priceWei: 10n, maxPerWallet: 3, payoutBps: 10_000, onSale: true, holdingRetrySec: 3_600 },
  ...{ holdingWei: 0n, holdingToken: null, holdingSymbol: null, holdingDecimals: null, allowlist: null },
  ...{ supply: null, opensAt: null, closesAt: null, opensAfter: null },
}
const FIRST: Partial<Terms>[] = [{ supply: 2 }, { priceWei: 20n, opensAfter: 't0' }, { priceWei: 30n }]

/** How a walk begins: whether the step of the second tier has opened, and which tiers are on sale. */
const start = fc.record({
  isOpen: fc.boolean(),
  onSale: fc.array(fc.constantFrom(true, true, true, false), { minLength: 3, maxLength: 3 }),
})
type Start = typeof start extends fc.Arbitrary<infer T> ? T : never

function begin({ isOpen, onSale }: Start): World {
  const versions = TIERS.map((tierId, n): Version => {
    const terms = { ...TERMS, ...FIRST[n], onSale: onSale[n] ?? true }
    return { tierId, version: 1, entry: n, fromBlock: START.number, fromTime: START.time, graceSec: 900, terms }
  })
  const opened = isOpen ? [{ tierId: 't1', opensAfter: 't0' }] : []
  const ledger: Ledger = { versions, plans: [], opened }
  return { ledger, entered: [], revoked: [], blocks: [START], followed: START.number, entries: 3, seen: new Set() }
}

const headOf = (world: World): Block => world.blocks.at(-1) as Block

/** A time after the head: one that something names, or a second beside it, or some seconds ahead. */
function timeOf(world: World, { near, off, in: ahead }: When): number {
  const head = headOf(world).time
  const { versions, plans } = world.ledger
  const named = [...versions, ...plans].flatMap((one) => [one.fromTime, one.fromTime + one.graceSec])
  const later = named.filter((time) => time + off > head)
  const chosen = near === null ? undefined : later[near % Math.max(1, later.length)]
  return chosen === undefined ? head + ahead : chosen + off
}

/** The next entry of a tier: its number among all, and among those of the tier. */
function number(world: World, tierId: string): { entry: number; version: number } {
  const { ledger, entered } = world
  const taken = [...ledger.versions, ...entered].filter((one) => one.tierId === tierId).map((one) => one.version)
  return { entry: world.entries++, version: 1 + Math.max(0, ...taken) }
}

/** The ledger without the changes whose key was revoked. */
const seenBy = ({ ledger, revoked }: World): Ledger => ({ ...ledger, plans: standing(ledger.plans, revoked) })

function enterPlan(world: World, { tierId, changes, graceSec, when: at, key: by, isForced }: Of<'plan'>): string {
  const fromTime = timeOf(world, at)
  const plan: Plan = { tierId, ...number(world, tierId), fromTime, graceSec, key: by, changes }
  const { time } = headOf(world)
  if (!isForced) {
    if (!isInTime(fromTime, { headTime: time, clock: time })) return 'too late'
    const ledger = seenBy(world)
    if (spoilt(ledger, [...ledger.plans, plan]).length > 0) return 'does not fit'
  }
  world.ledger = { ...world.ledger, plans: [...world.ledger.plans, plan] }
  world.entered.push(plan)
  return 'entered'
}

/** A change that holds from the next block: like a planned one of the second after the head, or of the last version if that is later. */
function enterNow(world: World, { tierId, changes, graceSec }: Of<'change'>): string {
  const head = headOf(world)
  const fromTime = Math.max(head.time + 1, ...world.ledger.versions.map((one) => one.fromTime))
  const plan: Plan = { tierId, ...number(world, tierId), fromTime, graceSec, key: '', changes }
  const ledger = seenBy(world)
  const plans = [...ledger.plans, plan]
  if (spoilt(ledger, plans).length > 0) return 'does not fit'
  const version = read({ ...ledger, plans }).versions.find((one) => one.entry === plan.entry) as Version
  world.ledger = {
    ...world.ledger,
    versions: [...world.ledger.versions, { ...version, fromBlock: head.number + 1 }],
  }
  return 'entered'
}

function cancel(world: World, { pick }: Of<'cancel'>): string {
  const plan = world.ledger.plans[pick % Math.max(1, world.ledger.plans.length)]
  if (plan === undefined) return 'nothing'
  const { time } = headOf(world)
  if (!isInTime(plan.fromTime, { headTime: time, clock: time })) return 'too late'
  const ledger = seenBy(world)
  const isOther = (one: Plan) => one.entry !== plan.entry
  if (spoilt(ledger, ledger.plans.filter(isOther)).length > 0) return 'does not fit'
  world.ledger = { ...world.ledger, plans: world.ledger.plans.filter(isOther) }
  world.entered = world.entered.filter(isOther)
  return 'cancelled'
}

/** A step opens that the ledger's versions or plans name. */
function open(world: World, { pick }: Of<'open'>): string {
  const { versions, plans, opened } = world.ledger
  const named = [
    ...versions.map(({ tierId, terms }) => ({ tierId, opensAfter: terms.opensAfter })),
    ...plans.map(({ tierId, changes }) => ({ tierId, opensAfter: changes.opensAfter ?? null })),
  ].flatMap(({ tierId, opensAfter }) => (opensAfter === null ? [] : [{ tierId, opensAfter }]))
  const step = named[pick % Math.max(1, named.length)]
  const isOpen = opened.some((one) => one.tierId === step?.tierId && one.opensAfter === step.opensAfter)
  if (step === undefined || isOpen) return 'nothing'
  world.ledger = { ...world.ledger, opened: [...opened, step] }
  return 'opened'
}

function followAll(world: World): void {
  for (const block of world.blocks) {
    if (block.number <= world.followed) continue
    world.ledger = follow(world.ledger, world.revoked, block)
    world.followed = block.number
  }
}

function mine(world: World, { when: at, isFollowed }: Of<'mine'>): string {
  const head = headOf(world)
  world.blocks.push({ number: head.number + 1, time: at === null ? head.time : timeOf(world, at) })
  if (!isFollowed) return 'not followed'
  followAll(world)
  return 'followed'
}

/** Blocks go, and the planned changes that began in them are planned again. One other block comes, a second earlier or later than the first that went. */
function reorganise(world: World, { depth, shift }: Of<'reorganise'>): string {
  const kept = world.blocks.slice(0, Math.max(1, world.blocks.length - depth - 1))
  const gone = world.blocks[kept.length]
  if (gone === undefined) return 'nothing'
  const last = kept.at(-1) as Block
  world.blocks = [...kept, { number: gone.number, time: Math.max(last.time + 1, gone.time + shift) }]
  world.followed = Math.min(world.followed, last.number)
  const isPlanned = (entry: number) => world.entered.some((one) => one.entry === entry)
  const versions = world.ledger.versions.filter((one) => !isPlanned(one.entry) || (one.fromBlock ?? 0) <= last.number)
  const followedTime = kept.find((one) => one.number === world.followed)?.time ?? last.time
  const plans = world.entered.filter((one) => one.fromTime > followedTime)
  world.ledger = { ...world.ledger, versions, plans }
  followAll(world)
  return 'followed'
}

function doAct(world: World, one: Act): string {
  if (one.kind === 'plan') return enterPlan(world, one)
  if (one.kind === 'change') return enterNow(world, one)
  if (one.kind === 'cancel') return cancel(world, one)
  if (one.kind === 'open') return open(world, one)
  if (one.kind === 'mine') return mine(world, one)
  if (one.kind === 'reorganise') return reorganise(world, one)
  world.revoked.push({ key: one.key, headTime: headOf(world).time })
  return 'revoked'
}

function walk(first: Start, acts: Act[]): Walk {
  const world = begin(first)
  const sights: Ledger[] = []
  const lines: string[] = [fc.stringify(first)]
  for (const one of acts) {
    const { time } = headOf(world)
    const said = doAct(world, one)
    world.seen.add(`${one.kind}: ${said}`)
    lines.push(`${time} ${said}: ${fc.stringify(one)}`)
    sights.push(seenBy(world))
  }
  followAll(world)
  const { blocks, ledger, seen } = world
  const isIn = (all: { entry: number }[], { entry }: { entry: number }) => all.some((one) => one.entry === entry)
  const entered = {
    versions: ledger.versions.filter((one) => !isIn(world.entered, one)),
    plans: standing(world.entered, world.revoked),
  }
  const text = `\n${lines.join('\n')}\n${fc.stringify(world.entered)}\n${fc.stringify(blocks)}`
  return { sights, blocks, ledger, entered, seen, [fc.toStringMethod]: () => text }
}

/** `isForced: false`: all that is in the ledger was entered by the rules. `opens: false`: no step opens on the way. */
export function walks({ isForced = true, opens = true } = {}): fc.Arbitrary<Walk> {
  const lawful = (one: Act): Act => (one.kind === 'plan' && !isForced ? { ...one, isForced } : one)
  return fc
    .tuple(start, fc.array(act, { minLength: 2, maxLength: 14 }))
    .map(([first, acts]) => walk(first, acts.filter((one) => opens || one.kind !== 'open').map(lawful)))
}
