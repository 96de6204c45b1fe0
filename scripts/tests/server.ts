// The environment of a run of the checks: one throw-away PostgreSQL for all of them. Ends everything when the parent
// process is gone or asks for it. Knows nothing about the checks.
import { onParentGone } from '../../src/lib/parent.ts'
import { SERVER_VARIABLE, startTestPostgres } from '../../test/support/postgres.ts'
import { removeStaleDirectories } from '../../test/support/temporary.ts'

/**
 * Starts a server that every test and script in `run` finds in the environment, and calls `run` with a signal that ends
 * it early. The server is gone when this resolves.
 */
export async function withTestServer<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  removeStaleDirectories()
  const server = await startTestPostgres()
  process.env[SERVER_VARIABLE] = server.url
  const abort = new AbortController()
  const forget = onStarterGone(() => abort.abort())
  try {
    return await run(abort.signal)
  } finally {
    forget()
    await server.stop()
    removeStaleDirectories()
  }
}

function onStarterGone(stop: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  // Not `once`, because npm and the launcher each forward a signal, and the second would end this process half way.
  for (const signal of signals) process.on(signal, stop)
  const { NODE_LEDGER_LAUNCHER_PID: launcher } = process.env
  const unwatch = onParentGone(launcher === undefined ? null : Number(launcher), stop)
  return () => {
    for (const signal of signals) process.off(signal, stop)
    unwatch()
  }
}
