// Cache keys that the code composes: two different questions have two different keys, whatever digits and names they contain.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { inspectConfig } from '../../src/config/load.ts'
import type { Call, Route } from '../../src/http/route.ts'
import { cover } from '../../src/http/routes/cover.ts'
import { deployQuote } from '../../src/http/routes/deploy-quote.ts'
import { node } from '../../src/http/routes/node.ts'
import { pages } from '../../src/http/routes/pages.ts'
import { canBuy } from '../../src/http/routes/payments/can-buy.ts'
import {
  distributions,
  nodesOfAddress,
  payment,
  paymentsOfAddress,
  stats,
  tiers,
  transaction,
  turns,
} from '../../src/http/routes/reads.ts'
import { wellKnown } from '../../src/http/routes/well-known.ts'
import type { Tools } from '../../src/http/tools.ts'

const SRC = new URL('../../src/', import.meta.url).pathname
const QUOTED = 'basic'

/** The key of the last cached page, and tools that cache nothing. */
let key: string | null = null
const tools = {
  deps: {
    settings: { quoteTier: QUOTED, chainId: 1, publicUrl: 'http://127.0.0.1:3000', frameAncestors: [] },
    checksum: (text: string) => text,
    clock: () => 0,
    monotonicClock: () => 0,
  },
  // The ids of all tiers, where a page asks for them.
  queryReplica: async () => [QUOTED, 'b', '1'],
  cached: (asked: string) => {
    key = asked
    return { body: '', etag: '' }
  },
} as unknown as Tools

interface Question {
  route: Route
  params?: Call['params']
  query?: Record<string, string>
}
const keyOf = async ({ route, params = {}, query = {} }: Question): Promise<string> => {
  key = null
  await route.handle({ target: { params, query }, params, query } as unknown as Call)
  return key ?? assert.fail(`${route.path} keeps no page`)
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1))

/** Every question with one or two digits, and similar ones, by its content. */
function* questions(): Generator<[string, Question]> {
  const [ofNode, ofTurns, ofRounds] = [node(tools), turns(tools), distributions(tools)]
  for (const limit of upTo(200)) {
    yield [`rounds, ${limit}`, { route: ofRounds, query: { limit } }]
    for (const id of upTo(22)) yield [`node ${id}, ${limit}`, { route: ofNode, params: { id }, query: { limit } }]
  }
  for (const id of upTo(12))
    for (const limit of upTo(22))
      for (const offset of ['0', ...upTo(22)])
        yield [`turns of ${id}, ${limit} from ${offset}`, { route: ofTurns, params: { id }, query: { limit, offset } }]
  const [ofWallet, ofPayer, ofPayment] = [nodesOfAddress(tools), paymentsOfAddress(tools), payment(tools)]
  const ofTransaction = transaction(tools)
  for (const digit of ['0', '1', 'a']) {
    const params = { address: `0x${digit.repeat(40)}` }
    yield [`nodes of ${digit}`, { route: ofWallet, params }]
    for (const limit of upTo(22)) yield [`payments of ${digit}, ${limit}`, { route: ofPayer, params, query: { limit } }]
    yield [`transaction ${digit}`, { route: ofTransaction, params: { hash: `0x${digit.repeat(64)}` } }]
    yield [`payment ${digit}`, { route: ofPayment, params: { hash: `0x${digit.repeat(64)}` } }]
  }
  const buying = canBuy(tools)
  for (const tier of [QUOTED, '1', 'b'])
    for (const digit of ['0', 'a'])
      yield [
        `whether ${digit} can buy ${tier}`,
        { route: buying, params: { address: `0x${digit.repeat(40)}` }, query: { tier } },
      ]
  const quote = deployQuote(tools)
  // A request without a tier is for the quoted one.
  yield [`quote of ${QUOTED}`, { route: quote }]
  for (const tier of [QUOTED, 'b', 'basic-1', '1', '11', 'stats', 'tiers', 'cover'])
    yield [`quote of ${tier}`, { route: quote, query: { tier } }]
  yield ['stats', { route: stats(tools) }]
  yield ['tiers', { route: tiers(tools) }]
  yield ['cover', { route: cover(tools) }]
  yield ['well-known', { route: wellKnown(tools) }]
  yield* shops()
}

/** The pages whose first paint shows what is on sale. */
function* shops(): Generator<[string, Question]> {
  for (const route of pages(tools)) {
    if (['/', '/tiers', '/buy'].includes(route.path)) yield [`page ${route.path}`, { route }]
    if (route.path !== '/buy/:id') continue
    for (const id of [QUOTED, 'b', '1']) yield [`page of ${id}`, { route, params: { id } }]
  }
}

test('two pages that differ in anything are kept under two keys, and one page under one', async () => {
  const byKey = new Map<string, string>()
  const byAsked = new Map<string, string>()
  for (const [asked, question] of questions()) {
    const kept = await keyOf(question)
    assert.equal(byKey.get(kept) ?? asked, asked, `both are kept under "${kept}"`)
    assert.equal(byAsked.get(asked) ?? kept, kept, asked)
    byKey.set(kept, asked)
    byAsked.set(asked, kept)
  }
})

test('no other route keeps pages', () => {
  const keeping = globSync('http/routes/**/*.ts', { cwd: SRC }).filter((file) =>
    /\bcached\(/.test(readFileSync(SRC + file, 'utf8')),
  )
  const tried = ['cover', 'cron-health', 'well-known', 'deploy-quote', 'node', 'pages', 'payments/can-buy', 'reads']
  assert.deepEqual(keeping.sort(), tried.map((name) => `http/routes/${name}.ts`).sort())
})

test('no admin key has a label which the service uses itself in the ledger', () => {
  const names = new Set(
    globSync('**/*.ts', { cwd: SRC }).flatMap((file) => {
      const text = readFileSync(SRC + file, 'utf8')
      const said = text.matchAll(/\b(?:actor|by|enteredBy|recordedBy|updatedBy): '([A-Za-z]+)'/g)
      const given = text.matchAll(
        /\b(?:writeDrift|clearHalt|insertFirst\w+|addFirst\w+|seedTiers)\([^()]*, '([A-Za-z]+)'\)/g,
      )
      return [...said, ...given].map((match) => match[1] ?? '')
    }),
  )
  // The contract skips orders: it is named as evidence, and decides nothing. Trends are hourly.
  names.delete('contract')
  names.delete('hour')
  for (const expected of ['pass', 'start', 'refundCheck', 'rebuild']) assert.ok(names.has(expected), expected)
  for (const name of names) {
    const env = { NODE_ENV: 'test', ADMIN_KEY: `${name}:${'k3y'.repeat(8)}` }
    const { problems } = inspectConfig(env, { readFile: () => assert.fail() })
    assert.match(problems.map(({ message }) => message).join(), /which the service uses itself/, name)
  }
})
