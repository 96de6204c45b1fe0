// The command `node-ledger doctor`: checks everything that the service needs, one by one, and reports what is wrong and what to do. It changes
// nothing. If a part is down, it still checks everything else.
import { readFileSync } from 'node:fs'
import { attachDatabase, type DatabasePart } from '../boot/database.ts'
import { attachChain, type ChainPart, signersOf } from '../boot/parts.ts'
import type { Head } from '../chain/rpc/probe.ts'
import { createRpc } from '../chain/rpc/rpc.ts'
import { lookAtChain } from '../checks/chain.ts'
import { type Finding, findingOf, runChecks, type Verdict } from '../checks/check.ts'
import { lookAtDatabase } from '../checks/database.ts'
import { KEY_CHECKS, openEachKey } from '../checks/keys.ts'
import { LEDGER_CHECKS } from '../checks/ledger.ts'
import { lookAtPowers } from '../checks/owner.ts'
import { SALE_CHECKS } from '../checks/sale.ts'
import { SERVICE_CHECKS } from '../checks/service.ts'
import { WEBHOOK_CHECKS } from '../checks/webhooks.ts'
import { type Config, inspectConfig } from '../config/load.ts'
import { connect, type Pool } from '../db/core/sql.ts'
import { silentLog } from '../lib/log.ts'
import { type Call, EXIT, type ExitCode } from './command.ts'

const SIGNS: Readonly<Record<Verdict, string>> = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL', unknown: '?   ' }
/** The time limit for a provider. Longer than the service's, because one check may need several answers from a provider. */
const RPC_TIMEOUT_MS = 5_000

/** Runs the command: 0 if nothing is worse than a warning, 1 if something is wrong, 3 if we could not make some checks. */
export async function doctor({ io, out }: Call): Promise<ExitCode> {
  const { config, problems } = inspectConfig(io.env, { readFile: (path) => readFileSync(path, 'utf8') })
  const findings = [...(await runChecks(SERVICE_CHECKS, { config, problems })), ...(await lookAtParts(config))]
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

async function lookAtParts(config: Config): Promise<Finding[]> {
  await using stack = new AsyncDisposableStack()
  const findings: Finding[] = []
  const database = await attached('database', findings, () => attachDatabase(config))
  const { keys, findings: keyFindings } = await openEachKey(config)
  const chain = await attached('chain', findings, () => attachChain(config, async () => keys))
  const pool = database && open(database, stack)
  if (database && pool) findings.push(...(await lookAtDatabase({ part: database, pool })))
  const readable = findings.some(({ check, verdict }) => check === 'database.schema' && verdict === 'ok') ? pool : null
  if (chain) {
    const rpc = createRpc({ urls: chain.rpcUrls, log: silentLog, timeoutMs: RPC_TIMEOUT_MS })
    stack.defer(() => rpc.close())
    findings.push(...(await lookAtChain({ chain, rpc, staleSec: config.staleAfterSec, pool: readable, config })))
    findings.push(...(await lookAtPowers(chain.factory, rpc, readable)))
    const isClosed = ({ check }: Finding) => keyFindings.some((finding) => finding.check === check)
    const ofKeys = await runChecks(KEY_CHECKS, { config, chain, rpc, pool: readable })
    findings.push(...ofKeys.filter((finding) => !isClosed(finding)))
  }
  findings.push(...keyFindings)
  if (readable) {
    findings.push(...(await runChecks(SALE_CHECKS, { pool: readable, config })))
    findings.push(...(await runChecks(LEDGER_CHECKS, { pool: readable, config, ...knownOf(chain, findings) })))
  } else findings.push(findingOf('ledger', { unknown: 'no database, or no ledger in it' }))
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
    check === 'chain.provider' ? ((reading as { probe: { head?: Head } } | null)?.probe.head ?? []) : [],
  )
  const { minter, distributor } = chain ? signersOf(chain) : { minter: null, distributor: null }
  return {
    // A key that is missing here may be on another machine.
    signers: minter && distributor ? [minter, distributor] : null,
    head: heads.sort((a, b) => b.number - a.number)[0] ?? null,
  }
}
