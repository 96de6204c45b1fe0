// The files with which a Safe pays, as commands write them. An act that makes such a file records whom it pays, so that later files leave them out.
// A command must therefore refuse to run it if the file would be lost. Nothing here can send ether.

import { existsSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { counted } from '../../domain/units.ts'
import { codeOf } from '../../lib/errors.ts'
import { toJson } from '../../lib/json.ts'
import type { SafeBatch } from '../../operator/acts/refunds/safe-batch.ts'
import { toFile } from '../books/export.ts'
import type { Call } from '../command.ts'
import { RefusedError, UsageError } from '../errors.ts'
import { inEther } from '../ether.ts'
import type { View } from '../operator.ts'

export const SAFE_FILE = { 'safe-file': { value: 'file', help: 'where to write the file; more files get a number' } }

/** How many files one act makes at most: one for each 200 of 500 payments. */
const FILES_MAX = 3

/** Refuses a command whose file would be lost, or would replace another that may still have to be sent. */
export async function mustReach({ values: { 'safe-file': path }, flags, out }: Call): Promise<void> {
  if (flags.has('dry-run') || (path === undefined && out.json)) return
  if (path === undefined)
    throw new UsageError(
      'Say where to write the file with --safe-file, or print it with --json: later files leave out what it pays.',
    )
  const taken = Array.from({ length: FILES_MAX }, (_, place) => numbered(path, place + 1)).find(existsSync)
  if (taken !== undefined)
    throw new RefusedError(`${taken} exists already, and is left as it is: name another file. Nothing was changed.`)
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    throw new RefusedError(`${path} cannot be written (${codeOf(error)}). Nothing was changed.`)
  })
}

/** Writes the files of an act's result to --safe-file, if that option is given. */
export async function writeFiles({ values: { 'safe-file': path }, signal, out }: Call, result: object): Promise<void> {
  if (path === undefined) return
  for (const [place, file] of filesOf(result).entries()) {
    const name = numbered(path, place + 1)
    await toFile({ stream: Readable.from([`${toJson(file)}\n`]) }, name, signal)
    const sum = file.transactions.reduce((wei, { value }) => wei + BigInt(value), 0n)
    out.say(`Written to ${name}: ${inEther(sum)} ETH in ${counted(file.transactions.length, 'transfer')}.`)
  }
}

/** The files in an act's result. */
export function filesOf(result: { safeBatch?: SafeBatch | null; safeBatches?: readonly SafeBatch[] }): SafeBatch[] {
  const { safeBatch = null, safeBatches = [] } = result
  return [...(safeBatch === null ? [] : [safeBatch]), ...safeBatches]
}

/** The name of the first file is the given one; the second is `name-2.json`. */
const numbered = (path: string, number: number) =>
  number === 1 ? path : path.replace(/(\.[^./\\]*)?$/, (extension) => `-${number}${extension}`)

/** The view of an act that makes files. */
export const MAKES_FILES: View = {
  options: SAFE_FILE,
  first: async (_parts, _input, call) => {
    await mustReach(call)
    return null
  },
  text: (_result, outcome) => outcome,
  last: writeFiles,
}
