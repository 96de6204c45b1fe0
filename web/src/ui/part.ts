// Scripts that a page loads when it needs them.
import { ui } from '../words/ui.ts'

/** A script did not load. A browser may remember that for as long as the page is open, so only a reload helps (whatwg/html issue 6768). */
export class PartMissing extends Error {
  constructor(cause: unknown) {
    super(ui.states.missing, { cause })
  }
}

/** Imports a script. Throws PartMissing if it cannot. */
export async function part<T>(load: () => Promise<T>): Promise<T> {
  return load().catch((error: unknown) => {
    throw new PartMissing(error)
  })
}
