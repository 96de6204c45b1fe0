// The command `node-ledger restore`: restores a backup into an empty database, and compares the two. Prints what the restored ledger cannot know.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { connect, type Pool } from '../../db/core/sql.ts'
import { revokeAllKeys } from '../../operator/acts/keys/admin-keys.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, emptyDatabaseUrl } from '../database.ts'
import { RefusedError } from '../errors.ts'
import { DUMP, digestOf, MANIFEST, type Manifest, readContents, runTool } from './tools.ts'

export async function restore(call: Call): Promise<ExitCode> {
  const { out, args, flags, signal } = call
  const url = emptyDatabaseUrl(call, 'RESTORE_DATABASE_URL')
  const folder = args.folder ?? ''
  const file = join(folder, DUMP)
  const manifest = readManifest(folder)
  if ((await digestOf(file)) !== manifest.sha256)
    throw new RefusedError(
      `${file} has changed since it was written: its digest differs from the manifest's. Use another backup.`,
    )
  const pool = connect(url, { max: 1, prepare: false, applicationName: 'node-ledger restore' })
  try {
    const [row] = await pool<{ n: number }[]>`SELECT count(*) AS n FROM pg_tables WHERE schemaname = 'public'`
    if (Number(row?.n) > 0) throw new RefusedError('That database is not empty. Use an empty one.')
    await runTool('pg_restore', ['--exit-on-error', '--no-owner', file], { url, signal })
    const { createdAt, sha256: _digest, ...manifestContents } = manifest
    const contents = await readContents(pool)
    if (!isDeepStrictEqual(JSON.parse(JSON.stringify(contents)), manifestContents))
      throw new RefusedError('The restored ledger differs from the manifest. Do not use it; use another backup.')
    const revocation = flags.has('keep-keys') ? NONE_REVOKED : await revokeRestoredKeys(pool)
    const { revoked: keysRevoked, passkeys: passkeysRevoked, invitations: invitationsRevoked } = revocation
    await out.result(
      { restored: true, ...contents, keysRevoked, passkeysRevoked, invitationsRevoked },
      `Restored, and it matches the manifest: up to block ${contents.block?.number ?? '-'}.`,
    )
    out.say(`Stop every instance, point DATABASE_URL at it, and start. The service follows again what happened on chain since then.
Before the start, tell the ledger what it does not know:
Did you change the payments wallet since ${createdAt}? Enter it again first ("node-ledger wallets set"): otherwise the service sends buyers to the old one, and never sees payments to the new one. Then enter prices, terms, lists and the deny list again.
Did you refund anything since then? Run "node-ledger recheck --up-to head", which holds each payment without a node for you to
look at. When in doubt, run it.`)
    if (keysRevoked + passkeysRevoked > 0)
      out.say(
        `The ledger's ${keysRevoked} admin keys and ${passkeysRevoked} passkeys are now revoked, because some may have been revoked since the backup; those of ADMIN_KEY stay. Make new ones with "node-ledger admin-keys create" and "node-ledger admin-keys invite".`,
      )
    return EXIT.done
  } finally {
    await pool.end({ timeout: 5 })
  }
}

interface Revoked {
  revoked: number
  passkeys: number
  invitations: number
}
const NONE_REVOKED: Revoked = { revoked: 0, passkeys: 0, invitations: 0 }

/** Revokes all keys. Otherwise a key that was revoked after the backup would be valid again. @returns how many were valid. */
async function revokeRestoredKeys(pool: Pool): Promise<Revoked> {
  return (await revokeAllKeys({ pool }, actorHere(), { reason: 'restored from a backup' })) as Revoked
}

function readManifest(folder: string): Manifest {
  try {
    return JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')) as Manifest
  } catch {
    throw new RefusedError(`${folder} has no finished backup: it has no readable ${MANIFEST}.`)
  }
}
