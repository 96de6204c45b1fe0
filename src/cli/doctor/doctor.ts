// The command `node-ledger doctor`: checks everything that the service needs, one by one, and reports what is wrong and what to do. It changes
// nothing. If a part is down, it still checks the rest.
import { readFileSync } from 'node:fs'
import { attachDatabase, type DatabasePart } from '../../boot/database.ts'
import { loadEmbedded } from '../../boot/embedded.ts'
import { attachChain, type ChainPart, signersOf } from '../../boot/parts.ts'
import type { Head } from '../../chain/rpc/probe.ts'
import { createRpc } from '../../chain/rpc/rpc.ts'
import { type Config, inspectConfig, type Problem } from '../../config/load.ts'
import { connect, type Pool } from '../../db/core/sql.ts'
import { silentLog } from '../../lib/log.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { lookAtChain } from './chain.ts'
import { type Checks, type Finding, findingOf, runChecks, type Verdict } from './check.ts'
import { lookAtDatabase } from './database.ts'
import { KEY_CHECKS, openEachKey } from './keys.ts'
import { LEDGER_CHECKS } from './ledger.ts'
import { lookAtPowers } from './powers.ts'
import { TERMS_CHECKS } from './terms.ts'
import { WEBHOOK_CHECKS } from './webhooks.ts'

const SIGNS: Readonly<Record<Verdict, string>> = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL', unknown: '?   ' }
/** The time limit for a provider. Longer than the service's, because one check may need several answers from a provider. */
const RPC_TIMEOUT_MS = 5_000
/** How long we wait for the service. It answers almost at once unless something is wrong. */
const SERVICE_TIMEOUT_MS = 3_000

/** Runs the command: 0 if nothing is worse than a warning, 1 if something is wrong, 3 if we could not make some checks. */
export async function doctor({ io, out }: Call): Promise<ExitCode> {
  const { config, problems } = inspectConfig(io.env, { readFile: (path) => readFileSync(path, 'utf8') })
  const findings = [...(await runChecks(CHECKS, { config, problems })), ...(await lookAtParts(config))]
  const worst = (['fail', 'unknown', 'warn', 'ok'] as const).find((verdict) =>
    findings.some((finding) => finding.verdict === verdict),
  )
  await out.result({ verdict: worst, findings }, () => findings.map(shown).join('\n'))
  const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length
  out.say(`${count('fail')} failed, ${count('warn')} warned, ${count('unknown')} not checked, ${count('ok')} passed.`)
  return worst === 'fail' ? EXIT.negative : worst === 'unknown' ? EXIT.unavailable : EXIT.done
}

function shown({ verdict, check, says, todo, runbook }: Finding): string {
  const next = `${todo}${runbook === null ? '' : ` (docs/RUNBOOK.md, "${runbook}")`}`
  return `${SIGNS[verdict]}  ${check}: ${says}${todo === null ? '' : `\n      -> ${next}`}`
}

const CHECKS: Checks<{ config: Config; problems: readonly Problem[] }> = {
  settings: ({ config, problems }) => {
    const wrong = problems.map(({ setting, message }) => ({
      says: `${setting} ${message}`,
      fail: `Correct ${setting}.`,
    }))
    const hints = config.hints.map(({ setting, message }) => ({
      says: `${setting} ${message}`,
      warn: 'Correct it, or unset it.',
    }))
    if (wrong.length + hints.length > 0) return [...wrong, ...hints]
    return config.production ? 'right, for production' : 'right, for development'
  },

  /** Whether the service with these settings answers on this machine. */
  service: async ({ config: { HOST, PORT, embedded, DATA_DIR } }) => {
    const running = embedded.database || embedded.chain ? (await loadEmbedded()).findRunning(DATA_DIR) : null
    const settled = `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`
    const url = `${running?.url ?? settled}/readyz`
    const who = running ? `process ${running.pid}` : 'the service'
    if (PORT === 0 && !running?.url) return running ? `${who} runs` : 'not asked: PORT is 0'
    try {
      const { status } = await fetch(url, { signal: AbortSignal.timeout(SERVICE_TIMEOUT_MS) })
      if (status === 200) return `${who} is ready at ${url}`
      return { says: `${who} answers ${status} at ${url}`, fail: 'Its log says why it is not ready.' }
    } catch {
      const todo = 'Start it ("npm start", or "node-ledger start"), unless it runs on another machine.'
      return { says: `nothing answers at ${url}`, warn: todo }
    }
  },
}

async function lookAtParts(config: Config): Promise<Finding[]> {
  await using stack = new AsyncDisposableStack()
  const findings: Finding[] = []
  const database = await attached('database', findings, () => attachDatabase(config))
  const { keys, findings: closed } = await openEachKey(config)
  const chain = await attached('chain', findings, () => attachChain(config, async () => keys))
  const pool = database && open(database, stack)
  if (database && pool) findings.push(...(await lookAtDatabase({ part: database, pool })))
  const readable = findings.some(({ check, verdict }) => check === 'database.schema' && verdict === 'ok') ? pool : null
  if (chain) {
    const rpc = createRpc({ urls: chain.rpcUrls, log: silentLog, timeoutMs: RPC_TIMEOUT_MS })
    stack.defer(() => rpc.close())
    findings.push(...(await lookAtChain({ chain, rpc, staleSec: config.staleAfterSec, pool: readable, config })))
    findings.push(...(await lookAtPowers(chain.factory, rpc, readable)))
    const isClosed = ({ check }: Finding) => closed.some((finding) => finding.check === check)
    const ofKeys = await runChecks(KEY_CHECKS, { config, chain, rpc, pool: readable })
    findings.push(...ofKeys.filter((finding) => !isClosed(finding)))
  }
  findings.push(...closed)
  if (readable) {
    findings.push(...(await runChecks(TERMS_CHECKS, { pool: readable, config })))
    findings.push(...(await runChecks(LEDGER_CHECKS, { pool: readable, config, ...knownOf(chain, findings) })))
  } else findings.push(findingOf('ledger', { unknown: 'no database to ask, or no ledger in it' }))
  const allowPrivate = config.WEBHOOK_ALLOW_PRIVATE
  findings.push(...(await runChecks(WEBHOOK_CHECKS, { allowPrivate, pool: readable })))
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
    if (!part)
      findings.push(findingOf(what, { unknown: `no service runs in this directory, and ${setting} is not set` }))
    return part
  } catch (error) {
    findings.push(findingOf(what, { unknown: (error as Error).message.split('\n').at(-1)?.trim() ?? '' }))
    return null
  }
}

function open({ url }: DatabasePart, stack: AsyncDisposableStack): Pool {
  const pool = connect(url, { max: 2, prepare: false, applicationName: 'node-ledger doctor' })
  stack.defer(() => pool.end({ timeout: 2 }))
  return pool
}

/** The signer accounts and the chain's head, if the other checks found them. */
function knownOf(chain: ChainPart | null, findings: readonly Finding[]) {
  const heads = findings.flatMap(({ check, reading }) =>
    check === 'chain.provider' ? ((reading as { head?: Head } | null)?.head ?? []) : [],
  )
  const { minter, distributor } = chain ? signersOf(chain) : { minter: null, distributor: null }
  return {
    // A key that is missing here may be on another machine.
    signers: minter && distributor ? [minter, distributor] : null,
    head: heads.sort((a, b) => b.number - a.number)[0] ?? null,
  }
}
