// The commands `referrals add`, which reads a list of codes and shows what it changes, and `referrals file`, which writes the file from which a Safe
// pays the commissions that are due. Nothing here can send ether.
import { readFile } from 'node:fs/promises'
import { codeOf } from '../../lib/errors.ts'
import { type RegisteredReferrals, registerReferrals } from '../../operator/acts/referrals/codes.ts'
import type { CommissionFile } from '../../operator/acts/referrals/commissions.ts'
import { resultLine } from '../../operator/define-act.ts'
import { withTimes } from '../../operator/input.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere } from '../database.ts'
import { UsageError } from '../errors.ts'
import { accepted, fieldsOf, type View } from '../operator.ts'
import { mustAgree, preview } from '../output.ts'
import { MAKES_FILES } from './safe-file.ts'

const FILE = { file: { help: 'the list, as CSV', value: 'path', required: true } }

export const VIEWS: Readonly<Record<string, View>> = {
  'referrals add': {
    options: FILE,
    leavesOut: ['rows'],
    run: addCodes,
  },
  'referrals file': { ...MAKES_FILES, isNothing: ({ commissions }: CommissionFile) => commissions.length === 0 },
}

async function addCodes(call: Call): Promise<ExitCode> {
  const isDry = call.flags.has('dry-run')
  return await withOperator(call.io, async (deps) => {
    const rows = await readText(call.values.file ?? '')
    const request = withTimes(registerReferrals.operation.fields, { ...fieldsOf(call, FILE), rows })
    const register = async (dryRun: boolean) =>
      accepted(await registerReferrals(deps, actorHere(), { ...request, dryRun }), call, { rows: '--file' })
    const changes = await register(true)
    if (isDry) return await call.out.result(changes, () => changesInWords(changes)).then(() => EXIT.done)
    preview(call, changesInWords(changes))
    if (changes.changed > 0) await mustAgree(call, 'Register these codes?')
    const result = await register(false)
    await call.out.result(result, () => resultLine(registerReferrals.operation, result))
    return EXIT.done
  })
}

const changesInWords = (changes: RegisteredReferrals) =>
  [...changes.first, ...moreOf(changes), resultLine(registerReferrals.operation, changes)].join('\n')

const moreOf = ({ codes, first }: RegisteredReferrals) =>
  codes > first.length ? [`… and ${codes - first.length} more`] : []

/** A file that was written by any spreadsheet. Bytes that are no text would be bad lines. */
async function readText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new UsageError(`--file: ${path} cannot be read (${codeOf(error)})`)
  })
  return new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8').decode(bytes)
}
