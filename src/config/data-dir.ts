// Where embedded parts live. A directory of the first version, whose contract this version cannot call, is left as it is: the one
// beside it is used, and the operator is told.
import type { Problem, ReadFile, Source } from './source.ts'

/** Ends the name of the directory that is used instead. */
const BESIDE = '-2'

/** The directory, and a hint where it is not the one that is named. */
export function readDataDir(
  source: Source,
  readFile: ReadFile,
  isEmbedded: boolean,
): { dataDir: string; hints: readonly Problem[] } {
  const named = source.get('DATA_DIR') ?? '.node-ledger'
  if (!isEmbedded || !isOfFirstVersion(named, readFile)) return { dataDir: named, hints: [] }
  const dataDir = `${named}${BESIDE}`
  const message = `(${named}) holds a ledger of the first version, which is left as it is: ${dataDir} is used instead`
  return { dataDir, hints: [{ setting: 'DATA_DIR', message }] }
}

/** Only a deployment of this version says which version it is. */
function isOfFirstVersion(directory: string, readFile: ReadFile): boolean {
  try {
    const deployment: unknown = JSON.parse(readFile(`${directory}/deployment.json`))
    return typeof deployment === 'object' && deployment !== null && !('version' in deployment)
  } catch {
    // Nothing was deployed from there, or it cannot be read: the start says which.
    return false
  }
}
