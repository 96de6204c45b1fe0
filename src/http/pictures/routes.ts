// GET /og/node/:id.png, /og/round/:id.png and /og/sale.png: what a link to a page shows elsewhere. Pictures are no part of the API: the heads of
// the pages name them (pages/heads.ts). A figure on one is as old as its answer may be kept, and says as of when it is.
import type { Sql } from '../../db/core/sql.ts'
import { readPicturedNode, readPicturedRound } from '../../db/reads/pictured.ts'
import { Crowded } from '../../lib/semaphore.ts'
import { parseId } from '../edge/guards.ts'
import { cachedResponseOf, createMemo } from '../edge/memo.ts'
import { saleOf } from '../pages/heads.ts'
import { isRefusal, type Refusal, refuse } from '../refusals.ts'
import { type CachedOutcome, READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'
import type { Sale } from './card.ts'

const LIMIT_PER_MINUTE = 60
/** Seconds for which a picture is kept while the ledger stands still; a change forgets it at once. */
const KEPT_SEC = 30
/** A part of the memory that answers have, so that pictures never drive those out. */
const BYTES_MAX = 8 * 1024 * 1024
/** Seconds after which a place in the line is free again. */
const RETRY_SEC = 2

const FRESH = 'public, max-age=60'
const ASK_AGAIN = 'public, max-age=0, must-revalidate'

/** The routes of all pictures. */
export function pictures({ deps, queryReplica }: Tools): Route[] {
  const { changes, monotonicClock: clock, settings } = deps
  const sale: Sale = { ...saleOf(settings), host: new URL(settings.publicUrl).host }
  let opened: ReturnType<typeof openStudio> | null = null
  const memo = createMemo<CachedOutcome | null>({
    ...{ clock, changes, bytesMax: BYTES_MAX },
    bytesOf: (picture) => picture?.body.length ?? 0,
  })

  async function picture(draw: (cards: Cards) => string): Promise<CachedOutcome> {
    opened ??= openStudio(clock).catch((error) => {
      opened = null
      throw error
    })
    const { cards, painter } = await opened
    // PNG is compressed already.
    return { ...cachedResponseOf(await painter.paint(draw(cards))), encoding: 'identity' }
  }

  /** The route of a kind of thing that has an id. */
  const ofThing = <T>(
    kind: string,
    unknown: 'unknownNode' | 'unknownRound',
    read: (sql: Sql, id: bigint) => Promise<T | null>,
    draw: (cards: Cards, thing: T) => string,
  ): Route =>
    pictureRoute(`/og/${kind}/:id.png`, FRESH, async ({ params }) => {
      const id = parseId(params.id)
      if (isRefusal(id)) return id
      const made = await memo.get(`${kind} ${id}`, KEPT_SEC * 1000, async () => {
        const thing = await queryReplica((sql) => read(sql, id))
        return thing === null ? null : picture((cards) => draw(cards, thing))
      })
      return made ?? refuse(unknown)
    })

  return [
    ofThing('node', 'unknownNode', readPicturedNode, ({ nodeCard }, node) => nodeCard(sale, node)),
    ofThing('round', 'unknownRound', readPicturedRound, ({ roundCard }, round) => roundCard(sale, round)),
    pictureRoute('/og/sale.png', ASK_AGAIN, () => picture(({ saleCard }) => saleCard(sale))),
  ]
}

type Cards = typeof import('./card.ts')

/** What draws, loaded with the first picture: a start has no need of it. */
async function openStudio(clock: () => number) {
  const [cards, { Painter }] = await Promise.all([import('./card.ts'), import('./painter.ts')])
  return { cards, painter: new Painter(clock) }
}

function pictureRoute(
  path: string,
  cache: string,
  make: (call: Parameters<Route['handle']>[0]) => Promise<CachedOutcome | Refusal>,
): Route {
  return {
    ...{ path, cache, methods: ['GET'], contentType: 'image/png', countedAs: 'pictures' },
    ...{ limitPerMinute: LIMIT_PER_MINUTE, cors: false, deadlineMs: READ_DEADLINE_MS },
    handle: async (call) => {
      try {
        return await make(call)
      } catch (error) {
        if (error instanceof Crowded) return refuse('busy', [], RETRY_SEC)
        throw error
      }
    },
  }
}
