// The commands `referrals add`, which reads a list of codes and shows what it changes, and `referrals file`, which writes the file from which a Safe
// pays the commissions that are due. Nothing here can send ether.
import { readFile } from 'node:fs/promises'
import { codeOf } from '../../lib/errors.ts'
import type { RegisteredReferrals } from '../../operator/acts/referrals/codes.ts'
import type { CommissionFile } from '../../operator/acts/referrals/commissions.ts'
import { UsageError } from '../errors.ts'
import { LINE, type View } from '../operator.ts'
import { MAKES_FILES } from './safe-file.ts'

const FILE = { file: { help: 'the list, as CSV', value: 'path', required: true, holds: 'rows' } }

export const VIEWS: Readonly<Record<string, View>> = {
  'referrals add': {
    ...LINE,
    options: FILE,
    leavesOut: ['rows'],
    first: async (_parts, _input, { values: { file = '' } }) => ({ rows: await readText(file) }),
    isNothing: ({ changed }: RegisteredReferrals) => changed === 0,
  },
  'referrals file': { ...MAKES_FILES, isNothing: ({ commissions }: CommissionFile) => commissions.length === 0 },
}

/** A file that was written by any spreadsheet. Bytes that are no text would be bad lines. */
async function readText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new UsageError(`--file: ${path} cannot be read (${codeOf(error)})`)
  })
  return new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8').decode(bytes)
}
