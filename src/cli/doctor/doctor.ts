// The command `node-ledger doctor`: checks everything that the service needs, each by itself, and says what is wrong and what to do.
// It changes nothing, and a part that is down does not stop it.
import { readFileSync } from 'node:fs'
import { attachDatabase, type DatabasePart } from '../../boot/database.ts'
import { loadEmbedded } from '../../boot/embedded.ts'
import { attachChain, type ChainPart, signersOf } from '../../boot/parts.ts'
import { createRpc } from '../../chain/rpc/rpc.ts'
import { type Config, inspectConfig } from '../../config/load.ts'
import { connect, type Pool } from '../../db/core/sql.ts'
import { silentLog } from '../../lib/log.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { lookAtChain } from './chain.ts'
import { lookAtDatabase } from './database.ts'
import { type Finding, fail, look, ok, unknown, type Verdict, warn } from './finding.ts'
import { lookAtKeys } from './keys.ts'
import { lookAtLedger } from './ledger.ts'
import { lookAtPowers, lookAtThefts } from './powers.ts'
import { lookAtSigners, openEachKey } from './signers.ts'
import { lookAtTerms } from './terms.ts'
import { lookAtWebhooks } from './webhooks.ts'

const SIGNS: Readonly<Record<Verdict, string>> = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL', unknown: '?   ' }
/** A check of a provider may need several answers. */
const RPC_TIMEOUT_MS = 5_000
/** The service answers this at once, or is not well. */
const SERVICE_TIMEOUT_MS = 3_000

/** Runs the command: 0 when nothing is worse than a warning, 1 when something is wrong, 3 when not all could be looked at. */
export async function doctor({ io, out }: Call): Promise<ExitCode> {
  const { config, problems } = inspectConfig(io.env, { readFile: (path) => readFileSync(path, 'utf8') })
  const findings = [
    ...settings(config, problems),
    ...(await look('service', () => lookAtService(config))),
    ...(await lookAtParts(config)),
  ]
  const worst = (['fail', 'unknown', 'warn', 'ok'] as const).find((verdict) =>
    findings.some((finding) => finding.verdict === verdict),
  )
  await out.result({ verdict: worst, findings }, () => findings.map(shown).join('\n'))
  const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length
  out.say(
    `${count('fail')} wrong, ${count('warn')} to be looked at, ${count('unknown')} not known, ${count('ok')} well.`,
  )
  return worst === 'fail' ? EXIT.negative : worst === 'unknown' ? EXIT.unavailable : EXIT.done
}

function shown({ verdict, check, says, todo }: Finding): string {
  return `${SIGNS[verdict]}  ${check}: ${says}${todo === null ? '' : `\n      -> ${todo}`}`
}

function settings(config: Config, problems: readonly { setting: string; message: string }[]): Finding[] {
  const wrong = problems.map(({ setting, message }) => fail('settings', `${setting} ${message}`, `Correct ${setting}.`))
  const hints = config.hints.map(({ setting, message }) =>
    warn('settings', `${setting} ${message}`, 'Correct it, or unset it.'),
  )
  if (wrong.length + hints.length > 0) return [...wrong, ...hints]
  return [ok('settings', config.production ? 'right, for production' : 'right, for development')]
}

/** Checks that the service of these settings answers, on this machine. */
async function lookAtService({ HOST, PORT, embedded, DATA_DIR }: Config): Promise<Finding> {
  const running = embedded.database || embedded.chain ? (await loadEmbedded()).findRunning(DATA_DIR) : null
  const settled = `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`
  const url = `${running?.url ?? settled}/readyz`
  const who = running ? `process ${running.pid}` : 'the service'
  if (PORT === 0 && !running?.url) return ok('service', running ? `${who} runs` : 'not asked: PORT is 0')
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(SERVICE_TIMEOUT_MS) })
    if (status === 200) return ok('service', `${who} is ready at ${url}`)
    return fail('service', `${who} answers ${status} at ${url}`, 'Its log says why it is not ready.')
  } catch {
    const todo = 'Start it ("npm start", or "node-ledger start"), unless it runs on another machine.'
    return warn('service', `nothing answers at ${url}`, todo)
  }
}

async function lookAtParts(config: Config): Promise<Finding[]> {
  await using stack = new AsyncDisposableStack()
  const findings: Finding[] = []
  const database = await attached('database', findings, () => attachDatabase(config))
  const { keys, findings: closed } = await openEachKey(config)
  const chain = await attached('chain', findings, () => attachChain(config, async () => keys))
  const pool = database && open(database, stack)
  if (database && pool) findings.push(...(await lookAtDatabase(database, pool, config.DATABASE_PREPARE)))
  const readable = findings.some(({ check, verdict }) => check === 'database.schema' && verdict === 'ok') ? pool : null
  if (chain) {
    const rpc = createRpc({ urls: chain.rpcUrls, log: silentLog, timeoutMs: RPC_TIMEOUT_MS })
    stack.defer(() => rpc.close())
    findings.push(...(await lookAtChain(chain, rpc, { staleSec: config.STALE_AFTER_SEC, pool: readable })))
    findings.push(...(await lookAtPowers(chain.factory, rpc, readable)))
    const roles = closed.map(({ check }) => check)
    findings.push(...(await lookAtKeys(config, chain, readable)).filter(({ check }) => !roles.includes(check)))
    findings.push(...(await lookAtSigners(config, chain)))
  }
  findings.push(...closed)
  if (readable) {
    findings.push(...(await look('terms', () => lookAtTerms(readable, config))))
    findings.push(...(await lookAtLedger(readable, ledgerOptions(config, chain, findings))))
    findings.push(...(await lookAtThefts(readable)))
  } else findings.push(unknown('ledger', 'there is no database to ask, or no ledger in it'))
  findings.push(...(await lookAtWebhooks(config.WEBHOOK_ALLOW_PRIVATE, readable)))
  return findings
}

async function attached<Part extends DatabasePart | ChainPart>(
  what: 'database' | 'chain',
  findings: Finding[],
  attach: () => Promise<Part | null>,
): Promise<Part | null> {
  try {
    const part = await attach()
    const setting = what === 'database' ? 'DATABASE_URL' : 'RPC_URL'
    if (!part) findings.push(unknown(what, `no service runs in this directory, and ${setting} is not set`))
    return part
  } catch (error) {
    findings.push(unknown(what, (error as Error).message.split('\n').at(-1)?.trim() ?? ''))
    return null
  }
}

function open({ url }: DatabasePart, stack: AsyncDisposableStack): Pool {
  const pool = connect(url, { max: 2, prepare: false, applicationName: 'node-ledger doctor' })
  stack.defer(() => pool.end({ timeout: 2 }))
  return pool
}

function ledgerOptions(config: Config, chain: ChainPart | null, findings: readonly Finding[]) {
  const heads = findings.flatMap(({ check, reading }) =>
    check === 'chain.provider' && reading !== null
      ? [(reading as { head?: { number: number } }).head?.number ?? 0]
      : [],
  )
  const { minter, distributor } = chain ? signersOf(chain) : { minter: null, distributor: null }
  return {
    // A key that is not here may well be on another machine.
    signers: minter && distributor ? [minter, distributor] : null,
    staleAfterSec: config.STALE_AFTER_SEC,
    timer: config.SCHEDULER,
    quoteTier: config.QUOTE_TIER,
    headBlock: heads.length > 0 ? Math.max(...heads) : null,
  }
}
