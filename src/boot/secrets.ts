// Generates the secrets that are not set, and keeps them in DATA_DIR/secrets.json. That file is written once, readable by its owner alone, and never
// printed.
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { KnownError } from '../lib/errors.ts'
import { PRIVATE_DIR_MODE, readIfExists, writeFileAtomic } from '../lib/files.ts'

/** Bytes of a secret (256 bits), which is written as hex. */
const SECRET_BYTES = 32

/**
 * Reads the named secrets from the data directory; generates and stores the ones that are missing. The caller holds the directory's lock. Throws a
 * KnownError if the file is damaged, because new secrets would unexpectedly end every session.
 */
export function loadOrCreateSecrets<Name extends string>(
  dataDir: string,
  names: readonly Name[],
): Record<Name, string> {
  const directory = resolve(dataDir)
  mkdirSync(directory, { recursive: true, mode: PRIVATE_DIR_MODE })
  const path = join(directory, 'secrets.json')
  const secrets = parse(readIfExists(path), path)
  const missing = names.filter((name) => secrets[name] === undefined)
  for (const name of missing) secrets[name] = randomBytes(SECRET_BYTES).toString('hex')
  if (missing.length > 0) writeFileAtomic(path, `${JSON.stringify(secrets, null, 2)}\n`)
  return Object.fromEntries(names.map((name) => [name, secrets[name]])) as Record<Name, string>
}

function parse(text: string | null, path: string): Record<string, string> {
  if (text === null) return {}
  try {
    const value: unknown = JSON.parse(text)
    if (isMap(value)) return value
  } catch {
    // Handled below: the error there explains what to do.
  }
  throw new KnownError(
    'refused',
    `${path} cannot be read as a map of secrets. Repair it, or delete it, so that the service generates new ones.`,
  )
}

function isMap(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((entry) => typeof entry === 'string')
}
