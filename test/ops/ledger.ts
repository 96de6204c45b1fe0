// A service on the test's own database whose passes run when the test says so, with the acts of a buyer and of a
// scheduler. The chain is the embedded one: it stays with the data directory from one start to the next.
import { type Service, startService, type WellKnown, wallet } from '../support/service.ts'
import { until } from '../support/until.ts'

const CRON_KEY = 'cron-key-of-the-tests-0123456789ab'
const ADMIN_KEY = 'admin-key-of-the-tests-0123456789a'
const BASIC_WEI = 10n ** 16n

export interface LedgerService extends Service {
  /** Runs a pass, as the scheduler does. */
  pass(name: 'payments' | 'credit'): Promise<void>
  /** Pays for a node and waits until the transfer is in a block; no pass has run. */
  pay(account: number): Promise<`0x${string}`>
  /** Buys a node, and waits for it. */
  buy(account: number): Promise<void>
  /** Runs passes until so many nodes are in the ledger, by the public reads. */
  nodes(count: number): Promise<void>
  /** An admin read; an act if there is a body. */
  admin<T>(path: string, body?: object): Promise<T>
}

/** Starts one with the tests' common settings. `main` is the file to run, if it is not this tree's. */
export async function startLedger(dataDir: string, env: Record<string, string>, main?: string): Promise<LedgerService> {
  const settings = {
    SCHEDULER: 'off',
    CRON_KEY,
    ADMIN_KEY,
    LOG_LEVEL: 'warn',
    CREDIT_INTERVAL_SEC: '10',
    CREDIT_SLOT_SEC: '5',
    TICK_SEC: '5',
    ...env,
  }
  const service = await startService(dataDir, settings, undefined, undefined, main)
  const chain = await service.get<WellKnown>('/.well-known/node-ledger.json')
  const pass: LedgerService['pass'] = async (name) => {
    const answer = await fetch(`${service.url}/api/cron/${name}`, {
      method: 'POST',
      headers: { 'x-cron-key': CRON_KEY },
    })
    if (!answer.ok) throw new Error(`the pass ${name}: ${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
  }
  const nodes: LedgerService['nodes'] = async (count) => {
    await until(`${count} nodes in the ledger`, async () => {
      await pass('payments')
      const { totalNodes } = await service.get<{ totalNodes: number }>('/api/stats')
      return totalNodes >= count
    })
  }
  const ledger: LedgerService = {
    ...service,
    pass,
    nodes,
    pay: (account) => wallet(account, chain).pay(chain.paymentAddress, BASIC_WEI),
    buy: async (account) => {
      const { totalNodes } = await service.get<{ totalNodes: number }>('/api/stats')
      await ledger.pay(account)
      await nodes(totalNodes + 1)
    },
    admin: async <T>(path: string, body?: object) => {
      const answer = await fetch(`${service.url}/api/admin/${path}`, {
        headers: { 'x-admin-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      })
      if (!answer.ok) throw new Error(`/api/admin/${path}: ${answer.status} ${await answer.text()}`)
      return (await answer.json()) as T
    },
  }
  return ledger
}
