// Chooses the directory of embedded parts. A directory of the first version, whose contract this version cannot call, is left as it is. The
// one beside it is used, with a hint to the operator.
import type { Problem, ReadFile, Source } from './source.ts'

/** Suffix of the directory that is used instead. */
const BESIDE = '-2'

/** The directory, and a hint where it is not the one in the settings. */
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

/** Only a deployment of this version records its version. */
function isOfFirstVersion(directory: string, readFile: ReadFile): boolean {
  try {
    const deployment: unknown = JSON.parse(readFile(`${directory}/deployment.json`))
    return typeof deployment === 'object' && deployment !== null && !('version' in deployment)
  } catch {
    // Nothing was deployed from there, or it cannot be read: the start reports which.
    return false
  }
}
