// The command `node-ledger export`: a table of the books as CSV, to stdout or to a file that is either complete or absent.
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { type ExportFile, exportLedger } from '../../operator/acts/books/exports.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { RefusedError, UsageError } from '../errors.ts'
import { accepted, fieldsOf, type View } from '../operator.ts'
import { written } from '../output.ts'

const OUT = { out: { value: 'file', help: 'write to this file; a failed export leaves none (default: stdout)' } }

export const VIEWS: Readonly<Record<string, View>> = { export: { options: OUT, run: exportRows } }

async function exportRows(call: Call): Promise<ExitCode> {
  const { io, out, values, signal } = call
  const { out: path } = values
  if (path === undefined && out.json)
    throw new UsageError('--json: an export is CSV. Write it to a file with --out; --json then describes that file')
  return await withOperator(io, async (deps) => {
    const file = accepted(await exportLedger(deps, fieldsOf(call, OUT)), call)
    if (path === undefined) for await (const part of file.stream) await written(io, part)
    else {
      await toFile(file, path, signal)
      await out.result({ file: path }, `Written to ${path}; its last line has the number of rows and the totals.`)
    }
    return EXIT.done
  })
}

/** Writes under another name until the file is complete, so that a file cut short by Ctrl-C or a fault cannot be booked. */
export async function toFile({ stream }: Pick<ExportFile, 'stream'>, path: string, signal: AbortSignal): Promise<void> {
  const partial = `${path}.partial`
  try {
    await pipeline(stream, createWriteStream(partial, { mode: 0o600 }), { signal })
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall === 'open' || syscall === 'write' || syscall === 'rename')
      throw new RefusedError(`${path} cannot be written (${code}).`)
    throw error
  }
}
