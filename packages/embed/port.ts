// Finds free TCP ports on the loopback interface. Does not reserve them.
import { createServer } from 'node:net'

/** The only address that embedded parts listen on. */
export const LOOPBACK = '127.0.0.1'

/** True if nothing listens on this loopback port. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await listenOnce(port)) !== null
}

/** A port that was free a moment ago. Another process may take it first, so the caller tries again on failure. */
export async function findFreePort(): Promise<number> {
  const port = await listenOnce(0)
  if (port === null) throw new Error(`No free port on ${LOOPBACK}.`)
  return port
}

async function listenOnce(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(null))
    server.listen(port, LOOPBACK, () => {
      const address = server.address()
      const bound = typeof address === 'object' && address !== null ? address.port : null
      server.close(() => resolve(bound))
    })
  })
}
