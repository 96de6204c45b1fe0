// The commands `referrals add`, which reads a list of codes, and `referrals file`, which writes the file from which a Safe pays the commissions that
// are due. Nothing here can send ether.

import { readFile } from 'node:fs/promises'
import { codeOf } from '../../lib/errors.ts'
import { registerReferrals } from '../../operator/acts/referrals/codes.ts'
import { toldOf } from '../../operator/define-act.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere } from '../database.ts'
import { UsageError } from '../errors.ts'
import { accepted, fieldsOf, type View } from '../operator.ts'
import { mustAgree } from '../output.ts'
import { MAKES_FILES } from './safe-file.ts'

export const VIEWS: Readonly<Record<string, View>> = {
  'referrals add': {
    options: { file: { help: 'the list, as CSV', value: 'path', required: true } },
    leavesOut: ['rows'],
    run: addCodes,
  },
  'referrals file': MAKES_FILES,
}

async function addCodes(call: Call): Promise<ExitCode> {
  const { file = '', ...values } = call.values
  return await withOperator(call.io, async (deps) => {
    const rows = await readText(file)
    await mustAgree(call, 'Register these codes?')
    const asked = { ...fieldsOf({ ...call, values }), rows }
    const done = accepted(await registerReferrals(deps, actorHere(), asked), call)
    await call.out.result(done, () => toldOf(registerReferrals.operation, done))
    return EXIT.done
  })
}

/** A file that was written by any spreadsheet. Bytes that are no text would be bad lines. */
async function readText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new UsageError(`--file: ${path} cannot be read (${codeOf(error)})`)
  })
  return new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8').decode(bytes)
}
