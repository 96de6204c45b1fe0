// The command `node-ledger archive`: takes old rows that the books do not need out of the ledger, into a compressed file of JSON lines.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { syncDirectory, syncFile } from '../../lib/files.ts'
import { archive, countArchive, readBefore } from '../../operator/archive.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { RefusedError } from '../errors.ts'
import { accepted } from '../operator.ts'
import { mustAgree } from '../output.ts'
import { toFile } from './export.ts'

/** Runs the command. */
export async function archiveRows(call: Call): Promise<ExitCode> {
  const { io, out, values, signal } = call
  const path = values.out ?? ''
  if (existsSync(path)) throw new RefusedError(`${path} exists already, and is left as it is: name another file.`)
  return await withDatabase(io, async (deps) => {
    const before = accepted(readBefore(values.before ?? ''), call)
    const { payment_verdicts: verdicts, audit } = await countArchive(deps, before)
    if (verdicts + audit === 0) {
      await out.result({ rows: 0, file: null }, 'There is nothing to take out before that day.')
      return EXIT.done
    }
    const question = `Take ${verdicts} verdicts of passes on minted payments and ${audit} notes of passes out of the ledger, into ${path}?`
    await mustAgree(call, question)
    const done = await archive(deps, actorHere(), before, async (lines) => {
      const gzip = createGzip()
      // A fault of the database ends the file, and the file's fault the reading.
      const stream = Readable.from(lines)
        .on('error', (error) => gzip.destroy(error))
        .pipe(gzip)
      await toFile({ stream }, path, signal)
      // The file outlives the machine before its rows leave the ledger.
      await syncFile(path)
      syncDirectory(dirname(path))
    })
    await out.result({ ...done, file: path }, `${done.rows} rows are in ${path}. Keep it with the books.`)
    return EXIT.done
  })
}
