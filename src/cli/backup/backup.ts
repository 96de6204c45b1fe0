// The command `node-ledger backup`: a dump of the ledger, and a manifest of its contents at the same moment. It contains no keys or secrets.
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { inSnapshot } from '../../db/core/snapshot.ts'
import { PRIVATE_DIR_MODE, writeFileAtomic } from '../../lib/files.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { withDatabase } from '../database.ts'
import { RefusedError } from '../errors.ts'
import { DUMP, digestOf, MANIFEST, type Manifest, readContents, runTool } from './tools.ts'

/** Runs the command. It writes the manifest last, so a folder without a manifest is not a backup. */
export async function backup({ io, out, values, signal }: Call): Promise<ExitCode> {
  const folder = resolve(values.out ?? `ledger-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}`)
  if (existsSync(join(folder, MANIFEST)))
    throw new RefusedError(`${folder} already has a backup. Choose another folder.`)
  mkdirSync(folder, { recursive: true, mode: PRIVATE_DIR_MODE })
  const file = join(folder, DUMP)
  return await withDatabase(io, async ({ pool, database: { directUrl: url } }) => {
    try {
      const contents = await inSnapshot(pool, async (sql) => {
        const [row] = await sql<{ id: string }[]>`SELECT pg_export_snapshot() AS id`
        const args = ['--format=custom', `--file=${file}`, `--snapshot=${row?.id}`]
        const [read] = await Promise.all([readContents(sql), runTool('pg_dump', args, { url, signal })])
        return read
      })
      await runTool('pg_restore', ['--list', file], { url: null, signal })
      const manifest: Manifest = { createdAt: new Date().toISOString(), sha256: await digestOf(file), ...contents }
      writeFileAtomic(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
      await out.result({ folder, ...manifest }, folder)
      out.say(
        `The ledger up to block ${contents.block?.number ?? '-'}. It has no keys or secrets: keep copies of those elsewhere.`,
      )
      return EXIT.done
    } catch (error) {
      rmSync(file, { force: true })
      throw error
    }
  })
}
