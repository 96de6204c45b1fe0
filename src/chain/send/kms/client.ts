// The clients of key management services: their vendors' own packages, which are optional. These find credentials and addresses. Here we
// load one, and limit a request in time. Errors name who refused, and why, but quote nothing that we sent.
import { codeOf, KnownError, messageOf } from '../../../lib/errors.ts'
import { SignerFault } from '../../../ports/faults.ts'

/** A cloud service answers within a tenth of a second; one with a hardware module answers within a second. */
export const TIMEOUT_MS = 10_000
const REASON_CHARS_MAX = 300

/** The package of a client is not installed. The message explains how to install it. */
export class ClientMissing extends KnownError {
  override readonly name = 'ClientMissing'
}

/** Loads a vendor's package, of the major version that we know. Throws a ClientMissing if it is not installed. */
export async function loadClient<Package>(name: string, load: () => Promise<Package>): Promise<Package> {
  try {
    return await load()
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new ClientMissing(
      'usage',
      `needs the package ${name}, which is not installed: "npm install --no-save ${name}", or add it to the image (docs/RUNBOOK.md, "Where the keys are")`,
    )
  }
}

/** The bytes that `request` returns. Throws a SignerFault if the service refuses, answers without them, or does not answer in time. */
export async function ask(
  service: string,
  timeoutMs: number,
  request: (signal: AbortSignal) => Promise<Uint8Array | undefined>,
): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(timeoutMs)
  // The clients do not pass the signal on to what fetches their credentials.
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new SignerFault(`${service} does not answer in time`)))
  })
  const bytes = await Promise.race([request(signal), late]).catch((error: unknown) => {
    if (error instanceof SignerFault) throw error
    throw new SignerFault(`${service}: ${reasonOf(error)}`)
  })
  if (bytes === undefined || bytes.length === 0) throw new SignerFault(`${service} answered without what we asked for`)
  return bytes
}

/** The first line of the reason. In further lines AWS quotes our request, including the token. */
function reasonOf(error: unknown): string {
  const name = error instanceof Error && error.name.endsWith('Exception') ? `${error.name}: ` : ''
  return `${name}${messageOf(error)}`.split('\n', 1).join('').slice(0, REASON_CHARS_MAX)
}
