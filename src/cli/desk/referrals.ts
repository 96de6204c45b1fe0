// The command `referrals file`: writes the file from which a Safe pays the commissions that are due. Nothing here can send ether.

import { fileCommissions } from '../../operator/acts/referrals/commissions.ts'
import { toldOf } from '../../operator/define-act.ts'
import { withOperator } from '../chain.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere } from '../database.ts'
import { accepted, fieldsOf, type View } from '../operator.ts'
import { writeSafeFile } from './payments.ts'

export const VIEWS: Readonly<Record<string, View>> = {
  'referrals file': {
    options: { 'safe-file': { value: 'file', help: 'where to write the file' } },
    run: writeCommissions,
  },
}

async function writeCommissions(call: Call): Promise<ExitCode> {
  const { 'safe-file': _, ...values } = call.values
  return await withOperator(call.io, async (deps) => {
    const batch = accepted(await fileCommissions(deps, actorHere(), fieldsOf({ ...call, values })), call)
    await call.out.result(batch, () => toldOf(fileCommissions.operation, batch))
    await writeSafeFile(call, batch)
    return EXIT.done
  })
}
