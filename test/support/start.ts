// Starts an instance on a world's chain, up to its checks of settings, chain and ledger.
import assert from 'node:assert/strict'
import { attachChain } from '../../src/boot/parts.ts'
import { chainPreflight, openLedgerChain } from '../../src/boot/preflight.ts'
import { loadConfig } from '../../src/config/load.ts'
import { worldEnv } from './cli.ts'
import type { World } from './world.ts'

/** Does to the world's ledger what a start with these settings does. `pool` replaces the world's ledger. @returns the messages. */
export async function startOn(world: World, env: Record<string, string> = {}, pool = world.pool): Promise<string[]> {
  const set = Object.fromEntries(Object.entries({ ...worldEnv(world), ...env }).filter(([, value]) => value !== ''))
  const config = loadConfig(set, { readFile: () => assert.fail('no file is read') })
  const part = await attachChain(config)
  assert.ok(part)
  const told: string[] = []
  await chainPreflight(config, pool, await openLedgerChain(pool, part, world.rpc), (line) => told.push(line))()
  return told
}
