// One field somewhere in one answer is not what it must be, for random answers of random methods, while the service does its business. Each call
// succeeds or throws a fault of the chain, and once the provider answers properly again, the ledger equals the chain. PROPERTY_SCALE plays longer,
// PROPERTY_SEED replays.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContractReader } from '../../../src/chain/factory/contract.ts'
import { createNodeHistory } from '../../../src/chain/factory/history.ts'
import { createRpc } from '../../../src/chain/rpc/rpc.ts'
import { createSyncer } from '../../../src/claims/sync.ts'
import type { EvidenceMode } from '../../../src/domain/observed.ts'
import { type Hash, wei } from '../../../src/domain/units.ts'
import { KnownError } from '../../../src/lib/errors.ts'
import { createLog } from '../../../src/lib/log.ts'
import { findWrong, readTruth } from '../../evidence/truth.ts'
import { proveTheRest } from '../../support/faults/believed.ts'
import { checkInvariants } from '../../support/invariants.ts'
import { cases, randomBelow } from '../../support/property.ts'
import { setModeTo, throughTwo } from '../../support/two-providers.ts'
import { contextOf, ETHER, enterTier, startWorld, type World, worldOn } from '../../support/world.ts'
import type { FalseProvider, Rule } from '../false-provider.ts'
import { type Dice, one, spoiltAnswer } from './spoil.ts'

const PRICE = ETHER / 100n
/** After so many cases the ledger is compared with the chain. */
const COMPARE_EVERY = 10
const TIMEOUT_MS = 2_000
const { PROPERTY_SEED } = process.env

interface Stand {
  world: World
  providers: readonly FalseProvider[]
  urls: readonly string[]
}

async function startStand(mode: EvidenceMode): Promise<Stand> {
  const { between, providers } = throughTwo()
  let urls: readonly string[] = []
  const world = await startWorld(
    { trustsProvider: false },
    {
      maxPerWallet: 250n,
      async between(target) {
        const path = await between(target)
        urls = path.urls
        return path
      },
    },
  )
  await enterTier(world, { tierId: 'basic', tierNo: 1, priceWei: wei(PRICE), maxPerWallet: 250 })
  await world.chain.mine()
  await world.pay(5, PRICE)
  for (let block = 0; block < 5; block++) await world.chain.mine()
  await world.rest()
  if (mode === 'agreed') await setModeTo(world.pool, mode)
  return { world, providers, urls }
}

/** The service after a restart: it remembers nothing of its providers. `lines`: what it logs. */
function openService({ world }: Stand, urls: readonly string[], lines: string[]) {
  const log = createLog('warn', (line) => lines.push(line))
  const rpc = createRpc({ urls, log, timeoutMs: TIMEOUT_MS, retryPauseMs: 0 })
  const ctx = { ...contextOf({ ...world, rpc }, { trustsProvider: false }), lock: world.ctx.lock, log }
  return { rpc, service: worldOn({ ...world, rpc, ctx, close: async () => {} }) }
}

/** Payments, a stranger's transfer, a failed call, and a turn that falls due. */
async function doBusiness({ world }: Stand, dice: Dice): Promise<void> {
  const { pay, at, chain } = world
  for (let left = dice(3); left > 0; left--) await pay(5 + dice(5), one(dice, [PRICE, PRICE, PRICE * 2n]))
  if (dice(2) === 0) await pay(7, 1n, at(8))
  if (dice(3) === 0) {
    const due = (await world.read<bigint[]>('cohort', [1n]))[2] ?? 0n
    const { timestamp } = await chain.block()
    if (due > BigInt(timestamp)) await chain.setNextTime(Number(due) + 2)
  }
  await chain.mine(1 + dice(2))
}

/** Spoils one of the next `answers`, each answer of a method, or a part of all. `note` is called for each. */
function spoiling(dice: Dice, { answers, note }: { answers: number; note: (words: string) => void }): Rule {
  const kind = one(dice, ['once', 'once', 'method', 'some'] as const)
  let left = dice(answers)
  let method: string | null = null
  return async (call, forward) => {
    const answer = await forward()
    if (kind === 'some' ? dice(4) > 0 : left-- > 0) return answer
    method ??= call.method
    if (kind === 'once' ? left < -1 : kind === 'method' && call.method !== method) return answer
    const spoilt = spoiltAnswer(dice, answer)
    note(`${call.method} ${JSON.stringify(call.params).slice(0, 80)}: ${JSON.stringify(spoilt)?.slice(0, 300)}`)
    return spoilt
  }
}

type Act = [name: string, act: (service: World) => Promise<unknown>]
/** What the service reads for requests and commands. */
const READS: Act[] = [
  ['head', ({ ctx }) => ctx.chain.head()],
  ['finalized', ({ ctx }) => ctx.chain.finalized()],
  ['chain id', ({ ctx }) => ctx.chain.chainId()],
  ['balance', async ({ ctx, at }) => ctx.chain.balanceAt(at(3), await ctx.chain.head())],
  [
    'code',
    async ({ ctx, at, factory }) => ctx.chain.payerCode(one(randomBelow(1), [factory, at(5)]), await ctx.chain.head()),
  ],
  ['holding', async ({ ctx, at, token }) => ctx.chain.holding(token, at(4), await ctx.chain.head())],
  ['observe', observe],
  ['mode', ({ ctx }) => ctx.chain.proofs.findMode()],
  [
    'first block',
    async ({ ctx }) =>
      ctx.chain.agreedFirstBlockAt((await ctx.chain.head()).time - 30, (await ctx.chain.head()).number),
  ],
  ['transaction', async ({ ctx, pool }) => ctx.chain.transaction(await somePayment(pool))],
  ['mined transaction', async ({ ctx, pool }) => ctx.chain.minedTransaction(await somePayment(pool))],
  ['inner transfers', async ({ ctx, pool, at }) => ctx.chain.innerTransfers(await somePayment(pool), at(3))],
  ['block transfers', async ({ ctx, at }) => ctx.chain.blockTransfers(await ctx.chain.head(), [at(3)])],
  ['logged blocks', async ({ ctx }) => ctx.chain.survey.loggedBlocks(1, (await ctx.chain.head()).number)],
  ['counters', async ({ ctx }) => ctx.contract.counters((await ctx.chain.head()).number)],
  ['wallet', ({ rpc, factory, at }) => createContractReader(rpc, factory).walletFacts(at(5))],
  ['nodes', async ({ ctx }) => ctx.contract.nodes(1n, 2, await ctx.chain.head())],
  [
    'history',
    async ({ rpc, factory, ctx }) => createNodeHistory(rpc, factory).logsOfNode(1n, 1, (await ctx.chain.head()).number),
  ],
  ['fees', ({ ctx }) => Promise.all([ctx.minter?.fees(), ctx.minter?.nonce()])],
  ['sync of a node', ({ ctx, payments }) => createSyncer(ctx, payments).byNodeId(1n)],
  [
    'sync of a transaction',
    async ({ ctx, payments, pool, at }) => createSyncer(ctx, payments).byTransaction(await somePayment(pool), at(9)),
  ],
]

async function observe({ ctx }: World): Promise<unknown> {
  const { number } = await ctx.chain.head()
  return ctx.chain.observe(Math.max(1, number - 3), number, null)
}

async function somePayment(pool: World['pool']): Promise<Hash> {
  const [row] = await pool<{ txHash: Hash }[]>`SELECT tx_hash AS "txHash" FROM payments ORDER BY tx_hash LIMIT 1`
  return row?.txHash ?? (`0x${'1'.repeat(64)}` as Hash)
}

/** Throws if a value has a number that is none, or one that is not exact. */
function assertNumbers(value: unknown): void {
  if (typeof value === 'number')
    assert.ok(Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER, `${value}`)
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) assertNumbers(part)
}

/** What an act did that it must not, in words; null if it returned a value, or threw a fault of the chain. */
async function mistakeOf([name, act]: Act, service: World): Promise<string | null> {
  try {
    assertNumbers(await act(service))
    return null
  } catch (error) {
    return error instanceof KnownError ? null : `${name}: ${(error as Error)?.stack}`
  }
}

/** Lines of the log about errors that are none of our own. */
const bugsIn = (lines: readonly string[]) =>
  lines.filter((line) => !/^(undefined|\w*Fault|KnownError)$/.test(String(JSON.parse(line).err?.type)))

/** One act of a service that has just started, while one of its providers spoils answers. Returns what the service did that it must not. */
async function playAct(stand: Stand, dice: Dice, act: Act): Promise<string[]> {
  const isAlone = dice(3) === 0
  const [first, second] = stand.providers as [FalseProvider, FalseProvider]
  const lines: string[] = []
  const spoilt: string[] = []
  const { rpc, service } = openService(stand, isAlone ? stand.urls.slice(0, 1) : stand.urls, lines)
  const isPass = PASSES.includes(act)
  const rule = spoiling(dice, { answers: isPass ? 30 : 6, note: (words) => spoilt.push(words) })
  one(dice, isAlone ? [first] : [first, first, second]).rule = rule
  try {
    const mistake = await mistakeOf(act, service)
    const found = [...(mistake === null ? [] : [mistake]), ...bugsIn(lines)]
    return found.length === 0 ? [] : [...found, ...spoilt]
  } finally {
    for (const provider of stand.providers) provider.rule = () => undefined
    await rpc.close()
  }
}

const PASSES: Act[] = [
  ['payments', (of) => of.payments()],
  ['credit', (of) => of.credit()],
]

/** One case: some business, then a few acts. */
async function play(stand: Stand, dice: Dice): Promise<string[]> {
  await doBusiness(stand, dice)
  const found: string[] = []
  for (const act of [...PASSES, ...Array.from({ length: 4 }, () => one(dice, READS))])
    found.push(...(await playAct(stand, dice, act)))
  return found
}

const ROUNDS: [mode: EvidenceMode, usual: number][] = [
  ['proven', 16],
  ['agreed', 6],
]

for (const [mode, usual] of ROUNDS)
  test(`a ledger of mode ${mode} ends up right if any field of an answer is spoilt`, async () => {
    const stand = await startStand(mode)
    const seed = PROPERTY_SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(PROPERTY_SEED)
    const count = cases(usual)
    try {
      for (let index = 0; index < count; index++) {
        const why = `PROPERTY_SEED=${seed}, case ${index}`
        assert.deepEqual(await play(stand, randomBelow(seed + index)), [], why)
        if (index % COMPARE_EVERY < COMPARE_EVERY - 1 && index < count - 1) continue
        await proveTheRest(stand.world)
        await checkInvariants(stand.world).catch((error: Error) => assert.fail(`${why}: ${error.stack}`))
        assert.deepEqual(await findWrong(stand.world, await readTruth(stand.world)), [], why)
      }
    } finally {
      await stand.world.close()
    }
  })
