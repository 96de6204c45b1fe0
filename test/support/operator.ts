// An operator's desk for tests: a complete ledger on real parts (world.ts), and the service's HTTP surface on it, with
// an admin key. It checks that no preview changes a row.
import assert from 'node:assert/strict'
import { operatorDeps } from '../../src/boot/app.ts'
import type { Rules } from '../../src/ports/contexts.ts'
import { type AskOptions, type Overrides, type Service, startService } from './http.ts'
import { type Answer, assertAsked } from './http-contract.ts'
import { digestsOfAll } from './postgres.ts'
import { startWorld, type World, type WorldOptions } from './world.ts'

export const KEYS = [
  { label: 'ada', key: 'admin-key-of-ada-0123456789abcdefg' },
  { label: 'grace', key: 'admin-key-of-grace-0123456789abcde' },
]

export interface Desk {
  world: World
  service: Service
  /** Sends a request under /api/admin with ada's key. Checks the request's fields, like every answer, against the operator's document. */
  get(path: string, options?: AskOptions): Promise<Answer>
  post(path: string, body?: unknown, options?: AskOptions): Promise<Answer>
  close(): Promise<void>
}

/** Starts a desk. */
export async function startDesk(
  rules: Partial<Rules> = {},
  options: WorldOptions & { http?: Overrides } = {},
): Promise<Desk> {
  const world = await startWorld(rules, options)
  const service = await startService({
    sql: world.pool,
    readSql: world.pool,
    operator: operatorDeps(world.ctx, world.pool),
    ...options.http,
    settings: { adminKeys: KEYS, ...options.http?.settings },
  })
  const withKey = (given: AskOptions = {}): AskOptions => ({
    ...given,
    headers: { 'x-admin-key': KEYS[0]?.key, ...given.headers },
  })
  return {
    world,
    service,
    async get(path, given) {
      const answer = await service.get(`/api/admin/${path}`, withKey(given))
      if (answer.status === 200) assertAsked('GET', `/api/admin/${path}`)
      return answer
    },
    async post(path, body, given) {
      const isDry = (body as { dryRun?: unknown } | undefined)?.dryRun === true
      const before = isDry && (await digestsOfAll(world.pool))
      const answer = await service.post(`/api/admin/${path}`, body, withKey(given))
      if (before) assert.deepEqual(await digestsOfAll(world.pool), before, `a preview of ${path} changed a row`)
      if (answer.status === 200) assertAsked('POST', `/api/admin/${path}`, body)
      // A change of a tier holds from the next second on, and blocks may come within one.
      if (answer.status === 200 && path.startsWith('tiers')) await world.chain.increaseTime(1)
      return answer
    },
    async close() {
      await service.close()
      await world.close()
    },
  }
}
