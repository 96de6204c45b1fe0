// The checks of the settings, and of the service on this machine.
import { loadEmbedded } from '../boot/embedded.ts'
import type { Config, Problem } from '../config/load.ts'
import { type Checks, check } from './check.ts'

/** How long we wait for the service. It answers almost immediately unless something is wrong. */
const SERVICE_TIMEOUT_MS = 3_000

interface ServiceExamined {
  readonly config: Config
  readonly problems: readonly Problem[]
}

const readSettings = ({ config: { hints, production }, problems }: ServiceExamined) => ({ hints, production, problems })

export const SERVICE_CHECKS: Checks<ServiceExamined> = {
  settings: check(null, readSettings, ({ hints, production, problems }) => {
    const wrong = problems.map(({ setting, message }) => ({
      says: `${setting} ${message}`,
      fail: `Correct ${setting}.`,
    }))
    const todo = 'Correct it, or unset it.'
    const warnings = hints.map(({ setting, message }) => ({ says: `${setting} ${message}`, warn: todo }))
    if (wrong.length + warnings.length > 0) return [...wrong, ...warnings]
    return production ? 'valid for production' : 'valid for development'
  }),

  /** Whether the service with these settings answers on this machine. */
  service: check(null, askService, ({ who, url, status }) => {
    if (url === null) return who === null ? 'not checked: PORT is 0' : `${who} runs`
    if (status === 200) return `${who ?? 'the service'} is ready at ${url}`
    const todo = 'Start it ("npm start", or "node-ledger start"), unless it runs on another machine.'
    if (status === null) return { says: `nothing answers at ${url}`, warn: todo }
    return { says: `${who ?? 'the service'} answers ${status} at ${url}`, fail: 'Its log shows why it is not ready.' }
  }),
}

/** Asks whether the service is ready. `who`: the process of this data directory; null if none runs. */
async function askService({ config: { HOST, PORT, embedded: embeddedParts, DATA_DIR } }: ServiceExamined) {
  const running = embeddedParts.database || embeddedParts.chain ? (await loadEmbedded()).findRunning(DATA_DIR) : null
  const who = running && `process ${running.pid}`
  const origin = running?.url ?? (PORT === 0 ? null : `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`)
  if (origin === null) return { who, url: null, status: null }
  const url = `${origin}/readyz`
  const answer = fetch(url, { signal: AbortSignal.timeout(SERVICE_TIMEOUT_MS) })
  return { who, url, status: await answer.then((response) => response.status).catch(() => null) }
}
